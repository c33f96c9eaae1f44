"""`awello club`: look after a club's database, while a server has it open or not."""

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

from awello.cli.app import Json, app, print_json, print_result
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
from awello.club.store import transaction
from awello.club.tournament import CANCELLED, OPEN, PLAYING, SWISS
from awello.club.tournament_store import create_tournament, end_tournament, find_tournament, load_tournaments
from awello.errors import ConfigError, SpecError
from awello.folders import draft_path
from awello.limits import parse_clock, parse_duration
from awello.rules.game import Game
from awello.storage.addresses import is_address, may_exist
from awello.storage.database import PRIVATE_FILE_MODE

club = typer.Typer(
    no_args_is_help=True, help="Look after a club's database: accounts, tokens, tournaments, audit log, backup."
)
app.add_typer(club, name="club")

Place = Annotated[str, typer.Argument(help="The club's file or postgresql://USER@HOST/NAME", metavar="PLACE")]
Name = Annotated[str, typer.Argument(help="The name of an account", metavar="NAME")]
Last = Annotated[int, typer.Option(min=1, help="How many to show, the latest", metavar="N")]


def open_club(place: str, write: bool = False, new: bool = False) -> AbstractContextManager[Connection]:
    """A transaction in a club's database; a file that does not exist is created only if it may be new."""

    if not new and not may_exist(place):
        raise ConfigError(f"there is no club {place!r}: 'awello serve --club {place}' makes one")
    return transaction(place, write)


@contextmanager
def change_account(place: str, name: str, what: str) -> Iterator[tuple[Connection, "Account"]]:
    """Change an account and note it in the audit log, in one transaction."""

    with open_club(place, write=True) as connection:
        account = find(connection, name)
        yield connection, account
        log_event(connection, what, "console", account.number)


def find(connection: Connection, name: str) -> Account:
    """The account of a name."""

    found = find_account(connection, name)
    if found is None:
        raise ConfigError(f"there is no account {name!r}: 'awello club accounts' lists them")
    return found


def show(place: str, key: str, query: Select[Any], json: bool, line: Callable[[dict[str, Any]], str]) -> None:
    """Print the rows of a query, as JSON or a line each."""
    with open_club(place) as connection:
        rows = [dict(row) for row in connection.execute(query).mappings()]
    if json:
        print_json({key: rows})
        return
    for row in rows:
        print(line(row))


# ---- accounts --------------------------------------------------------------------------------------------------------
@club.command("open")
def open_(place: Place, name: Name) -> None:
    """Open an account; the password is asked for, or read from the first line if there is no terminal."""

    hashed = ask_password()
    with open_club(place, write=True, new=True) as connection:
        made = create_account(connection, name, hashed)
        log_event(connection, "account opened", "console", made.number)
    print(f"{made.name} can log in now")


@club.command()
def password(place: Place, name: Name) -> None:
    """Give somebody another password, asked for as by `open`; their browsers must log in again."""

    with open_club(place) as connection:
        account = find(connection, name)
    if account.bot:
        raise ConfigError(f"{account.name} is a program, which has tokens: 'awello club program' makes one")
    hashed = ask_password()
    with change_account(place, name, "password changed") as (connection, account):
        change_password(connection, account, hashed)
    print(f"{account.name} has another password now")


