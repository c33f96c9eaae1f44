"""Memory behind an address: what a recursion needs besides numbers, passed down as one machine word.

An array argument is seven machine words and a reference count at every call.  So counters, settings and rows
of moves lie in one block of 64-bit words, and a kernel reads and writes it by these instructions.

The machine does not check an address.  Where nothing is compiled, the twins do: an access outside the array whose
address was asked for raises `IndexError`.
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
NOTHING = ir.Constant(I8.as_pointer(), None)


# ---- addresses ------------------------------------------------------------------------------------------------------
_starts: list[int] = []  # of the arrays whose addresses are in use, in order; only where nothing is compiled
_ends: dict[int, int] = {}


def address_of(array: npt.NDArray[Any]) -> int:
    """The address of an array, which must be kept alive as long as the address is used."""
    start = int(array.ctypes.data)
    if not COMPILED:
        _register(array, start)
    return start


def aligned_words(count: int) -> npt.NDArray[np.int64]:
    """So many words, all zero, that begin where a cache line does."""
    room = np.zeros(count + 8, np.int64)
    return room[-address_of(room) % 64 // 8 :][:count]


def _register(array: npt.NDArray[Any], start: int) -> None:
    """Allow access to an array as long as its memory lives."""
    if start not in _ends:
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        insort(_starts, start)
        weakref.finalize(owner, _unregister, start).atexit = False
    _ends[start] = start + array.nbytes


def _unregister(start: int) -> None:
    _starts.remove(start)
    del _ends[start]


def locate(address: int, offset: int, size: int) -> int:
    """The address of so many bytes behind another address, for twins; `IndexError` if they leave its array."""
    place = int(address) + int(offset)
    if not COMPILED:
        number = bisect_right(_starts, int(address)) - 1
        start = _starts[number] if number >= 0 else 0
        if not start <= place <= _ends.get(start, 0) - size:
            raise IndexError(f"{size} bytes at {offset} bytes from {address:#x} lie outside the array there")
    return place


def numbers_at(address: int, count: int) -> npt.NDArray[np.int16]:
    """The 16-bit numbers behind an address as an array, for twins."""
    return np.ctypeslib.as_array((ctypes.c_int16 * count).from_address(locate(address, 0, 2 * count)))


# ---- machine code ---------------------------------------------------------------------------------------------------


def _place(b: Builder, kind: Any, address: Any, index: Any) -> Any:
    return b.gep(b.inttoptr(address, kind.as_pointer()), [index])


def _emit_store(b: Builder, address: Any, index: Any, value: Any) -> Any:
    b.store(value, _place(b, I64, address, index))
    return NOTHING


def _emit_set_bits(b: Builder, address: Any, index: Any, bits: Any) -> Any:
    b.atomic_rmw("or", _place(b, I64, address, index), bits, "seq_cst")
    return NOTHING


def _emit_clear_bits(b: Builder, address: Any, index: Any, bits: Any) -> Any:
    b.atomic_rmw("and", _place(b, I64, address, index), b.not_(bits), "seq_cst")
    return NOTHING


def _emit_prefetch(b: Builder, address: Any) -> Any:
    pointer = I8.as_pointer()
    kind = ir.FunctionType(ir.VoidType(), (pointer, I32, I32, I32))
    function = b.module.declare_intrinsic("llvm.prefetch", (pointer,), kind)
    b.call(function, (b.inttoptr(address, pointer), I32(1), I32(3), I32(1)))
    return NOTHING


def _emit_swap8(b: Builder, address: Any, old: Any, new: Any) -> Any:
    place = b.inttoptr(address, I8.as_pointer())
    swapped = b.cmpxchg(place, b.trunc(old, I8), b.trunc(new, I8), "monotonic", "monotonic")
    return b.extract_value(swapped, 1)


def _emit_subtract8(b: Builder, address: Any, amount: Any) -> Any:
    place = b.inttoptr(address, I8.as_pointer())
    return b.zext(b.atomic_rmw("sub", place, b.trunc(amount, I8), "monotonic"), I64)


# ---- instructions ---------------------------------------------------------------------------------------------------
@instruction("int64(int64, int64)", lambda b, *place: b.load(_place(b, I64, *place)))
def load(address: int, index: int) -> int:
    """The 64-bit number at a place of a block."""
    return ctypes.c_int64.from_address(locate(address, 8 * int(index), 8)).value


@instruction("uint64(int64, int64)", lambda b, *place: b.load(_place(b, I64, *place)))
def load_word(address: int, index: int) -> U:
    """The word at a place of a block."""
    return U(ctypes.c_uint64.from_address(locate(address, 8 * int(index), 8)).value)


@instruction("int64(int64, int64)", lambda b, *place: b.sext(b.load(_place(b, I32, *place)), I64))
def load32(address: int, index: int) -> int:
    """The 32-bit number at a place of a table."""
    return ctypes.c_int32.from_address(locate(address, 4 * int(index), 4)).value


@instruction("int64(int64, int64)", lambda b, *place: b.sext(b.load(_place(b, I16, *place)), I64))
def load16(address: int, index: int) -> int:
    """The 16-bit number at a place of a table."""
    return ctypes.c_int16.from_address(locate(address, 2 * int(index), 2)).value


@instruction("none(int64, int64, int64)", _emit_store)
def store(address: int, index: int, value: int) -> None:
    """Write a 64-bit number to a place of a block."""
    ctypes.c_int64.from_address(locate(address, 8 * int(index), 8)).value = int(np.int64(value))


@instruction("uint64(int64, uint64)", lambda b, *place: b.zext(b.load(_place(b, I8, *place)), I64))
def load8(address: int, index: U) -> U:
    """The byte at a place of a table."""
    return U(ctypes.c_uint8.from_address(locate(address, int(index), 1)).value)


@instruction("none(int64, int64, uint64)", _emit_set_bits)
def set_bits(address: int, index: int, bits: U) -> None:
    """Set bits at a place that other threads write too."""
    ctypes.c_uint64.from_address(locate(address, 8 * int(index), 8)).value |= int(bits)


@instruction("none(int64, int64, uint64)", _emit_clear_bits)
def clear_bits(address: int, index: int, bits: U) -> None:
    """Clear bits at a place that other threads write too."""
    ctypes.c_uint64.from_address(locate(address, 8 * int(index), 8)).value &= ~int(bits)


@instruction("none(int64)", _emit_prefetch)
def prefetch(address: int) -> None:
    """Ask for a place ahead of its use."""


@instruction("boolean(int64, int64, int64)", _emit_swap8)
def swap8(address: int, old: int, new: int) -> bool:
    """Replace a byte that other threads write too, if it still holds `old`; whether it did."""
    byte = ctypes.c_uint8.from_address(locate(address, 0, 1))
    held = byte.value == old
    byte.value = int(new) if held else byte.value
    return held


@instruction("int64(int64, int64)", _emit_subtract8)
def subtract8(address: int, amount: int) -> int:
    """Subtract from a byte that other threads write too; what it held before."""
    byte = ctypes.c_uint8.from_address(locate(address, 0, 1))
    before = byte.value
    byte.value = (before - int(amount)) & 255
    return before
