"""Addresses of arrays, and instructions that access memory by address.

Kernels usually read and write the named fields of layouts (see `layout`).  They use addresses only for tables whose
length is known only at run time, for prefetching, and for bytes that several threads change at the same time.

Compiled code does not check addresses.  Without compilation, an access outside the array raises `IndexError`.
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
_starts: list[int] = []  # sorted start addresses of the registered arrays; only used without compilation
_ends: dict[int, int] = {}


def address_of(array: npt.NDArray[Any]) -> int:
    """Return the address of an array, which must stay alive as long as the address is used."""
    start = int(array.ctypes.data)
    if not COMPILED:
        _register(array, start)
    return start


def allocate_bytes(count: int) -> npt.NDArray[np.uint8]:
    """Allocate zeroed bytes, aligned to a cache line."""
    buffer = np.zeros(count + CACHE_LINE, np.uint8)
    return buffer[-address_of(buffer) % CACHE_LINE :][:count]


def allocate_words(count: int) -> npt.NDArray[np.int64]:
    """Allocate zeroed 64-bit integers, aligned to a cache line."""
    return allocate_bytes(8 * count).view(np.int64)


def _register(array: npt.NDArray[Any], start: int) -> None:
    """Allow access to an array until its memory is freed."""
    if start not in _ends:
        owner = array
        while isinstance(owner.base, np.ndarray | np.void):  # a field of a layout is a view of the whole layout
            owner = owner.base
        insort(_starts, start)
        weakref.finalize(owner, _unregister, start).atexit = False
    _ends[start] = start + array.nbytes


def _unregister(start: int) -> None:
    _starts.remove(start)
    del _ends[start]


def check_address(address: int, offset: int, size: int) -> int:
    """Add an offset to an address in an array; without compilation, check that `size` bytes there lie in that array."""
    target = int(address) + int(offset)
    if not COMPILED:
        number = bisect_right(_starts, int(address)) - 1
        start = _starts[number] if number >= 0 else 0
        if not start <= target <= _ends.get(start, 0) - size:
            raise IndexError(f"the {size}-byte access at offset {offset} from {address:#x} lies outside the array")
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
    """Return byte `index` of the table at `address`."""
    return U(ctypes.c_uint8.from_address(check_address(address, int(index), 1)).value)


@instruction("none(int64)", _emit_prefetch)
def prefetch(address: int) -> None:
    """Prefetch a cache line."""


@instruction("boolean(int64, int64, int64)", _emit_swap8)
def compare_and_swap8(address: int, old: int, new: int) -> bool:
    """Atomically replace a byte if it equals `old`; return whether it was replaced."""
    byte = ctypes.c_uint8.from_address(check_address(address, 0, 1))
    swapped = byte.value == old
    byte.value = int(new) if swapped else byte.value
    return swapped


@instruction("int64(int64, int64)", _emit_subtract8)
def fetch_and_subtract8(address: int, amount: int) -> int:
    """Atomically subtract `amount` from a byte; return the previous value of the byte."""
    byte = ctypes.c_uint8.from_address(check_address(address, 0, 1))
    before = byte.value
    byte.value = (before - int(amount)) & 255
    return before
