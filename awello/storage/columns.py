"""Shapes of columns that many tables share."""

from typing import Any

from sqlalchemy import Column, ForeignKey, Integer


def primary_keys(kind: Any, *names: str) -> list[Column[Any]]:
    """Columns of one type in the primary key."""
    return [Column(name, kind, primary_key=True) for name in names]


def id_column(**options: Any) -> Column[Any]:
    """The number of a row, given by the database unless the options say otherwise."""
    return Column("id", Integer, primary_key=True, **options)


def optional_columns(kind: Any, *names: str) -> list[Column[Any]]:
    """Columns of one type that may have no value."""
    return [Column(name, kind) for name in names]


def required_columns(kind: Any, *names: str, **options: Any) -> list[Column[Any]]:
    """Columns of one type that have a value in every row."""
    return [Column(name, kind, nullable=False, **options) for name in names]


def reference_columns(table: str, *names: str, **options: Any) -> list[Column[Any]]:
    """Columns with the numbers of rows of another table."""
    return [Column(name, ForeignKey(f"{table}.id"), **options) for name in names]
