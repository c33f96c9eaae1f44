"""Schemas and migrations: how a database of an older Awello gets the present tables.

A new database gets the present tables at once.  The table `state` counts the migrations that a database has had, and
the missing ones run when it is opened.  It also names the application; another application refuses the database.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Column, Connection, Integer, MetaData, Table, Text, inspect, select, text

from awello.errors import ConfigError

STATE_TABLE = Table("state", MetaData(), Column("steps", Integer, nullable=False), Column("application", Text))
APPLICATION_BY_TABLE = {
    "accounts": "club",
    "pages": "archive",
}  # version 0.1.0 named no application: it is known by a table


@dataclass(frozen=True)
class Schema:
    """The tables of an application, and the migrations that a database of version 0.1.0 lacks, in order."""

    application: str
    tables: MetaData
    migrations: Sequence[Callable[[Connection], None]] = ()
    durable: bool = False
    """Whether commits survive a power failure, and not only a crash of the program."""
    private: bool = False
    """Whether other users of the machine cannot read a new file."""


def is_current(connection: Connection, name: str, schema: Schema) -> bool:
    """Whether a database has the present tables; refuses the database of another application."""
    inspector = inspect(connection)
    tables = set(inspector.get_table_names())
    columns = {column["name"] for column in inspector.get_columns("state")} if "state" in tables else set()
    known = {"state", *schema.tables.tables} if connection.dialect.name == "postgresql" else tables
    if not tables & known:
        return False  # it is new
    application = None
    if "application" in columns:
        application = connection.execute(select(STATE_TABLE.c.application)).scalar()
    elif "steps" in columns:
        application = next((found for table, found in APPLICATION_BY_TABLE.items() if table in tables), None)
    if application != schema.application:
        found = {"archive": "an archive", "club": "a club"}.get(application or "", "of another program")
        raise ConfigError(f"the database {name!r} is {found}: the {schema.application} needs a database of its own")
    read_only = "mode" in connection.engine.url.query
    return _count_migrations(connection) == len(schema.migrations) and ("application" in columns or read_only)


def migrate(connection: Connection, name: str, schema: Schema) -> None:
    """Create the tables, or run the migrations that a database has not had yet."""
    if is_current(connection, name, schema):
        return  # another program has just migrated it
    inspector = inspect(connection)
    present = {"steps": len(schema.migrations), "application": schema.application}
    if not inspector.has_table("state"):
        STATE_TABLE.create(connection)
        schema.tables.create_all(connection)
        connection.execute(STATE_TABLE.insert().values(present))
        return
    done = _count_migrations(connection)
    if done > len(schema.migrations):
        raise ConfigError(f"the {schema.application} {name!r} was made by a newer Awello: install that one")
    if "application" not in {column["name"] for column in inspector.get_columns("state")}:
        connection.execute(text("ALTER TABLE state ADD COLUMN application TEXT"))
    for migration in schema.migrations[done:]:
        migration(connection)
    connection.execute(STATE_TABLE.update().values(present))


def _count_migrations(connection: Connection) -> int:
    return int(connection.execute(select(STATE_TABLE.c.steps)).scalar_one())
