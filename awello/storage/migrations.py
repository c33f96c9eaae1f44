"""Database schemas, and migrations that update databases of older versions of Awello.

A new database is created with the current tables.  The table `state` stores the number of applied migrations; missing
migrations run when the database is opened.  The table also stores the application of the database (`archive` or
`club`), so that a database of another application is refused.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Column, Connection, Integer, MetaData, Table, Text, inspect, select, text

from awello.errors import ConfigError

STATE_TABLE = Table("state", MetaData(), Column("steps", Integer, nullable=False), Column("application", Text))
# For each application, a table that only its databases have: version 0.1.0 did not store the application's name.
APPLICATION_BY_TABLE = {"accounts": "club", "pages": "archive"}


@dataclass(frozen=True)
class Schema:
    """The tables of an application, and the migrations since version 0.1.0, in order."""

    application: str
    tables: MetaData
    migrations: Sequence[Callable[[Connection], None]] = ()
    durable: bool = False
    """Whether commits must survive a power failure, not only a crash of the process."""
    private: bool = False
    """Whether a new file is readable only by its owner."""
    views: Sequence[str] = ()
    """Temporary views to read a read-only SQLite file of version 0.1.0, which cannot be migrated."""


def is_current(connection: Connection, name: str, schema: Schema) -> bool:
    """Return whether a database is up to date; raise `ConfigError` if it belongs to another application."""
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
        owner = {"archive": "an archive", "club": "a club"}.get(application or "", "another application")
        advice = f"give another database for the {schema.application}"
        raise ConfigError(f"the database {name!r} belongs to {owner}: {advice}")
    read_only = "mode" in connection.engine.url.query
    return _count_migrations(connection) == len(schema.migrations) and ("application" in columns or read_only)


def needs_views(connection: Connection, schema: Schema) -> bool:
    """Return whether a database is a read-only file of version 0.1.0, which must be read through the schema's views."""
    if "mode" not in connection.engine.url.query or not inspect(connection).has_table("state"):
        return False
    return bool(schema.views) and _count_migrations(connection) == 0


def migrate(connection: Connection, name: str, schema: Schema) -> None:
    """Create the tables of a new database, or run the migrations that an older one lacks."""
    if is_current(connection, name, schema):
        return  # another process has migrated it in the meantime
    inspector = inspect(connection)
    state = {"steps": len(schema.migrations), "application": schema.application}
    if not inspector.has_table("state"):
        STATE_TABLE.create(connection)
        schema.tables.create_all(connection)
        connection.execute(STATE_TABLE.insert().values(state))
        return
    done = _count_migrations(connection)
    if done > len(schema.migrations):
        raise ConfigError(f"the {schema.application} {name!r} was written by a newer version of Awello: update Awello")
    if "application" not in {column["name"] for column in inspector.get_columns("state")}:
        connection.execute(text("ALTER TABLE state ADD COLUMN application TEXT"))
    for migration in schema.migrations[done:]:
        migration(connection)
    connection.execute(STATE_TABLE.update().values(state))


def _count_migrations(connection: Connection) -> int:
    return int(connection.execute(select(STATE_TABLE.c.steps)).scalar_one())
