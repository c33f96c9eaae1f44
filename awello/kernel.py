"""Compile Python functions to machine code with Numba.

A *kernel* is a function compiled by Numba for one signature.  An *instruction* is a function whose body is replaced
by LLVM code, which a Python function emits.  Kernels and instructions can also run as plain Python: with
`NUMBA_DISABLE_JIT=1`, their Python bodies run, on numbers of type `np.uint64`.  Tests can thus compare the results of
the Python bodies with those of the compiled code, and you can step through a search in a debugger.

Numba's disk cache does not detect changes in functions that a kernel imports from *other* files.  Kernels are therefore
cached in a folder named after a hash of all kernel sources and of the versions of Python, Numba and llvmlite.
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

from awello.folders import lock_path, user_cache_folder, writable_cache_folder

Function = TypeVar("Function", bound=Callable[..., Any])
OnDispatcher = Callable[[Any], object]

U = np.uint64
Words = npt.NDArray[np.uint64]
Int16Array = npt.NDArray[np.int16]
Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
Float32Array = npt.NDArray[np.float32]
FloatArray = npt.NDArray[np.floating]  # of any precision
COMPILED = not config.DISABLE_JIT
LAZY_VARIABLE = "AWELLO_LAZY_KERNELS"  # set while kernels are compiled in the background: see `LazyKernel`
PACKAGE = Path(__file__).parent
CPU_FEATURES = frozenset(name for name, present in llvmlite.binding.get_host_cpu_features().items() if present)

if not COMPILED:
    warnings.filterwarnings("ignore", "overflow encountered")  # 64-bit arithmetic wraps around, as in compiled code


def find_kernel_sources() -> list[Path]:
    """List the files that contain kernels, instructions or layouts, and this file, which compiles them."""
    files = sorted(PACKAGE.rglob("*.py"))
    pattern = re.compile(r"^@(kernel|instruction)\(|^from awello\.layout import|^class Layout:", re.M)
    return [file for file in files if file == Path(__file__) or pattern.search(file.read_text("utf-8"))]


def _cache_folder(sources: list[Path]) -> Path:
    """Return the cache folder for these sources and the current versions of Python, Numba and llvmlite.

    The folder also depends on the path of the package, as Numba's cache requires.
    """
    digest = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__} {sys.version} {PACKAGE}".encode())
    for source in sources:
        digest.update(source.read_bytes())
    return writable_cache_folder(user_cache_folder(), f"kernels-{digest.hexdigest()[:16]}")


def prune_cache(days: int = 60) -> None:
    """Remove the cache folders of other versions if they have not been modified for more than `days` days."""
    for folder in user_cache_folder().glob("kernels-*"):
        if folder != CACHE_FOLDER and time.time() - folder.stat().st_mtime > 86_400 * days:
            shutil.rmtree(folder, ignore_errors=True)


class CompileNotice:
    """The progress line on stderr during compilation."""

    def __init__(self, total: int) -> None:
        self.done, self.total = 0, total

    def __call__(self, name: str) -> None:
        """Report that the kernel `name` is about to be compiled."""
        self.done += 1
        if sys.stderr.isatty():
            line = f"compiling kernels (first run only): {max(0, self.total - len(CACHED_KERNELS))} left, now {name}"
            sys.stderr.write(f"\r{line:<78}")
        elif self.done == 1:
            sys.stderr.write("awello: compiling kernels (first run only)\n")
        sys.stderr.flush()

    def clear(self) -> None:
        """Erase the progress line before other output is printed."""
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{'':<78}\r")
            sys.stderr.flush()


KERNEL_SOURCES = find_kernel_sources()
CACHE_FOLDER = _cache_folder(KERNEL_SOURCES) if COMPILED else Path()


def list_kernel_modules() -> list[str]:
    """Return the names of the modules that contain kernels, instructions or layouts."""
    return [".".join(source.relative_to(PACKAGE.parent).with_suffix("").parts) for source in KERNEL_SOURCES]


def load_kernels(modules: Iterable[str] | None = None) -> None:
    """Compile or load the kernels of some modules (default: all)."""
    for module in list_kernel_modules() if modules is None else modules:
        for value in list(vars(import_module(module)).values()):
            if isinstance(value, LazyKernel):
                value.load()


notice = CompileNotice(
    sum(len(re.findall(r"^@kernel\(", source.read_text("utf-8"), re.M)) for source in KERNEL_SOURCES)
)


CACHED_KERNELS: set[str] = set()


def find_cached_kernels() -> set[str]:
    """Return the names of the kernels in the cache, including those compiled by other processes since the last call."""
    if COMPILED:
        CACHED_KERNELS.update(file.name.rpartition("-")[0] for file in CACHE_FOLDER.rglob("*.nbi"))
    return CACHED_KERNELS


find_cached_kernels()


def kernel(signature: str, inline: bool = False) -> Callable[[Function], Function]:
    """Compile a function for this signature.  The code is cached on disk; it runs without the GIL or error checks.

    With `inline`, the code is copied into every caller.  Use `inline` for functions that are called at every leaf:
    functions that are not inlined return their results through memory.
    """

    def compile_now(function: Function) -> Function:
        if not COMPILED:
            return function
        name = f"{Path(function.__code__.co_filename).stem}.{function.__qualname__}"
        if name in CACHED_KERNELS:
            try:
                return _compile(function, signature, inline)
            except Exception:  # loading a damaged cache file can raise any exception: compile again
                _remove_from_cache(name)
        if os.environ.get(LAZY_VARIABLE):
            return LazyKernel(function, partial(_compile_once, name, function, signature, inline))  # type: ignore[return-value]
        return _compile_once(name, function, signature, inline)

    return compile_now


def _remove_from_cache(name: str) -> None:
    """Remove a kernel from the cache."""
    CACHED_KERNELS.discard(name)
    for file in CACHE_FOLDER.rglob(f"{name}-*"):
        file.unlink(missing_ok=True)


def _compile_once(
    name: str, function: Function, signature: str, inline: bool, on_dispatcher: OnDispatcher = id
) -> Function:
    """Compile a kernel; if another process is compiling it, wait and load the result."""
    with ExitStack() as stack:
        with suppress(OSError):  # some network file systems have no locks
            stack.enter_context(lock_path(CACHE_FOLDER / f"{function.__module__}.lock"))
        if is_missing := name not in find_cached_kernels():
            notice(name)
        compiled = _compile(function, signature, inline, on_dispatcher)
    if is_missing:
        notice.clear()
    return compiled


class LazyKernel:
    """A kernel that is loaded on its first call; used if `AWELLO_LAZY_KERNELS` is set and the kernel is not cached yet.

    Lazy kernels allow a server to import all modules while other processes compile the kernels of these modules.
    """

    def __init__(self, function: Callable[..., Any], compile: Callable[[OnDispatcher], Any]) -> None:
        self._function, self._compile, self._compiled = function, compile, None

    def __call__(self, *arguments: Any) -> Any:
        return self.load()(*arguments)

    def load(self) -> Any:
        """Return the kernel; compile it if necessary.

        A nested call from the compilation itself returns the unfinished dispatcher.
        """
        with global_compiler_lock:
            if self._compiled is None:
                # Load the called kernels first: compiling them may need the file lock that this compilation will hold.
                for other in self._find_called():
                    other.load()
                self._compiled = self._compile(self._set_compiled)
            return self._compiled

    def _set_compiled(self, dispatcher: Any) -> None:
        self._compiled = dispatcher

    def _find_called(self) -> Iterator["LazyKernel"]:
        """Find the other lazy kernels that this kernel may call as `name` or `module.name`."""
        names, scope = self._function.__code__.co_names, self._function.__globals__
        found = [scope[name] for name in names if name in scope]
        found += [getattr(module, name, None) for module in found if inspect.ismodule(module) for name in names]
        return (value for value in found if isinstance(value, LazyKernel) and value is not self)


@typeof_impl.register(LazyKernel)  # type: ignore[untyped-decorator]
def _lazy_kernel_type(value: LazyKernel, context: Any) -> Any:
    """Return the Numba type of a lazy kernel, so that other kernels can call it."""
    return typeof_impl(value.load(), context)


FAST_COMPILE_FLAGS = {"no_cfunc_wrapper": True}  # without the wrapper for calls from C, compilation is 5 % faster
_infer_return_type = TypeInferer.return_types_from_partial


def _declared_return_type(inference: Any) -> Any:
    """Return the declared result type of a function that calls itself.

    Otherwise, Numba would infer this type from the whole function at each recursive call, which would take most of the
    compile time of a search.
    """
    returned = [inference.typevars[variable.name] for variable in inference._get_return_vars()]
    declared = {variable.type for variable in returned if variable.locked}
    return declared.pop() if len(declared) == 1 else _infer_return_type(inference)


TypeInferer.return_types_from_partial = _declared_return_type


def _compile(function: Function, signature: str, inline: bool, on_dispatcher: OnDispatcher = id) -> Function:
    """Compile like `numba.njit`, but cache in `CACHE_FOLDER`; `on_dispatcher` receives the uncompiled dispatcher."""
    previous_folder, config.CACHE_DIR = config.CACHE_DIR, str(CACHE_FOLDER)
    try:
        settings = {"cache": True, "nogil": True, "error_model": "numpy", "forceinline": inline, **FAST_COMPILE_FLAGS}
        dispatcher = numba.njit(**settings)(function)
        on_dispatcher(dispatcher)
        with register_dispatcher(dispatcher):  # for recursive calls
            dispatcher.compile(signature)
        dispatcher.disable_compile()
        return dispatcher  # type: ignore[no-any-return]
    except OSError as error:
        advice = "free some space, or set AWELLO_CACHE to another folder"
        raise OSError(error.errno, f"{error.strerror}: {advice}", str(CACHE_FOLDER)) from None
    finally:
        config.CACHE_DIR = previous_folder


def instruction(signature: str, emit: Callable[..., Any]) -> Callable[[Function], Function]:
    """Replace a function's body with the LLVM code that `emit(builder, *arguments)` generates.

    The Python body must be equivalent: it runs when compilation is disabled, and tests call it as `py_func`.
    """
    arguments, result = sigutils.normalize_signature(signature)

    def replace(python_function: Function) -> Function:
        if not COMPILED:
            return python_function

        def define(typing: Any, *_: Any) -> Any:
            return result(*arguments), lambda context, builder, signature, values: emit(builder, *values)

        first = inspect.Parameter("typing", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        names = inspect.signature(python_function).parameters.values()
        define.__signature__ = inspect.Signature([first, *names])  # type: ignore[attr-defined]
        define.__name__, define.__doc__ = python_function.__name__, python_function.__doc__
        dispatcher = intrinsic(define)
        dispatcher.py_func = python_function
        return dispatcher  # type: ignore[no-any-return]

    return replace
