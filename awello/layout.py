"""Layouts: declarations of records with named fields, which kernels and Python code share.

A layout is declared like a dataclass and becomes a NumPy and Numba record type.  Kernel signatures contain the name of
the layout, and in kernels `state.nodes += 1` or `state.moves[U(index)].flips` accesses memory directly.  A record is
passed as a single pointer, which is cheap in recursive calls; an array is passed as seven machine words.

    class Move(Layout):
        square: int                              # a signed 64-bit integer
        flips: U                                 # an unsigned 64-bit integer

    class SearchState(Layout):
        nodes: int
        moves: Annotated[list[Move], 64]         # an array, here of records
        history: Annotated[list[list[Int16]], 6, 64]

    @kernel("int64(uint64, uint64, SearchState)")
    def search(own: U, opp: U, state: SearchState) -> int: ...

    state = SearchState.new()

Use unsigned indices (`U(index)`): Numba checks whether signed indices are negative, which slows down a search by 4 %.
A new record is aligned to a cache line, so declare the fields that need this alignment first.

Without compilation, kernels access plain NumPy records, and an index out of bounds raises `IndexError`.
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
    """Base class of all layouts.  A subclass of another layout starts with the fields of its base."""

    dtype: ClassVar[np.dtype[Any]]

    def __init_subclass__(cls) -> None:
        hints = {name: hint for name, hint in get_type_hints(cls, include_extras=True).items() if name != "dtype"}
        if reserved := [name for name in hints if hasattr(np.record, name)]:
            raise TypeError(
                f"the field {reserved[0]!r} would be hidden by an attribute of NumPy records: rename the field"
            )
        fields = [(name, *_field_type(hint)) for name, hint in hints.items()]
        cls.dtype = np.dtype((np.record, np.dtype(fields, align=True)))
        if hasattr(types, cls.__name__):
            raise TypeError(f"the name {cls.__name__!r} already has a meaning in signatures: rename the layout")
        setattr(types, cls.__name__, from_dtype(cls.dtype))  # Numba looks up the names in a signature in `types`

    @classmethod
    def new(cls) -> Self:
        """Return a zeroed record, aligned to a cache line."""
        return cast(Self, cls.new_array(1)[0])

    @classmethod
    def new_array(cls, count: int) -> "npt.NDArray[Any]":
        """Return an array of zeroed records; the array, not each record, is aligned to a cache line."""
        return allocate_bytes(count * cls.dtype.itemsize).view(cls.dtype)

    @classmethod
    def view(cls, array: "npt.NDArray[Any]") -> Self:
        """Return a view of an array's memory as a record."""
        return cast(Self, array.view(cls.dtype)[0])


def _field_type(hint: Any) -> tuple[Any, ...]:
    """Return the NumPy type of a field, and its shape if it is an array."""
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


# ---- records at addresses -------------------------------------------------------------------------------------------
def record_at(layout: type[AnyLayout]) -> Callable[[int], AnyLayout]:
    """Create an instruction that returns the record at an address, such as weights that several search states share."""
    size, dtype = layout.dtype.itemsize, layout.dtype
    pointer = ir.ArrayType(ir.IntType(8), size).as_pointer()

    def at(address: int) -> Any:
        memory: Any = (ctypes.c_byte * size).from_address(check_address(address, 0, size))
        return np.frombuffer(memory, dtype)[0]

    at.__name__ = at.__qualname__ = f"{layout.__name__.lower()}_at"
    emit = lambda b, address: b.inttoptr(address, pointer)  # noqa: E731
    return cast(Callable[[int], AnyLayout], instruction(f"{layout.__name__}(int64)", emit)(at))


# ---- atomic access to fields ----------------------------------------------------------------------------------------
def _atomic(layout: type[AnyLayout], field: str, operation: str, invert: bool) -> Callable[..., Any]:
    offset = ir.Constant(I64, cast(Any, layout.dtype.fields)[field][1])

    def emit(b: Builder, record: Any, bits: Any) -> Any:
        pointer = b.inttoptr(b.add(b.ptrtoint(record, I64), offset), I64.as_pointer())
        b.atomic_rmw(operation, pointer, b.not_(bits) if invert else bits, "seq_cst")
        return VOID_RESULT

    return instruction(f"none({layout.__name__}, uint64)", emit)


def atomic_set(layout: type[AnyLayout], field: str) -> Callable[[AnyLayout, U], None]:
    """Create an instruction that sets bits of a field atomically."""

    def set_bits(record: Any, bits: U) -> None:
        setattr(record, field, getattr(record, field) | bits)

    return cast(Callable[[AnyLayout, U], None], _atomic(layout, field, "or", False)(set_bits))


def atomic_clear(layout: type[AnyLayout], field: str) -> Callable[[AnyLayout, U], None]:
    """Create an instruction that clears bits of a field atomically."""

    def clear_bits(record: Any, bits: U) -> None:
        setattr(record, field, getattr(record, field) & ~bits)

    return cast(Callable[[AnyLayout, U], None], _atomic(layout, field, "and", True)(clear_bits))
