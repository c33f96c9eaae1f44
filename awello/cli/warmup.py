"""`awello warmup`: compile every kernel now, so that nothing waits later."""

import time

from awello.cli.app import Json, app, print_json


@app.command()
def warmup(json: Json = False) -> None:
    """Compile all kernels for this machine; what is compiled already is left alone."""
    from importlib import import_module

    from awello.kernel import FOLDER, PACKAGE, SOURCES, notice

    begun = time.perf_counter()
    for source in SOURCES:
        parts = source.relative_to(PACKAGE.parent).with_suffix("").parts
        import_module(".".join(parts))
    notice.clear()
    seconds = time.perf_counter() - begun
    if json:
        print_json({"compiled": notice.done, "kernels": notice.total, "seconds": seconds, "cache": str(FOLDER)})
    else:
        print(f"{notice.done} of {notice.total} kernels compiled in {seconds:.1f} s, the others were; kept in {FOLDER}")
