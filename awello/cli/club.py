"""`awello club`: manage a club's database, with or without a running server."""

import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from sqlalchemy import Connection, Select, select

from awello.cli.app import app
from awello.cli.options import CLOCK_FORMAT, Json
from awello.cli.output import check_output, print_json, print_result
from awello.club import schema
from awello.club.accounts import (
    Account,
    change_password,
    close_account,
    create_account,
    create_token,
    find_account,
    hash_password,
    log_event,
)
from awello.club.offers import GameTerms
from awello.club.store import open_transaction
from awello.club.tournament import CANCELLED, OPEN, PLAYING, SWISS
from awello.club.tournament_store import create_tournament, end_tournament, find_tournament, load_tournaments
from awello.errors import ConfigError, SpecError
from awello.folders import draft_path
from awello.limits import parse_clock, parse_duration
from awello.rules.game import Game
from awello.storage.database import PRIVATE_FILE_MODE
from awello.storage.database_urls import is_database_url, may_exist

club = typer.Typer(no_args_is_help=True, help="Manage a club: accounts, tokens, tournaments, backup.")
app.add_typer(club, name="club")

Database = Annotated[str, typer.Argument(help="Club: file or postgresql://USER@HOST/NAME", metavar="DATABASE")]
Name = Annotated[str, typer.Argument(help="Name of the account", metavar="NAME")]


def open_club(database: str, write: bool = False, create: bool = False) -> AbstractContextManager[Connection]:
    """Start a transaction in a club's database; create a missing file only if `create` is set."""

    if not create and not may_exist(database):
        raise ConfigError(f"club {database!r} does not exist: create it with 'awello serve --club {database}'")
    return open_transaction(database, write)


@contextmanager
def change_account(database: str, name: str, event: str) -> Iterator[tuple[Connection, "Account"]]:
    """Yield a transaction and the account to change in it; log `event` in the same transaction."""

    with open_club(database, write=True) as connection:
        account = require_account(connection, name)
        yield connection, account
        log_event(connection, event, "console", account.id)


def require_account(connection: Connection, name: str) -> Account:
    """Find an account by name, or raise `ConfigError`."""

    account = find_account(connection, name)
    if account is None:
        raise ConfigError(f"account {name!r} does not exist: list the accounts with 'awello club accounts'")
    return account


def print_rows(
    database: str, key: str, query: Select[Any], json: bool, format_line: Callable[[dict[str, Any]], str]
) -> None:
    """Print the rows of a query, as JSON or one line per row."""
    with open_club(database) as connection:
        rows = [dict(row) for row in connection.execute(query).mappings()]
    if json:
        print_json({key: rows})
        return
    for row in rows:
        print(format_line(row))


# ---- accounts --------------------------------------------------------------------------------------------------------
@club.command("create-account")
def create_account_command(database: Database, name: Name) -> None:
    """Create an account.

    The password is requested in the terminal or, without a terminal, read from standard input.
    """

    password_hash = ask_password()
    with open_club(database, write=True, create=True) as connection:
        account = create_account(connection, name, password_hash)
        log_event(connection, "account created", "console", account.id)
    print(f"{account.name} can log in now")


@club.command("set-password")
def set_password_command(database: Database, name: Name) -> None:
    """Change the password of an account.

    The password is requested in the terminal or, without a terminal, read from standard input. The user must log in
    again.
    """

    with open_club(database) as connection:
        account = require_account(connection, name)
    if account.bot:
        raise ConfigError(
            f"{account.name} is a bot, which has no password: its owner can create a token on the club's page"
        )
    password_hash = ask_password()
    with change_account(database, name, "password changed") as (connection, account):
        change_password(connection, account, password_hash)
    print(f"the password of {account.name} has been changed")


