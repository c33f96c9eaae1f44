"""Schemas and migrations, which update databases of older versions of Awello.

A new database gets the current tables directly.  The table `state` stores the number of migrations that were applied,
and the missing ones run when the database is opened.  It also stores the application, so that a database of another
application is refused.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Column, Connection, Integer, MetaData, Table, Text, inspect, select, text

from awello.errors import ConfigError

STATE_TABLE = Table("state", MetaData(), Column("steps", Integer, nullable=False), Column("application", Text))
APPLICATION_BY_TABLE = {
    "accounts": "club",
    "pages": "archive",
}  # version 0.1.0 did not store the application


@dataclass(frozen=True)
class Schema:
    """The tables of an application, and the migrations since version 0.1.0, in order."""

    application: str
    tables: MetaData
    migrations: Sequence[Callable[[Connection], None]] = ()
    durable: bool = False
    """Whether commits survive a power failure, and not only a crash of the program."""
    private: bool = False
    """Whether only the owner of a new file can read it."""
    views: Sequence[str] = ()
    """Temporary views by which a read-only SQLite file of version 0.1.0 is read without a migration."""


def is_current(connection: Connection, name: str, schema: Schema) -> bool:
    """Whether a database is up to date; refuses the database of another application."""
    inspector = inspect(connection)
    tables = set(inspector.get_table_names())
    columns = {column["name"] for column in inspector.get_columns("state")} if "state" in tables else set()
    known = {"state", *schema.tables.tables} if connection.dialect.name == "postgresql" else tables
    if not tables & known:
        return False  # a new database
    application = None
    if "application" in columns:
        application = connection.execute(select(STATE_TABLE.c.application)).scalar()
    elif "steps" in columns:
        application = next((owner for table, owner in APPLICATION_BY_TABLE.items() if table in tables), None)
    if application != schema.application:
        kind = {"archive": "an archive", "club": "a club"}.get(application or "", "of another program")
        raise ConfigError(f"the database {name!r} is {kind}: the {schema.application} needs a database of its own")
    read_only = "mode" in connection.engine.url.query
    return _count_migrations(connection) == len(schema.migrations) and ("application" in columns or read_only)


def needs_views(connection: Connection, schema: Schema) -> bool:
    """Whether a database cannot be migrated because it is read-only, and can be read by the views of its schema."""
    if "mode" not in connection.engine.url.query or not inspect(connection).has_table("state"):
        return False
    return bool(schema.views) and _count_migrations(connection) == 0


def migrate(connection: Connection, name: str, schema: Schema) -> None:
    """Create the tables, or run the missing migrations."""
    if is_current(connection, name, schema):
        return  # migrated by another program in the meantime
    inspector = inspect(connection)
    state = {"steps": len(schema.migrations), "application": schema.application}
    if not inspector.has_table("state"):
        STATE_TABLE.create(connection)
        schema.tables.create_all(connection)
        connection.execute(STATE_TABLE.insert().values(state))
        return
    done = _count_migrations(connection)
    if done > len(schema.migrations):
        raise ConfigError(
            f"the {schema.application} {name!r} was made by a newer version of Awello: install that version"
        )
    if "application" not in {column["name"] for column in inspector.get_columns("state")}:
        connection.execute(text("ALTER TABLE state ADD COLUMN application TEXT"))
    for migration in schema.migrations[done:]:
        migration(connection)
    connection.execute(STATE_TABLE.update().values(state))


def _count_migrations(connection: Connection) -> int:
    return int(connection.execute(select(STATE_TABLE.c.steps)).scalar_one())
