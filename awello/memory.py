"""Addresses of arrays, and instructions for memory that no record describes.

Kernels read and write the fields of records (see `layout`).  An address serves where a record cannot: for tables whose
length is known only at run time, for prefetching, and for bytes that several threads change at once.

The processor does not check addresses.  Without compilation the Python bodies do: an access outside the array whose
address was taken raises `IndexError`.
"""

import ctypes
import weakref
from bisect import bisect_right, insort
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from llvmlite.ir import IRBuilder as Builder

from awello.kernel import COMPILED, U, instruction

I8, I16, I32, I64 = ir.IntType(8), ir.IntType(16), ir.IntType(32), ir.IntType(64)
CACHE_LINE = 64  # bytes
VOID_RESULT = ir.Constant(I8.as_pointer(), None)


# ---- addresses ------------------------------------------------------------------------------------------------------
_starts: list[int] = []  # of the arrays whose addresses are in use, in order; only where nothing is compiled
_ends: dict[int, int] = {}


def address_of(array: npt.NDArray[Any]) -> int:
    """The address of an array, which must be kept alive as long as the address is used."""
    start = int(array.ctypes.data)
    if not COMPILED:
        _register(array, start)
    return start


def allocate_bytes(count: int) -> npt.NDArray[np.uint8]:
    """So many bytes, all zero, that begin with a cache line."""
    buffer = np.zeros(count + CACHE_LINE, np.uint8)
    return buffer[-address_of(buffer) % CACHE_LINE :][:count]


def allocate_words(count: int) -> npt.NDArray[np.int64]:
    """So many words, all zero, that begin with a cache line."""
    return allocate_bytes(8 * count).view(np.int64)


def _register(array: npt.NDArray[Any], start: int) -> None:
    """Allow access to an array as long as its memory lives."""
    if start not in _ends:
        owner = array
        while isinstance(owner.base, np.ndarray | np.void):  # a field of a record belongs to the record's array
            owner = owner.base
        insort(_starts, start)
        weakref.finalize(owner, _unregister, start).atexit = False
    _ends[start] = start + array.nbytes


def _unregister(start: int) -> None:
    _starts.remove(start)
    del _ends[start]


def check_address(address: int, offset: int, size: int) -> int:
    """The address of so many bytes behind another address, for twins; `IndexError` if they leave its array."""
    target = int(address) + int(offset)
    if not COMPILED:
        number = bisect_right(_starts, int(address)) - 1
        start = _starts[number] if number >= 0 else 0
        if not start <= target <= _ends.get(start, 0) - size:
            raise IndexError(f"{size} bytes at {offset} bytes from {address:#x} lie outside the array there")
    return target


# ---- machine code ---------------------------------------------------------------------------------------------------


def _emit_pointer(b: Builder, type: Any, address: Any, index: Any) -> Any:
    return b.gep(b.inttoptr(address, type.as_pointer()), [index])


def _emit_prefetch(b: Builder, address: Any) -> Any:
    pointer = I8.as_pointer()
    kind = ir.FunctionType(ir.VoidType(), (pointer, I32, I32, I32))
    function = b.module.declare_intrinsic("llvm.prefetch", (pointer,), kind)
    b.call(function, (b.inttoptr(address, pointer), I32(1), I32(3), I32(1)))
    return VOID_RESULT


def _emit_swap8(b: Builder, address: Any, old: Any, new: Any) -> Any:
    pointer = b.inttoptr(address, I8.as_pointer())
    swapped = b.cmpxchg(pointer, b.trunc(old, I8), b.trunc(new, I8), "monotonic", "monotonic")
    return b.extract_value(swapped, 1)


def _emit_subtract8(b: Builder, address: Any, amount: Any) -> Any:
    pointer = b.inttoptr(address, I8.as_pointer())
    return b.zext(b.atomic_rmw("sub", pointer, b.trunc(amount, I8), "monotonic"), I64)


# ---- instructions ---------------------------------------------------------------------------------------------------
@instruction("uint64(int64, uint64)", lambda b, *arguments: b.zext(b.load(_emit_pointer(b, I8, *arguments)), I64))
def load8(address: int, index: U) -> U:
    """The byte at a place of a table."""
    return U(ctypes.c_uint8.from_address(check_address(address, int(index), 1)).value)


@instruction("none(int64)", _emit_prefetch)
def prefetch(address: int) -> None:
    """Ask for a place ahead of its use."""


@instruction("boolean(int64, int64, int64)", _emit_swap8)
def compare_and_swap8(address: int, old: int, new: int) -> bool:
    """Replace a byte that other threads write too, if it still holds `old`; whether it did."""
    byte = ctypes.c_uint8.from_address(check_address(address, 0, 1))
    swapped = byte.value == old
    byte.value = int(new) if swapped else byte.value
    return swapped


@instruction("int64(int64, int64)", _emit_subtract8)
def fetch_and_subtract8(address: int, amount: int) -> int:
    """Subtract from a byte that other threads write too; what it held before."""
    byte = ctypes.c_uint8.from_address(check_address(address, 0, 1))
    before = byte.value
    byte.value = (before - int(amount)) & 255
    return before
