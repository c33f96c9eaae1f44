"""Database locations: a file for SQLite, or a URL such as `postgresql://user@host/name` for PostgreSQL."""

import re
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from awello.errors import ConfigError

POSTGRESQL_DRIVER = "postgresql+psycopg"
URL_PATTERN = re.compile(r"(?!/[^/]|[.~\\])(.*://|[\w+.-]{2,}:/|.*:[^/]*@|.*password\s*=)", re.IGNORECASE | re.DOTALL)


def is_database_url(location: str) -> bool:
    """Return whether a location is the URL (valid or not) of a database server, rather than a file."""
    return URL_PATTERN.match(location) is not None


def may_exist(location: str) -> bool:
    """Return whether a database may exist at a location: an existing file, or any URL of a database server."""
    return is_database_url(location) or Path(location).expanduser().exists()


def parse_database_url(location: str, application: str) -> URL:
    """Parse the URL of a database server; errors do not quote an invalid URL, which may contain a password."""
    try:
        url = make_url(location)
        misplaced = location.count("@") > 1 or "@" in (
            url.database or ""
        )  # an @ in the password: the text after the @ would be read as the host or the database name
        valid = not misplaced and location.isprintable() and 0 <= (url.port or 0) < 1 << 16
    except (ArgumentError, ValueError):
        valid = False
    if not valid:
        raise make_invalid_url_error(application)
    if url.drivername not in ("postgres", "postgresql", POSTGRESQL_DRIVER):
        raise ConfigError(
            f"the {application} does not support {url.drivername}:// URLs: give a file, or postgresql://USER@HOST/NAME"
        )
    return url.set(drivername=POSTGRESQL_DRIVER)


def make_invalid_url_error(application: str) -> ConfigError:
    """Make the error for a URL that cannot be parsed or has an invalid host name."""
    return ConfigError(
        f"the database URL of the {application} is not valid: write postgresql://USER:PASSWORD@HOST:PORT/NAME, "
        "with special characters in the password encoded, such as %40 for @"
    )
