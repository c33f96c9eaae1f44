"""Layouts: compiled kernels, uncompiled kernels and Python access the same fields."""

from typing import Annotated

import numpy as np
import pytest
from conftest import run

from awello.kernel import COMPILED, U, kernel
from awello.layout import Int16, Layout, UInt8, atomic_clear, atomic_set, record_at
from awello.memory import CACHE_LINE, address_of


class SampleItem(Layout):
    key: int
    word: U


class SampleBase(Layout):
    count: int
    stop: U


class SampleState(SampleBase):
    items: Annotated[list[SampleItem], 4]
    small: Annotated[list[list[Int16]], 2, 3]
    byte: UInt8


set_stop, clear_stop = atomic_set(SampleState, "stop"), atomic_clear(SampleState, "stop")
sample_at = record_at(SampleState)


@kernel("int64(SampleItem)", inline=True)
def double_key(item: SampleItem) -> int:
    item.key *= 2
    return item.key


@kernel("int64(SampleState, int64, int64)")
def visit(state: SampleState, index: int, other: int) -> int:
    """Use every kind of field: scalars, arrays, records in arrays, atomic words, a record at an address."""
    state.count += 1
    state.items[U(index)].key = 21
    state.items[U(index)].word = U(1) << U(63)
    state.small[U(1)][U(2)] = -7
    set_stop(state, U(6))
    clear_stop(state, U(2))
    sample_at(other).count += 10
    return double_key(state.items[U(index)])


def test_kernels_and_python_see_the_same_fields() -> None:
    states = SampleState.new_array(2)
    assert visit(states[0], 3, address_of(states) + SampleState.dtype.itemsize) == 42
    assert (states[0].count, states[1].count, int(states[0].stop)) == (1, 10, 4)
    assert (states[0].items[3].key, int(states[0].items[3].word)) == (42, 1 << 63)
    assert states[0].small.tolist() == [[0, 0, 0], [0, 0, -7]]
    assert states[0].items[2].key == 0


def test_layout_extends_another_and_is_aligned() -> None:
    assert SampleState.dtype.names == ("count", "stop", "items", "small", "byte")
    assert SampleState.dtype.fields is not None
    assert SampleState.dtype.fields["byte"][0] == np.uint8
    assert address_of(SampleState.new_array(3)) % CACHE_LINE == 0


def test_uncompiled_kernels_check_indices_and_addresses() -> None:
    if COMPILED:  # compiled kernels do not check indices
        done = run("-m", "pytest", "-q", __file__, NUMBA_DISABLE_JIT="1")
        assert done.returncode == 0, done.stdout
        return
    states = SampleState.new_array(1)
    with pytest.raises(IndexError):
        visit(states[0], 4, address_of(states))
    with pytest.raises(IndexError):
        visit(states[0], 0, address_of(states) + 8)


def test_names_are_unique() -> None:
    with pytest.raises(TypeError, match="already has a meaning in signatures"):
        type("SampleItem", (Layout,), {"__annotations__": {"key": int}})


def test_field_names_hidden_by_record_attributes_are_rejected() -> None:
    """Without compilation, `state.size` would be the number of elements of the NumPy record, always 1."""
    with pytest.raises(TypeError, match="the field 'size' would be hidden"):
        type("SampleTable", (Layout,), {"__annotations__": {"size": int}})
