"""Accounts of people and bots, with their passwords, browser sessions and bot tokens.

Passwords are hashed with argon2.  Sessions and tokens are stored as digests, so that a copy of the database cannot be
used to log in.  A login with an unknown name takes as long as one with a wrong password.
"""

import hashlib
import re
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, delete, func, insert, select, update

from awello.club import NEEDS_EXTRA
from awello.club.game_state import ClubError
from awello.club.schema import accounts, audit, known_devices, sessions, tokens
from awello.errors import ConfigError

try:
    from argon2 import PasswordHasher
    from argon2.exceptions import InvalidHashError, VerifyMismatchError
except ImportError:
    raise ConfigError(NEEDS_EXTRA) from None

MIN_NAME_CHARS, MAX_NAME_CHARS = 2, 20
NAME_PATTERN = re.compile(r"[A-Za-z][A-Za-z0-9_-]{1,19}")
MIN_PASSWORD_CHARS, MAX_PASSWORD_CHARS = 10, 200
SESSION_SECONDS = 30 * 86400.0  # until a session expires
MAX_TOKENS_PER_BOT, MAX_BOTS_PER_ACCOUNT, MAX_SESSIONS_PER_ACCOUNT = 10, 10, 50
KNOWN_DEVICE_SECONDS = 180 * 86400.0  # from the last login until a known device or client network is deleted
MAX_KNOWN_DEVICES_PER_ACCOUNT = 40  # devices and client networks together

_hasher = PasswordHasher()
_dummy_hash = _hasher.hash(secrets.token_urlsafe())  # verified for unknown names, so that all logins take equally long


@dataclass(frozen=True)
class Account:
    """An account of a person or a bot."""

    id: int
    name: str
    bot: bool = False
    owner: int | None = None


def row_to_account(row: Any) -> Account:
    """Convert a row of the table `accounts` to an account."""
    return Account(row.id, row.name, row.bot, row.owner)


def _find(connection: Connection, query: Select[Any]) -> Account | None:
    """Return the account that a query finds; None if there is none, or if it is closed."""
    row = connection.execute(query.where(~accounts.c.closed)).first()
    return row_to_account(row) if row else None


def _count(connection: Connection, *conditions: ColumnElement[bool]) -> int:
    return int(connection.execute(select(func.count()).where(*conditions)).scalar_one())


# ---- accounts --------------------------------------------------------------------------------------------------------
def hash_password(password: str) -> str:
    """Hash a new password; raise `ClubError` if it is too short or too long."""
    check_new_password(password)
    return _hasher.hash(password)


def check_new_password(password: str) -> None:
    """Raise `ClubError` if a password is too short or too long."""
    if not MIN_PASSWORD_CHARS <= len(password) <= MAX_PASSWORD_CHARS:
        raise ClubError(
            "password_length",
            f"the password must have {MIN_PASSWORD_CHARS} to {MAX_PASSWORD_CHARS} characters: choose another password",
            min=MIN_PASSWORD_CHARS,
            max=MAX_PASSWORD_CHARS,
        )


def create_account(connection: Connection, name: str, password_hash: str | None, owner: int | None = None) -> Account:
    """Create the account of a person (with a password hash) or of a bot (with an owner).

    Raises `ClubError` if the name is invalid or taken, or if the owner has already created `MAX_BOTS_PER_ACCOUNT` bots.
    """
    check_new_name(connection, name)
    if owner is not None and _count(connection, accounts.c.owner == owner) >= MAX_BOTS_PER_ACCOUNT:
        raise ClubError(
            "too_many_bots",
            f"you have already created {MAX_BOTS_PER_ACCOUNT} bots: use one of them",
            limit=MAX_BOTS_PER_ACCOUNT,
        )
    names = {"name": name, "lower_name": name.lower()}
    values = {"bot": owner is not None, "owner": owner, "password_hash": password_hash, "closed": False}
    added = connection.execute(insert(accounts).values(**names, **values, created=time.time()))
    assert added.inserted_primary_key is not None
    return Account(added.inserted_primary_key[0], name, owner is not None, owner)


