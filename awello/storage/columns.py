"""Helpers to define columns of tables."""

from typing import Any

from sqlalchemy import Column, ForeignKey, Integer


def primary_keys(kind: Any, *names: str) -> list[Column[Any]]:
    """Columns of a type in the primary key."""
    return [Column(name, kind, primary_key=True) for name in names]


def id_column(**options: Any) -> Column[Any]:
    """The column `id`, which the database numbers by default."""
    return Column("id", Integer, primary_key=True, **options)


def optional_columns(kind: Any, *names: str) -> list[Column[Any]]:
    """Columns of a type that can be null."""
    return [Column(name, kind) for name in names]


def required_columns(kind: Any, *names: str, **options: Any) -> list[Column[Any]]:
    """Columns of a type that cannot be null."""
    return [Column(name, kind, nullable=False, **options) for name in names]


def reference_columns(table: str, *names: str, **options: Any) -> list[Column[Any]]:
    """Columns with foreign keys to the `id` of another table."""
    return [Column(name, ForeignKey(f"{table}.id"), **options) for name in names]
