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
import os
import re
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
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
from numba.core.compiler_lock import global_compiler_lock
from numba.core.typeinfer import TypeInferer, register_dispatcher
from numba.extending import intrinsic, typeof_impl

from awello.folders import lock_path, user_cache, writable_cache

Function = TypeVar("Function", bound=Callable[..., Any])
Begin = Callable[[Any], object]

U = np.uint64
Words = npt.NDArray[np.uint64]
COMPILED = not config.DISABLE_JIT
LATE = "AWELLO_LATE_KERNELS"  # set while kernels are compiled in the background: see `LateKernel`
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


class CompileNotice:
    """The line on stderr that says that kernels are being compiled, and how many are left."""

    def __init__(self, total: int) -> None:
        self.done, self.total = 0, total

    def __call__(self, name: str) -> None:
        """Say that this kernel is about to be compiled."""
        self.done += 1
        if sys.stderr.isatty():
            line = f"compiling kernels, once on this machine: {max(0, self.total - len(CACHED))} left, now {name}"
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


def load_kernels(modules: Iterable[str] | None = None) -> None:
    """Compile or load the kernels of some modules; default: all."""
    for module in kernel_modules() if modules is None else modules:
        for value in list(vars(import_module(module)).values()):
            if isinstance(value, LateKernel):
                value.load()


notice = CompileNotice(sum(len(re.findall(r"^@kernel\(", source.read_text("utf-8"), re.M)) for source in SOURCES))


CACHED: set[str] = set()


def find_cached() -> set[str]:
    """The names of the kernels in the cache, those included that other processes have compiled meanwhile."""
    if COMPILED:
        CACHED.update(file.name.rpartition("-")[0] for file in FOLDER.rglob("*.nbi"))
    return CACHED


find_cached()


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
            except Exception:  # a damaged file of the cache can raise anything: make it again
                _forget(name)
        if os.environ.get(LATE):
            return LateKernel(function, partial(_compile_once, name, function, signature, inline))  # type: ignore[return-value]
        return _compile_once(name, function, signature, inline)

    return compile_now


def _forget(name: str) -> None:
    """Remove a kernel from the cache."""
    CACHED.discard(name)
    for file in FOLDER.rglob(f"{name}-*"):
        file.unlink(missing_ok=True)


def _compile_once(name: str, function: Function, signature: str, inline: bool, begin: Begin = id) -> Function:
    """Compile a kernel, unless another process does: then wait for it and load what it has compiled."""
    with ExitStack() as stack:
        with suppress(OSError):  # some network file systems have no locks
            stack.enter_context(lock_path(FOLDER / f"{function.__module__}.lock"))
        if missing := name not in find_cached():
            notice(name)
        compiled = _compile(function, signature, inline, begin)
    if missing:
        notice.clear()
    return compiled


class LateKernel:
    """A kernel that is not in the cache yet, in a process with `AWELLO_LATE_KERNELS`: it is loaded when it is needed.

    So a server can import everything while other processes compile.
    """

    def __init__(self, function: Callable[..., Any], compile: Callable[[Begin], Any]) -> None:
        self._function, self._compile, self._compiled = function, compile, None

    def __call__(self, *arguments: Any) -> Any:
        return self.load()(*arguments)

    def load(self) -> Any:
        """The compiled kernel; while it is being compiled, what a recursive call needs of it."""
        with global_compiler_lock:
            if self._compiled is None:
                for other in self._called():  # first, because whoever compiles one kernel must not wait for another
                    other.load()
                self._compiled = self._compile(self._keep)
            return self._compiled

    def _keep(self, dispatcher: Any) -> None:
        self._compiled = dispatcher

    def _called(self) -> Iterator["LateKernel"]:
        """The late kernels that this one may call, by their names or as `module.name`."""
        names, known = self._function.__code__.co_names, self._function.__globals__
        found = [known[name] for name in names if name in known]
        found += [getattr(module, name, None) for module in found if inspect.ismodule(module) for name in names]
        return (value for value in found if isinstance(value, LateKernel) and value is not self)


@typeof_impl.register(LateKernel)  # type: ignore[untyped-decorator]
def _type_of_late_kernel(value: LateKernel, context: Any) -> Any:
    """What Numba sees where another kernel calls it."""
    return typeof_impl(value.load(), context)


QUICKLY = {"no_cfunc_wrapper": True}  # no kernel is called by its address from C: a twentieth less to compile
_infer_return_type = TypeInferer.return_types_from_partial


def _declared_return_type(inference: Any) -> Any:
    """The type that a recursive call gives: the declared one.

    Numba infers it at every such call from the whole function: most of the time that a search took to compile.
    """
    returned = [inference.typevars[variable.name] for variable in inference._get_return_vars()]
    declared = {variable.type for variable in returned if variable.locked}
    return declared.pop() if len(declared) == 1 else _infer_return_type(inference)


TypeInferer.return_types_from_partial = _declared_return_type


def _compile(function: Function, signature: str, inline: bool, begin: Begin = id) -> Function:
    """What Numba's own decorator does, with our cache folder; `begin` is given the kernel before it is compiled."""
    elsewhere, config.CACHE_DIR = config.CACHE_DIR, str(FOLDER)
    try:
        settings = {"cache": True, "nogil": True, "error_model": "numpy", "forceinline": inline, **QUICKLY}
        made = numba.njit(**settings)(function)
        begin(made)
        with register_dispatcher(made):  # a function that calls itself finds itself
            made.compile(signature)
        made.disable_compile()
        return made  # type: ignore[no-any-return]
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
