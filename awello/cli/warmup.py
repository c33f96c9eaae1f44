"""`awello warmup`: compile every kernel now, so that nothing waits later."""

import time

from awello.cli.app import Json, app, print_json
from awello.kernel import COMPILED, FOLDER, load_kernels, notice, prune


@app.command()
def warmup(json: Json = False) -> None:
    """Compile all kernels for this machine; what is compiled already is left alone."""
    begun = time.perf_counter()
    load_kernels()
    seconds = time.perf_counter() - begun
    if json:
        print_json({"compiled": notice.done, "kernels": notice.total, "seconds": seconds, "cache": str(FOLDER)})
    elif COMPILED:
        before = notice.total - notice.done
        print(f"{notice.done} kernels compiled, {before} were already, in {seconds:.1f} s; kept in {FOLDER}")
    else:
        print("NUMBA_DISABLE_JIT is set: kernels run as plain Python")
    prune()