def ask_password() -> str:
    """Prompt twice for a password or, without a terminal, read it from a line of standard input; return its hash."""

    if sys.stdin.isatty():
        return hash_password(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
    return hash_password(sys.stdin.readline().rstrip("\n"))


@club.command("create-bot")
def create_bot_command(
    database: Database,
    owner: Annotated[str, typer.Argument(help="Account that owns the bot", metavar="OWNER")],
    name: Annotated[str, typer.Argument(help="Name of the bot", metavar="NAME")],
) -> None:
    """Create an account for a bot and print the bot's token."""

    with change_account(database, owner, f"bot {name} created") as (connection, account):
        token = create_token(connection, create_account(connection, name, None, account.id), "console")
    print(token)


@club.command("close-account")
def close_account_command(database: Database, name: Name) -> None:
    """Close an account and its bots.

    They can no longer log in; their games are kept.
    """

    with change_account(database, name, "account closed") as (connection, account):
        close_account(connection, account)
    print(
        f"the account {account.name} is closed; its connections end within seconds, "
        "and its games in progress will be lost on time"
    )


@club.command("accounts")
def list_accounts(database: Database, json: Json = False) -> None:
    """List the accounts."""

    def format_line(row: dict[str, Any]) -> str:
        account_type = "bot" if row["bot"] else "person"
        return f"{row['id']:5d}  {row['name']:20s}  {account_type}{', closed' if row['closed'] else ''}"

    column = schema.accounts.c
    query = select(column.id, column.name, column.bot, column.closed).order_by(column.id)
    print_rows(database, "accounts", query, json, format_line)


@club.command("audit")
def show_audit_log(
    database: Database,
    last: Annotated[int, typer.Option(min=1, help="Show only the N latest entries", metavar="N")] = 50,
    json: Json = False,
) -> None:
    """Show the audit log: logins, accounts, tokens, tournaments."""

    def format_line(row: dict[str, Any]) -> str:
        moment = datetime.fromtimestamp(row["time"], UTC).isoformat(" ", "seconds")
        event = escape_control_characters(row["event"])
        return f"{moment}  {row['address'] or '-':15s}  {row['account'] or '-':>5}  {event}"

    newest = select(schema.audit.c.id).order_by(schema.audit.c.id.desc()).limit(last)
    query = select(schema.audit).where(schema.audit.c.id.in_(newest)).order_by(schema.audit.c.id)
    print_rows(database, "audit", query, json, format_line)


def escape_control_characters(text: str) -> str:
    """Replace unprintable characters with `?`, because attackers may have chosen the names in the log."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


# ---- tournaments -----------------------------------------------------------------------------------------------------
@club.command("create-tournament")
def create_tournament_command(
    database: Database,
    name: Annotated[str, typer.Argument(help="Name of the tournament", metavar="NAME")],
    start: Annotated[
        str,
        typer.Option(
            help="Start: local time such as 2026-11-20T18:00, or delay such as 10m (without a unit: seconds)",
            metavar="TIME",
        ),
    ],
    system: Annotated[str, typer.Option(help="swiss, round-robin or double-round-robin", metavar="SYSTEM")] = "swiss",
    variant: Annotated[
        str,
        typer.Option(help="Rules: othello, othello6, othello4, abapa, tournament or romein", metavar="VARIANT"),
    ] = "othello",
    clock: Annotated[str, typer.Option(help=f"Time for each player, {CLOCK_FORMAT}", metavar="TIME")] = "5m",
    rounds: Annotated[
        int | None, typer.Option(min=1, help="Number of rounds of a Swiss tournament; default: 5", metavar="N")
    ] = None,
    grace: Annotated[
        str,
        typer.Option(
            help="Grace period for late players in each round, such as 2m; without a unit: seconds", metavar="TIME"
        ),
    ] = "2m",
    unrated: Annotated[bool, typer.Option("--unrated", help="Play unrated games")] = False,
    json: Json = False,
) -> None:
    """Create a tournament.

    People and bots can enter until the tournament starts.
    """

    terms = GameTerms(Game(variant), parse_clock(clock), not unrated)  # type: ignore[arg-type]  # converts the name
    count = rounds or (5 if system == SWISS else 0)
    starts = parse_time(start)
    with open_club(database, write=True) as connection:
        created = create_tournament(connection, name, system, terms, count, starts, parse_duration(grace))
        log_event(connection, f"tournament {created.number} created", "console")
    text = f"tournament {created.number}, {created.name}, starts at {format_time(created.starts)}"
    print_result(created.to_json(), text, json)


def parse_time(text: str) -> float:
    """Parse a local time, or a delay from now; return seconds since 1970."""

    try:
        return time.time() + parse_duration(text)
    except SpecError:
        pass
    try:
        seconds = datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise ConfigError(
            f"{text!r} is not a time: write a local time such as 2026-11-20T18:00, or a delay such as 10m"
        ) from None
    if seconds < time.time():
        raise ConfigError(f"{text} is in the past: choose a later time")
    return seconds


def format_time(seconds: float) -> str:
    """Format seconds since 1970 in local time."""

    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")


@club.command("tournaments")
def list_tournaments(
    database: Database,
    last: Annotated[int, typer.Option(min=1, help="Show only the N latest tournaments", metavar="N")] = 10,
    json: Json = False,
) -> None:
    """List the latest tournaments with their standings."""

    with open_club(database) as connection:
        loaded = load_tournaments(connection, last=last)
    if json:
        print_json({"tournaments": [tournament.details_json() for tournament in loaded]})
        return
    for tournament in loaded:
        rounds = f"round {tournament.round} of {tournament.rounds}"
        when = rounds if tournament.round else f"at {format_time(tournament.starts)}"
        settings = f"{tournament.system}, {tournament.terms.game}: {tournament.state}"
        print(f"{tournament.number:5d}  {tournament.name}, {settings}, {when}")
        for row in tournament.standings_json:
            sums = f"{row['points']:5.1f}  {row['buchholz']:5.1f}  {row['sonneborn_berger']:6.2f}  {row['wins']:3d}"
            print(f"{row['rank']:9d}  {row['name']:20s}  {sums}")


@club.command("cancel-tournament")
def cancel_tournament(
    database: Database,
    number: Annotated[
        int, typer.Argument(help="Tournament number, as shown by `awello club tournaments`", metavar="NUMBER")
    ],
) -> None:
    """Cancel a tournament; games in progress continue."""

    with open_club(database, write=True) as connection:
        tournament = find_tournament(connection, number)
        if tournament.state not in (OPEN, PLAYING):
            problem = f"tournament {number} has already ended or been cancelled"
            raise ConfigError(f"{problem}: list the tournaments with 'awello club tournaments'")
        end_tournament(connection, tournament, CANCELLED)
        log_event(connection, f"tournament {number} cancelled", "console")
    print(f"{tournament.name} is cancelled")


@club.command("backup")
def back_up(
    database: Annotated[str, typer.Argument(help="File of the club; for PostgreSQL, use pg_dump", metavar="DATABASE")],
    out: Annotated[Path, typer.Argument(help="New file to write", metavar="FILE")],
) -> None:
    """Back up a club's database to a file.

    The server can keep running during the backup.
    """

    if is_database_url(database):
        raise ConfigError(
            "this command cannot back up a club on PostgreSQL: use pg_dump, as docs/operations.md describes"
        )
    if not Path(database).exists():
        raise ConfigError(f"club {database!r} does not exist: give the file of a club")
    check_output(out)
    if out.exists():
        raise ConfigError(f"{str(out)!r} already exists: choose another file")
    try:
        with draft_path(out) as draft:
            draft.touch(mode=PRIVATE_FILE_MODE)
            with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(draft)) as target:
                source.backup(target)
    except (sqlite3.Error, OSError) as error:
        raise ConfigError(f"{database!r} cannot be copied to {str(out)!r}: {error}; check both files") from None
    print(f"written to {out}")
