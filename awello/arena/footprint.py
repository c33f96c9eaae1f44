"""How much memory a player's tables take, found without asking it.

Everything that can be reached from the player is added up: its attributes, what they hold, the attributes of its
classes, and the variables of the files that define them.  An array counts with all the memory it is a view of.  Not
counted are files mapped into memory, modules, classes and code, and what only compiled code knows the way to.
"""

import gc
import mmap
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

SHARED = (type, types.ModuleType, types.CodeType, types.FrameType, types.BuiltinFunctionType, mmap.mmap)
COMPILER = ("numba", "llvmlite")


def footprint(player: object) -> int:
    """The bytes that a player keeps."""
    seen: set[int] = set()
    waiting = [player, *_of_classes(type(player))]
    total = 0
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, SHARED) or type(thing).__module__.split(".")[0] in COMPILER:
            continue
        seen.add(id(thing))
        if isinstance(thing, np.ndarray):
            total += thing.nbytes if thing.base is None else 0
            waiting += _of_array(thing)
        elif isinstance(thing, types.FunctionType):
            waiting += _of_function(thing)
        else:
            total += sys.getsizeof(thing)
            waiting += gc.get_referents(thing)
    return total


def _of_classes(kind: type) -> Iterator[Any]:
    """The attributes of a player's classes, and the variables of the files that their functions stand in."""
    for one in kind.__mro__[:-1]:
        for value in vars(one).values():
            yield value
            function = getattr(value, "__func__", value)
            if isinstance(function, types.FunctionType):
                yield from (kept for name, kept in function.__globals__.items() if name != "__builtins__")


def _of_array(array: np.ndarray[Any, Any]) -> Iterator[Any]:
    """What an array is a view of, and the objects that it holds."""
    if array.base is not None:
        yield array.base
    elif array.dtype.hasobject:
        yield from array.ravel().tolist()


def _of_function(function: types.FunctionType) -> Iterator[Any]:
    """What a function keeps: the variables it encloses, its defaults and attributes."""
    yield from (function.__closure__, function.__defaults__, function.__kwdefaults__, function.__dict__)
