"""The one decorator: plain functions become machine code.

A *kernel* is a function compiled by Numba for one signature; an *instruction* is a function whose body is
replaced by machine code written with LLVM's builder.  Both remain plain Python: with `NUMBA_DISABLE_JIT=1`
every body runs as it stands, on `np.uint64`, which is how tests compare the two and how a reader steps
through a search in a debugger.

Numba's disk cache does not notice a change in a function of *another* file.  So kernels are cached in a
folder named after a hash of all kernel sources and of the versions of everything that compiles them.
"""

import hashlib
import inspect
import re
import shutil
import sys
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import llvmlite
import llvmlite.binding
import numba
import numpy as np
import numpy.typing as npt
from numba import config
from numba.core import sigutils
from numba.extending import intrinsic

from awello.folders import user_cache, writable_cache

Function = TypeVar("Function", bound=Callable[..., Any])

U = np.uint64
Words = npt.NDArray[np.uint64]
COMPILED = not config.DISABLE_JIT
PACKAGE = Path(__file__).parent
CPU = frozenset(name for name, present in llvmlite.binding.get_host_cpu_features().items() if present)

if not COMPILED:
    warnings.filterwarnings("ignore", "overflow encountered")  # words wrap round, as they do in the machine


def kernel_sources() -> list[Path]:
    """The files that hold kernels, instructions or layouts, and this one, which compiles them."""
    files = sorted(PACKAGE.rglob("*.py"))
    marked = re.compile(r"^@(kernel|instruction)\(|^from awello\.layout import|^class Layout:", re.M)
    return [file for file in files if file == Path(__file__) or marked.search(file.read_text("utf-8"))]


def _cache_folder(sources: list[Path]) -> Path:
    """The folder of the kernels as they are now and where they are now (Numba asks for both)."""
    digest = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__} {sys.version} {PACKAGE}".encode())
    for source in sources:
        digest.update(source.read_bytes())
    return writable_cache(user_cache(), f"kernels-{digest.hexdigest()[:16]}")


def prune(days: int = 60) -> None:
    """Remove folders of kernels that were compiled long ago and are not these."""
    for folder in user_cache().glob("kernels-*"):
        if folder != FOLDER and time.time() - folder.stat().st_mtime > 86_400 * days:
            shutil.rmtree(folder, ignore_errors=True)


class Notice:
    """The line on stderr that says that kernels are being compiled, and how far it is."""

    def __init__(self, total: int) -> None:
        self.done, self.total = 0, total

    def __call__(self, name: str) -> None:
        """Say that this kernel is about to be compiled."""
        self.done += 1
        if sys.stderr.isatty():
            line = f"compiling kernels, once on this machine: {self.done}/{self.total} {name}"
            sys.stderr.write(f"\r{line:<78}")
        elif self.done == 1:
            sys.stderr.write("awello: compiling kernels, once on this machine\n")
        sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away, so that nothing is written behind it."""
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{'':<78}\r")
            sys.stderr.flush()


SOURCES = kernel_sources()
FOLDER = _cache_folder(SOURCES) if COMPILED else Path()


def kernel_modules() -> list[str]:
    """The modules that hold kernels, by name."""
    return [".".join(source.relative_to(PACKAGE.parent).with_suffix("").parts) for source in SOURCES]


def load_kernels() -> None:
    """Compile or load all kernels."""
    for module in kernel_modules():
        import_module(module)


notice = Notice(sum(len(re.findall(r"^@kernel\(", source.read_text("utf-8"), re.M)) for source in SOURCES))


CACHED = {file.name.rpartition("-")[0] for file in FOLDER.rglob("*.nbi")} if COMPILED else set()


def kernel(signature: str, inline: bool = False) -> Callable[[Function], Function]:
    """Compile a function for exactly this signature: cached on disk, free of the GIL, without Python's checks.

    `inline` puts its code into every caller, for what is called at each leaf: Numba's calls return through memory.
    """

    def compile_now(function: Function) -> Function:
        if not COMPILED:
            return function
        name = f"{Path(function.__code__.co_filename).stem}.{function.__qualname__}"
        if name in CACHED:
            try:
                return _compile(function, signature, inline)
            except Exception:  # a damaged file of the cache can raise anything: start it afresh
                shutil.rmtree(FOLDER, ignore_errors=True)
                CACHED.clear()
        notice(name)
        compiled = _compile(function, signature, inline)
        notice.clear()
        return compiled

    return compile_now


def _compile(function: Function, signature: str, inline: bool) -> Function:
    """Numba's own decorator, with our cache folder."""
    elsewhere, config.CACHE_DIR = config.CACHE_DIR, str(FOLDER)
    try:
        settings = {"cache": True, "nogil": True, "error_model": "numpy", "forceinline": inline}
        return numba.njit(signature, **settings)(function)  # type: ignore[no-any-return]
    except OSError as error:
        advice = "free some space, or set AWELLO_CACHE to another folder"
        raise OSError(error.errno, f"{error.strerror}: {advice}", str(FOLDER)) from None
    finally:
        config.CACHE_DIR = elsewhere


def instruction(signature: str, emit: Callable[..., Any]) -> Callable[[Function], Function]:
    """Replace a function's body by the machine code that `emit(builder, *arguments)` writes.

    The body says in plain Python what the machine code does; it runs when nothing is compiled.
    """
    arguments, result = sigutils.normalize_signature(signature)

    def replace(twin: Function) -> Function:
        if not COMPILED:
            return twin

        def define(typing: Any, *_: Any) -> Any:
            return result(*arguments), lambda context, builder, signature, values: emit(builder, *values)

        place = inspect.Parameter("typing", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        names = inspect.signature(twin).parameters.values()
        define.__signature__ = inspect.Signature([place, *names])  # type: ignore[attr-defined]
        define.__name__, define.__doc__ = twin.__name__, twin.__doc__
        made = intrinsic(define)
        made.twin = twin
        return made  # type: ignore[no-any-return]

    return replace