def check_new_name(connection: Connection, name: str) -> None:
    """Raise `ClubError` if a name is invalid or taken."""
    if not NAME_PATTERN.fullmatch(name):
        raise ClubError(
            "invalid_name",
            f"the name must have {MIN_NAME_CHARS} to {MAX_NAME_CHARS} characters (letters from A to Z, digits, - and "
            "_) and start with a letter: choose another name",
            min=MIN_NAME_CHARS,
            max=MAX_NAME_CHARS,
        )
    if _count(connection, accounts.c.lower_name == name.lower()):
        raise ClubError("name_taken", f"the name {name} is taken: choose another", name=name)


def find_account(connection: Connection, name: str) -> Account | None:
    """Return the open account with this name, ignoring case; None if there is none."""
    return _find(connection, select(accounts).where(accounts.c.lower_name == name.lower()))


def list_bots(connection: Connection, owner: Account) -> list[Account]:
    """List the open bot accounts of a user."""
    query = select(accounts).where(accounts.c.owner == owner.id, ~accounts.c.closed).order_by(accounts.c.id)
    return [row_to_account(row) for row in connection.execute(query)]


def get_account(connection: Connection, name: str) -> Account:
    """Return the open account with this name, ignoring case; raise `ClubError` if there is none."""
    if (found := find_account(connection, name)) is None:
        raise ClubError("unknown_account", f"there is no player named {name}: check the name", name=name)
    return found


def close_account(connection: Connection, account: Account) -> None:
    """Close an account and its bots; their games are kept."""
    ids = [account.id, *(bot.id for bot in list_bots(connection, account))]
    connection.execute(update(accounts).where(accounts.c.id.in_(ids)).values(closed=True))
    for table in (sessions, tokens, known_devices):
        connection.execute(delete(table).where(table.c.account.in_(ids)))


def load_password_hash(connection: Connection, name: str) -> tuple[Account | None, str | None]:
    """Return the open account with this name, ignoring case, and its password hash; None for both if there is none."""
    row = connection.execute(select(accounts).where(accounts.c.lower_name == name.lower(), ~accounts.c.closed)).first()
    return (row_to_account(row), row.password_hash) if row else (None, None)


def password_changed_error() -> ClubError:
    """Return the error for a request that was made with the previous password."""
    return ClubError("password_changed", "the password has just been changed: log in with the new one")


def change_password(connection: Connection, account: Account, password_hash: str, old_hash: str | None = None) -> None:
    """Store a new password hash for an account, end its sessions and delete its known devices.

    Raises `ClubError` if the account is closed, or if `old_hash` is given and is not the stored hash.
    """
    own_rows = [accounts.c.id == account.id, ~accounts.c.closed]
    if old_hash is not None:
        own_rows.append(accounts.c.password_hash == old_hash)
    if not connection.execute(update(accounts).where(*own_rows).values(password_hash=password_hash)).rowcount:
        raise password_changed_error()
    for table in (sessions, known_devices):
        connection.execute(delete(table).where(table.c.account == account.id))


def verify_password(password_hash: str | None, password: str) -> bool:
    """Return whether a password matches a hash; without a hash, take the same time and return False."""
    try:
        return _hasher.verify(password_hash or _dummy_hash, password[:MAX_PASSWORD_CHARS]) and password_hash is not None
    except (VerifyMismatchError, InvalidHashError):
        return False


# ---- known devices ---------------------------------------------------------------------------------------------------
def save_device(connection: Connection, account: Account, device: str, client_network: str) -> None:
    """Store the device and the client network of a login.

    At most `MAX_KNOWN_DEVICES_PER_ACCOUNT` devices and client networks are kept per account: the most recently used.
    """
    _store_digests(
        connection,
        known_devices,
        account,
        _device_digests(device, client_network),
        KNOWN_DEVICE_SECONDS,
        MAX_KNOWN_DEVICES_PER_ACCOUNT,
    )


def find_known_login_origin(connection: Connection, account: int, device: str, client_network: str) -> str | None:
    """Return `device` if the account has logged in from this device, `client_network` if only from this client network.

    Otherwise, return None.
    """
    digests = _device_digests(device, client_network)
    own_rows = known_devices.c.account == account, known_devices.c.expires > time.time()
    query = select(known_devices.c.digest).where(*own_rows, known_devices.c.digest.in_(digests))
    found = {bytes(row.digest) for row in connection.execute(query)}
    return "device" if digests[0] in found else "client_network" if found else None


