"""Memory behind an address: what a recursion needs besides numbers, passed down as one machine word.

An array argument is seven machine words and a reference count at every call.  So counters, settings and rows
of moves lie in one block of 64-bit words, and a kernel reads and writes it by these instructions.
"""

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from llvmlite.ir import IRBuilder as Builder

from awello.kernel import U, instruction

I8, I32, I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
NOTHING = ir.Constant(I8.as_pointer(), None)


def address_of(array: npt.NDArray[Any]) -> int:
    """The address of an array, which must be kept alive as long as the address is used."""
    return int(array.ctypes.data)


def _place(b: Builder, kind: Any, address: Any, index: Any) -> Any:
    return b.gep(b.inttoptr(address, kind.as_pointer()), [index])


def _emit_load(b: Builder, address: Any, index: Any) -> Any:
    return b.load(_place(b, I64, address, index))


def _emit_load32(b: Builder, address: Any, index: Any) -> Any:
    return b.sext(b.load(_place(b, I32, address, index)), I64)


def _emit_store(b: Builder, address: Any, index: Any, value: Any) -> Any:
    b.store(value, _place(b, I64, address, index))
    return NOTHING


def _emit_load8(b: Builder, address: Any, index: Any) -> Any:
    return b.zext(b.load(_place(b, I8, address, index)), I64)


def _emit_set_bits(b: Builder, address: Any, index: Any, bits: Any) -> Any:
    b.atomic_rmw("or", _place(b, I64, address, index), bits, "seq_cst")
    return NOTHING


def _emit_clear_bits(b: Builder, address: Any, index: Any, bits: Any) -> Any:
    b.atomic_rmw("and", _place(b, I64, address, index), b.not_(bits), "seq_cst")
    return NOTHING


@instruction("int64(int64, int64)", _emit_load)
def load(address: int, index: int) -> int:
    """The 64-bit number at a place of a block."""
    return ctypes.c_int64.from_address(int(address) + 8 * int(index)).value


@instruction("uint64(int64, int64)", _emit_load)
def load_word(address: int, index: int) -> U:
    """The word at a place of a block."""
    return U(ctypes.c_uint64.from_address(int(address) + 8 * int(index)).value)


@instruction("int64(int64, int64)", _emit_load32)
def load32(address: int, index: int) -> int:
    """The 32-bit number at a place of a table."""
    return ctypes.c_int32.from_address(int(address) + 4 * int(index)).value


@instruction("none(int64, int64, int64)", _emit_store)
def store(address: int, index: int, value: int) -> None:
    """Write a 64-bit number to a place of a block."""
    ctypes.c_int64.from_address(int(address) + 8 * int(index)).value = int(np.int64(value))


@instruction("uint64(int64, uint64)", _emit_load8)
def load8(address: int, index: U) -> U:
    """The byte at a place of a table."""
    return U(ctypes.c_uint8.from_address(int(address) + int(index)).value)


@instruction("none(int64, int64, uint64)", _emit_set_bits)
def set_bits(address: int, index: int, bits: U) -> None:
    """Set bits at a place that other threads write too."""
    ctypes.c_uint64.from_address(int(address) + 8 * int(index)).value |= int(bits)


@instruction("none(int64, int64, uint64)", _emit_clear_bits)
def clear_bits(address: int, index: int, bits: U) -> None:
    """Clear bits at a place that other threads write too."""
    ctypes.c_uint64.from_address(int(address) + 8 * int(index)).value &= ~int(bits)
