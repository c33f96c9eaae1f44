"""Helpers to define columns of tables."""

from typing import Any

from sqlalchemy import Column, ForeignKey, Integer


def primary_keys(column_type: Any, *names: str) -> list[Column[Any]]:
    """Columns of a type in the primary key."""
    return [Column(name, column_type, primary_key=True) for name in names]


def id_column(**options: Any) -> Column[Any]:
    """The column `id`, which the database numbers by default."""
    return Column("id", Integer, primary_key=True, **options)


def optional_columns(column_type: Any, *names: str) -> list[Column[Any]]:
    """Columns of a type that can be null."""
    return [Column(name, column_type) for name in names]


def required_columns(column_type: Any, *names: str, **options: Any) -> list[Column[Any]]:
    """Columns of a type that cannot be null."""
    return [Column(name, column_type, nullable=False, **options) for name in names]


def reference_columns(table: str, *names: str, **options: Any) -> list[Column[Any]]:
    """Columns with foreign keys to the `id` of another table."""
    return [Column(name, ForeignKey(f"{table}.id"), **options) for name in names]