def _store_digests(
    connection: Connection, table: Table, account: Account, digests: Sequence[bytes], seconds: float, max_digests: int
) -> None:
    """Store digests that expire after `seconds`.

    Deletes expired digests, and the account's oldest ones if it has more than `max_digests`.
    """
    now, own_rows = time.time(), table.c.account == account.id
    connection.execute(delete(table).where(table.c.digest.in_(digests) & own_rows | (table.c.expires < now)))
    rows = [{"account": account.id, "digest": digest, "expires": now + seconds} for digest in digests]
    connection.execute(insert(table), rows)
    newest = select(table.c.digest).where(own_rows).order_by(table.c.expires.desc()).limit(max_digests)
    connection.execute(delete(table).where(own_rows, table.c.digest.not_in(newest)))


def _device_digests(device: str, client_network: str) -> tuple[bytes, bytes]:
    # The prefixes must stay those of existing databases.
    return digest_of(f"device {device}"), digest_of(f"network {client_network}")


# ---- sessions and tokens ---------------------------------------------------------------------------------------------
def digest_of(secret: str) -> bytes:
    """Return the digest to store for a secret; secrets are long and random, so a fast hash is enough."""
    return hashlib.sha256(secret.encode()).digest()


def create_session(connection: Connection, account: Account) -> str:
    """Create a session and return its secret.

    Deletes expired sessions, and the account's oldest ones if it has more than `MAX_SESSIONS_PER_ACCOUNT`.
    """
    secret = secrets.token_urlsafe(32)
    _store_digests(connection, sessions, account, [digest_of(secret)], SESSION_SECONDS, MAX_SESSIONS_PER_ACCOUNT)
    return secret


def delete_session(connection: Connection, secret: str) -> None:
    """Delete a session."""
    connection.execute(delete(sessions).where(sessions.c.digest == digest_of(secret)))


def find_by_session(connection: Connection, secret: str) -> Account | None:
    """Return the account of a valid session; None if no valid session has this secret."""
    joined = select(accounts).join(sessions, sessions.c.account == accounts.c.id)
    return _find(connection, joined.where(sessions.c.digest == digest_of(secret), sessions.c.expires > time.time()))


def create_token(connection: Connection, account: Account, label: str) -> str:
    """Create a token for a bot and return its secret, of which only a digest is stored.

    Raises `ClubError` if the bot already has `MAX_TOKENS_PER_BOT` tokens.
    """
    if _count(connection, tokens.c.account == account.id) >= MAX_TOKENS_PER_BOT:
        message = f"{account.name} already has {MAX_TOKENS_PER_BOT} tokens: revoke one"
        raise ClubError("too_many_tokens", message, name=account.name, limit=MAX_TOKENS_PER_BOT)
    secret = f"awello_{secrets.token_urlsafe(32)}"
    values = {"digest": digest_of(secret), "account": account.id, "label": label[:60], "created": time.time()}
    connection.execute(insert(tokens).values(**values))
    return secret


def list_tokens(connection: Connection, account: Account) -> list[dict[str, Any]]:
    """List the tokens of an account, without their secrets."""
    query = select(tokens.c.id, tokens.c.label, tokens.c.created).where(tokens.c.account == account.id)
    return [dict(row) for row in connection.execute(query.order_by(tokens.c.id)).mappings()]


def revoke_token(connection: Connection, account: Account, number: int) -> bool:
    """Revoke a token; return False if the account has no token with this id."""
    found = delete(tokens).where(tokens.c.account == account.id, tokens.c.id == number)
    return connection.execute(found).rowcount > 0


def find_by_token(connection: Connection, secret: str) -> Account | None:
    """Return the account of a token; None if the token is not valid."""
    joined = select(accounts).join(tokens, tokens.c.account == accounts.c.id)
    return _find(connection, joined.where(tokens.c.digest == digest_of(secret)))


def find_valid_digests(connection: Connection, digests: Sequence[bytes]) -> set[bytes]:
    """Return the given digests that belong to a valid session or token."""
    kept = select(sessions.c.digest).where(sessions.c.expires > time.time(), sessions.c.digest.in_(digests))
    given = select(tokens.c.digest).where(tokens.c.digest.in_(digests))
    return {bytes(row.digest) for row in connection.execute(kept.union_all(given))}


# ---- the audit log ---------------------------------------------------------------------------------------------------
def log_event(connection: Connection, event: str, address: str = "", account: int | None = None) -> None:
    """Add an event to the audit log."""
    connection.execute(insert(audit).values(time=time.time(), account=account, address=address, event=event))
