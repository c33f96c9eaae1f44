"""Helpers to define the columns of database tables."""

from typing import Any

from sqlalchemy import Column, ForeignKey, Integer


def primary_keys(column_type: Any, *names: str) -> list[Column[Any]]:
    """Define columns of the given type that form the primary key or a part of it."""
    return [Column(name, column_type, primary_key=True) for name in names]


def id_column(**options: Any) -> Column[Any]:
    """Define the primary key `id`, whose values the database assigns by default."""
    return Column("id", Integer, primary_key=True, **options)


def nullable_columns(column_type: Any, *names: str) -> list[Column[Any]]:
    """Define columns of the given type that can be null."""
    return [Column(name, column_type) for name in names]


def required_columns(column_type: Any, *names: str, **options: Any) -> list[Column[Any]]:
    """Define columns of the given type that cannot be null."""
    return [Column(name, column_type, nullable=False, **options) for name in names]


def foreign_keys(table: str, *names: str, **options: Any) -> list[Column[Any]]:
    """Define columns that are foreign keys to the `id` of a table."""
    return [Column(name, ForeignKey(f"{table}.id"), **options) for name in names]
