"""`awello warmup`: compile every kernel now, so that nothing waits later."""

import time

from awello.cli.app import Json, app, print_result
from awello.kernel import CACHE_FOLDER, COMPILED, load_kernels, notice, prune_cache
from awello.kernel_compiler import KernelCompiler, kernels_are_missing


@app.command()
def warmup(json: Json = False) -> None:
    """Compile all kernels for this machine, on all its processors; what is compiled already is left alone."""
    begun = time.perf_counter()
    if kernels_are_missing():
        with KernelCompiler() as compilation:
            compilation.wait(show=True)
    load_kernels()  # which compiles what no worker could
    seconds = time.perf_counter() - begun
    done, total = notice.done, notice.total
    text = f"{done} kernels compiled, {total - done} were already, in {seconds:.1f} s; kept in {CACHE_FOLDER}"
    if not COMPILED:
        text = "NUMBA_DISABLE_JIT is set: kernels run as plain Python"
    print_result({"compiled": done, "kernels": total, "seconds": seconds, "cache": str(CACHE_FOLDER)}, text, json)
    prune_cache()
