"""`awello warmup`: compile all kernels in advance."""

import time

from awello.cli.app import app
from awello.cli.options import Json
from awello.cli.output import print_result
from awello.kernel import CACHE_FOLDER, COMPILED, load_kernels, notice, prune_cache
from awello.kernel_compiler import KernelCompiler, kernels_are_missing


@app.command()
def warmup(json: Json = False) -> None:
    """Compile all missing kernels for this machine."""
    started = time.perf_counter()
    if kernels_are_missing():
        with KernelCompiler() as compilation:
            compilation.wait(show=True)
    load_kernels()  # also compiles kernels that the worker processes failed to compile
    seconds = time.perf_counter() - started
    done, total = notice.done, notice.total
    text = f"compiled {done} of {total} kernels in {seconds:.1f} s; all are saved in {CACHE_FOLDER}"
    if not COMPILED:
        text = "NUMBA_DISABLE_JIT is set: kernels run as plain Python"
    print_result({"compiled": done, "kernels": total, "seconds": seconds, "cache": str(CACHE_FOLDER)}, text, json)
    prune_cache()
