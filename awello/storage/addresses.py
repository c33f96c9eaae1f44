"""Database locations: a file for SQLite, or an address such as `postgresql://user@host/name` for PostgreSQL."""

import re
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from awello.errors import ConfigError

POSTGRESQL_DRIVER = "postgresql+psycopg"
ADDRESS_PATTERN = re.compile(
    r"(?!/[^/]|[.~\\])(.*://|[\w+.-]{2,}:/|.*:[^/]*@|.*password\s*=)", re.IGNORECASE | re.DOTALL
)


def is_address(location: str) -> bool:
    """Return whether a location is the address (valid or not) of a database server, rather than a file."""
    return ADDRESS_PATTERN.match(location) is not None


def may_exist(location: str) -> bool:
    """Return whether a database may exist at a location: an existing file, or any address of a database server."""
    return is_address(location) or Path(location).expanduser().exists()


def parse_address(location: str, application: str) -> URL:
    """Parse the address of a database server; errors do not quote an invalid address, as it may contain a password."""
    try:
        address = make_url(location)
        misplaced = location.count("@") > 1 or "@" in (
            address.database or ""
        )  # an @ in the password: the text after the @ would be read as the host or the database name
        valid = not misplaced and location.isprintable() and 0 <= (address.port or 0) < 1 << 16
    except (ArgumentError, ValueError):
        valid = False
    if not valid:
        raise invalid_address_error(application)
    if address.drivername not in ("postgres", "postgresql", POSTGRESQL_DRIVER):
        raise ConfigError(
            f"the {application} does not support {address.drivername}:// addresses: "
            "give a file, or postgresql://USER@HOST/NAME"
        )
    return address.set(drivername=POSTGRESQL_DRIVER)


def invalid_address_error(application: str) -> ConfigError:
    """Return the error for an address that cannot be parsed or has an invalid host name."""
    return ConfigError(
        f"the address of the {application} is not valid: write postgresql://USER:PASSWORD@HOST:PORT/NAME, "
        "with special characters in the password encoded, such as %40 for @"
    )