def ask_password() -> str:
    """A new password, hashed: typed twice, or the first line if there is no terminal."""

    if sys.stdin.isatty():
        return hash_password(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
    return hash_password(sys.stdin.readline().rstrip("\n"))


@club.command()
def program(place: Place, owner: Name, name: Name) -> None:
    """Register a program of somebody, and print a token for it."""

    with change_account(place, owner, f"bot {name} registered") as (connection, person):
        token = create_token(connection, create_account(connection, name, None, person.number), "console")
    print(token)


@club.command()
def close(place: Place, name: Name) -> None:
    """Close an account and its programs: nobody can log in any more, its games stay."""

    with change_account(place, name, "account closed") as (connection, account):
        close_account(connection, account)
    print(f"{account.name} is closed; their connections end within seconds, a game that goes on runs out of time")


@club.command()
def accounts(place: Place, json: Json = False) -> None:
    """List the accounts."""

    def line(row: dict[str, Any]) -> str:
        kind = "program" if row["bot"] else "person"
        return f"{row['id']:5d}  {row['name']:20s}  {kind}{', closed' if row['closed'] else ''}"

    column = schema.accounts.c
    query = select(column.id, column.name, column.bot, column.closed).order_by(column.id)
    show(place, "accounts", query, json, line)


@club.command()
def audit(place: Place, last: Last = 50, json: Json = False) -> None:
    """Show what was noted last: log-ins, wrong passwords, tokens, accounts."""

    def line(row: dict[str, Any]) -> str:
        moment = datetime.fromtimestamp(row["time"], UTC).isoformat(" ", "seconds")
        return f"{moment}  {row['address'] or '-':15s}  {row['account'] or '-':>5}  {printable(row['event'])}"

    newest = select(schema.audit.c.id).order_by(schema.audit.c.id.desc()).limit(last)
    query = select(schema.audit).where(schema.audit.c.id.in_(newest)).order_by(schema.audit.c.id)
    show(place, "audit", query, json, line)


def printable(text: str) -> str:
    """A text that does nothing to a terminal: whoever tries to log in may call themselves anything."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


# ---- tournaments -----------------------------------------------------------------------------------------------------
@club.command()
def tournament(
    place: Place,
    name: Annotated[str, typer.Argument(help="What it is called", metavar="NAME")],
    at: Annotated[str, typer.Option(help="When it begins: 2026-11-20T18:00 (local time), or 10m from now")],
    kind: Annotated[str, typer.Option(help="swiss, round-robin or double-round-robin", metavar="KIND")] = "swiss",
    game: Annotated[str, typer.Option(help="What is played, such as othello or abapa", metavar="GAME")] = "othello",
    time: Annotated[str, typer.Option(help="Of a player for a game, such as 5m or 3m+2s", metavar="TIME")] = "5m",
    rounds: Annotated[int | None, typer.Option(min=1, help="Of a Swiss one; default: 5", metavar="N")] = None,
    grace: Annotated[str, typer.Option(help="How long players are waited for in a round", metavar="TIME")] = "2m",
    casual: Annotated[bool, typer.Option("--casual", help="Its games are not rated")] = False,
    json: Json = False,
) -> None:
    """Plan a tournament, while the club is open or not; people and programs can enter it until it begins."""

    terms = GameTerms(Game(game), parse_clock(time), not casual)  # type: ignore[arg-type]  # by its name
    count = rounds or (5 if kind == SWISS else 0)
    starts, waiting = read_moment(at), parse_duration(grace)
    with open_club(place, write=True) as connection:
        made = create_tournament(connection, name, kind, terms, count, starts, waiting)
        log_event(connection, f"tournament {made.number} planned", "console")
    text = f"tournament {made.number}, {made.name}, begins at {format_moment(made.starts)}"
    print_result(made.to_json(), text, json)


def read_moment(text: str) -> float:
    """The seconds since 1970 of a moment, or of a time from now."""

    try:
        return time.time() + parse_duration(text)
    except SpecError:
        pass
    try:
        moment = datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise ConfigError(f"{text!r} is not a time: write 2026-11-20T18:00, or 10m from now") from None
    if moment < time.time():
        raise ConfigError(f"{text} has passed: choose a later moment")
    return moment


def format_moment(moment: float) -> str:
    """A moment for people, as clocks are here."""

    return datetime.fromtimestamp(moment).astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")


@club.command()
def tournaments(place: Place, last: Last = 10, json: Json = False) -> None:
    """List the last tournaments with their standings."""

    with open_club(place) as connection:
        loaded = load_tournaments(connection, last=last)
    if json:
        print_json({"tournaments": [tournament.details_json() for tournament in loaded]})
        return
    for tournament in loaded:
        of = (
            f"round {tournament.round} of {tournament.rounds}"
            if tournament.round
            else f"at {format_moment(tournament.starts)}"
        )
        kind = f"{tournament.system}, {tournament.terms.game}"
        print(f"{tournament.number:5d}  {tournament.name}, {kind}: {tournament.state}, {of}")
        for row in tournament.standings_json:
            sums = f"{row['points']:5.1f}  {row['buchholz']:5.1f}  {row['berger']:6.2f}  {row['wins']:3d}"
            print(f"{row['rank']:9d}  {row['name']:20s}  {sums}")


@club.command()
def cancel(place: Place, number: Annotated[int, typer.Argument(help="Of a tournament", metavar="NUMBER")]) -> None:
    """Cancel a tournament that is not over; games that are played go on."""

    with open_club(place, write=True) as connection:
        tournament = find_tournament(connection, number)
        if tournament.state not in (OPEN, PLAYING):
            raise ConfigError(f"tournament {number} is over already: 'awello club tournaments' lists them")
        end_tournament(connection, tournament, CANCELLED)
        log_event(connection, f"tournament {number} cancelled", "console")
    print(f"{tournament.name} is cancelled")


@club.command()
def backup(
    place: Place, out: Annotated[Path, typer.Argument(help="The file to write, which must not exist", metavar="FILE")]
) -> None:
    """Copy a club's database into one file, while the club is open or not."""

    if is_address(place):
        raise ConfigError("a club on PostgreSQL is backed up by pg_dump: see docs/operations.md")
    if not Path(place).exists():
        raise ConfigError(f"there is no club {place!r}")
    if out.exists():
        raise ConfigError(f"{str(out)!r} exists already: choose another file")
    try:
        with draft_path(out) as draft:
            draft.touch(mode=PRIVATE_FILE_MODE)
            with closing(sqlite3.connect(place)) as source, closing(sqlite3.connect(draft)) as target:
                source.backup(target)
    except (sqlite3.Error, OSError) as error:
        raise ConfigError(f"{place!r} cannot be copied to {str(out)!r}: {error}") from None
    print(f"written to {out}")
