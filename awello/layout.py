"""Named layouts: memory that kernels and Python read by the names of its fields.

A layout is declared like a dataclass and becomes a record of NumPy and Numba.  Signatures of kernels use its name, and
inside kernels `state.nodes += 1` or `state.moves[U(index)].flips` reads and writes memory directly.  A record is passed
as one pointer, which makes it cheap in a recursion; an array is seven machine words.

    class Move(Layout):
        square: int                              # a 64-bit integer
        flips: U                                 # a word

    class SearchState(Layout):
        nodes: int
        moves: Annotated[list[Move], 64]         # an array, here of records
        history: Annotated[list[list[Int16]], 6, 64]

    @kernel("int64(uint64, uint64, OthelloState)")
    def search(own: U, opp: U, state: SearchState) -> int: ...

    state = SearchState.new()

Indices are unsigned (`U(index)`): Numba checks whether signed ones are negative, which costs 4 % in a search.  A new
record begins with a cache line, so fields that need this alignment come first.

Without compilation a record is a NumPy record, and an index outside an array raises `IndexError`.
"""

import ctypes
from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Self, TypeAlias, TypeVar, cast, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from llvmlite.ir import IRBuilder as Builder
from numba import from_dtype, types

from awello.kernel import U, instruction
from awello.memory import I64, VOID_RESULT, allocate_bytes, check_address

Int16: TypeAlias = Annotated[int, np.int16]
Int32: TypeAlias = Annotated[int, np.int32]
UInt8: TypeAlias = Annotated[int, np.uint8]
AnyLayout = TypeVar("AnyLayout", bound="Layout")


class Layout:
    """Base class of all layouts.  A class that extends another layout has its fields first."""

    dtype: ClassVar[np.dtype[Any]]

    def __init_subclass__(cls) -> None:
        hints = {name: hint for name, hint in get_type_hints(cls, include_extras=True).items() if name != "dtype"}
        if reserved := [name for name in hints if hasattr(np.record, name)]:
            raise TypeError(f"every NumPy record has an attribute {reserved[0]}, which would hide the field: rename it")
        fields = [(name, *_field_type(hint)) for name, hint in hints.items()]
        cls.dtype = np.dtype((np.record, np.dtype(fields, align=True)))
        if hasattr(types, cls.__name__):
            raise TypeError(f"signatures know the name {cls.__name__} already: choose another for the layout")
        setattr(types, cls.__name__, from_dtype(cls.dtype))  # the names of this module are those of signatures

    @classmethod
    def new(cls) -> Self:
        """A record of zeros, which begins with a cache line and lives as long as something refers to it."""
        return cast(Self, cls.new_array(1)[0])

    @classmethod
    def new_array(cls, count: int) -> "npt.NDArray[Any]":
        """So many records of zeros, beginning with a cache line."""
        return allocate_bytes(count * cls.dtype.itemsize).view(cls.dtype)

    @classmethod
    def view(cls, array: "npt.NDArray[Any]") -> Self:
        """The memory of an array of this size as a record."""
        return cast(Self, array.view(cls.dtype)[0])


def _field_type(hint: Any) -> tuple[Any, ...]:
    """The NumPy type of a field, and its shape if it is an array."""
    element, *shape = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if get_origin(element) is not list:
        return (_scalar_type(hint),)
    for _ in shape:
        (element,) = get_args(element)
    return _scalar_type(element), tuple(shape)


def _scalar_type(hint: Any) -> Any:
    if get_origin(hint) is Annotated:
        return get_args(hint)[1]
    if hint is int:
        return np.int64
    return hint.dtype if issubclass(hint, Layout) else hint


# ---- records behind addresses ---------------------------------------------------------------------------------------
def record_at(layout: type[AnyLayout]) -> Callable[[int], AnyLayout]:
    """Make the instruction that gives the record at an address, for tables that several states share."""
    size, dtype = layout.dtype.itemsize, layout.dtype
    pointer = ir.ArrayType(ir.IntType(8), size).as_pointer()

    def at(address: int) -> Any:
        memory: Any = (ctypes.c_byte * size).from_address(check_address(address, 0, size))
        return np.frombuffer(memory, dtype)[0]

    at.__name__ = at.__qualname__ = f"{layout.__name__.lower()}_at"
    emit = lambda b, address: b.inttoptr(address, pointer)  # noqa: E731
    return cast(Callable[[int], AnyLayout], instruction(f"{layout.__name__}(int64)", emit)(at))


# ---- fields that other threads write too ----------------------------------------------------------------------------
def _atomic(layout: type[AnyLayout], field: str, operation: str, invert: bool) -> Callable[..., Any]:
    offset = ir.Constant(I64, cast(Any, layout.dtype.fields)[field][1])

    def emit(b: Builder, record: Any, bits: Any) -> Any:
        pointer = b.inttoptr(b.add(b.ptrtoint(record, I64), offset), I64.as_pointer())
        b.atomic_rmw(operation, pointer, b.not_(bits) if invert else bits, "seq_cst")
        return VOID_RESULT

    return instruction(f"none({layout.__name__}, uint64)", emit)


def atomic_set(layout: type[AnyLayout], field: str) -> Callable[[AnyLayout, U], None]:
    """Make the instruction that sets bits of a word that other threads write too."""

    def set_bits(record: Any, bits: U) -> None:
        setattr(record, field, getattr(record, field) | bits)

    return cast(Callable[[AnyLayout, U], None], _atomic(layout, field, "or", False)(set_bits))


def atomic_clear(layout: type[AnyLayout], field: str) -> Callable[[AnyLayout, U], None]:
    """Make the instruction that clears bits of a word that other threads write too."""

    def clear_bits(record: Any, bits: U) -> None:
        setattr(record, field, getattr(record, field) & ~bits)

    return cast(Callable[[AnyLayout, U], None], _atomic(layout, field, "and", True)(clear_bits))
