"""`awello club`: look after a club's books, while it is open or not."""

import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy import Connection, select

from awello.archive.database import PRIVATE, is_address
from awello.cli.app import Json, app, print_json
from awello.club.accounts import (
    Account,
    change_password,
    close_account,
    find_account,
    hash_password,
    make_token,
    open_account,
)
from awello.club.contest import CANCELLED, OPEN, PLAYING, SWISS, Contest
from awello.club.desk import Desk, note
from awello.club.entries import end_contest, find_contest, load_contests, plan_contest
from awello.club.offers import Terms
from awello.club.schema import accounts as accounts_table
from awello.club.schema import audit as audit_table
from awello.errors import ConfigError, SpecError
from awello.limits import parse_clock, parse_seconds
from awello.rules.game import Game

club = typer.Typer(
    no_args_is_help=True, help="Look after the books of a club: accounts, tokens, tournaments, audit log, backup."
)
app.add_typer(club, name="club")

Place = Annotated[str, typer.Argument(help="The club's file or postgresql://USER@HOST/NAME", metavar="PLACE")]
Name = Annotated[str, typer.Argument(help="The name of an account", metavar="NAME")]


@contextmanager
def books(place: str, new: bool = False) -> Iterator[Desk]:
    """The books of a club; a file that is not there is not made by mistake."""
    if not new and not is_address(place) and not Path(place).exists():
        raise ConfigError(f"there is no club {place!r}: 'awello serve --club {place}' makes one")
    desk = Desk(place)
    try:
        yield desk
    finally:
        desk.close()


def find(desk: Desk, name: str) -> Account:
    """The account of a name."""
    found = desk.read(partial(find_account, name=name))
    if found is None:
        raise ConfigError(f"there is no account {name!r}: 'awello club accounts' lists them")
    return found


@club.command("open")
def open_(place: Place, name: Name) -> None:
    """Open an account; the password is asked for, or read from the first line if there is no terminal."""
    hashed = ask_password()
    with books(place, new=True) as desk:

        def act(connection: Connection) -> Account:
            made = open_account(connection, name, hashed)
            note(connection, "account opened", "console", made.number)
            return made

        made = desk.write(act).result()
    print(f"{made.name} can log in now")


@club.command()
def password(place: Place, name: Name) -> None:
    """Give somebody another password, asked for as by `open`; their browsers must log in again."""
    with books(place) as desk:
        account = find(desk, name)
        if account.program:
            raise ConfigError(f"{account.name} is a program, which has tokens: 'awello club program' makes one")
        hashed = ask_password()

        def act(connection: Connection) -> None:
            change_password(connection, account, hashed)
            note(connection, "password changed", "console", account.number)

        desk.write(act).result()
    print(f"{account.name} has another password now")


def ask_password() -> str:
    """A new password, hashed: typed twice, or the first line if there is no terminal."""
    if sys.stdin.isatty():
        return hash_password(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
    return hash_password(sys.stdin.readline().rstrip("\n"))


@club.command()
def program(place: Place, owner: Name, name: Name) -> None:
    """Register a program of somebody, and print a token for it."""
    with books(place) as desk:
        person = find(desk, owner)

        def act(connection: Connection) -> str:
            made = open_account(connection, name, None, person.number)
            note(connection, f"program {name} registered", "console", person.number)
            return make_token(connection, made, "console")

        print(desk.write(act).result())


@club.command()
def close(place: Place, name: Name) -> None:
    """Close an account and its programs: nobody can log in any more, its games stay."""
    with books(place) as desk:
        account = find(desk, name)

        def act(connection: Connection) -> None:
            close_account(connection, account)
            note(connection, "account closed", "console", account.number)

        desk.write(act).result()
    print(f"{account.name} is closed; their connections end within seconds, a game that goes on runs out of time")


@club.command()
def accounts(place: Place, json: Json = False) -> None:
    """List the accounts."""
    with books(place) as desk:
        columns = accounts_table.c
        asked = select(columns.id, columns.name, columns.program, columns.closed).order_by(columns.id)
        rows = [dict(row._mapping) for row in desk.read(lambda connection: connection.execute(asked).all())]
    if json:
        print_json({"accounts": rows})
        return
    for row in rows:
        kind = "program" if row["program"] else "person"
        print(f"{row['id']:5d}  {row['name']:20s}  {kind}{', closed' if row['closed'] else ''}")


@club.command()
def audit(
    place: Place,
    last: Annotated[int, typer.Option(min=1, help="So many lines", metavar="N")] = 50,
    json: Json = False,
) -> None:
    """Show what was noted last: log-ins, wrong passwords, tokens, accounts."""
    with books(place) as desk:
        asked = select(audit_table).order_by(audit_table.c.id.desc()).limit(last)
        rows = [dict(row._mapping) for row in desk.read(lambda connection: connection.execute(asked).all())][::-1]
    if json:
        print_json({"audit": rows})
        return
    for row in rows:
        moment = datetime.fromtimestamp(row["moment"], UTC).isoformat(" ", "seconds")
        print(f"{moment}  {row['address'] or '-':15s}  {row['account'] or '-':>5}  {printable(row['what'])}")


def printable(text: str) -> str:
    """A text that does nothing to a terminal: whoever tries to log in may call themselves anything."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


@club.command()
def tournament(
    place: Place,
    name: Annotated[str, typer.Argument(help="What it is called", metavar="NAME")],
    at: Annotated[
        str, typer.Option(help="When it begins: 2026-11-20T18:00, here unless it says where; or 10m from now")
    ],
    kind: Annotated[str, typer.Option(help="swiss, round-robin or double-round-robin", metavar="KIND")] = "swiss",
    game: Annotated[str, typer.Option(help="What is played, such as othello or abapa", metavar="GAME")] = "othello",
    time: Annotated[str, typer.Option(help="Of a player for a game, such as 5m or 3m+2s", metavar="TIME")] = "5m",
    rounds: Annotated[int | None, typer.Option(min=1, help="Of a Swiss one; unless said, 5", metavar="N")] = None,
    grace: Annotated[str, typer.Option(help="How long players are waited for in a round", metavar="TIME")] = "2m",
    casual: Annotated[bool, typer.Option("--casual", help="Its games are not rated")] = False,
    json: Json = False,
) -> None:
    """Plan a tournament, while the club is open or not; people and programs can enter it until it begins."""
    games = {str(each): each for each in Game}
    if game not in games:
        raise ConfigError(f"no game {game!r}: choose {', '.join(games)}")
    terms = Terms(games[game], parse_clock(time), not casual)
    count = rounds or (5 if kind == SWISS else 0)
    plan = (name, kind, terms, count, read_moment(at), parse_seconds(grace))

    def act(connection: Connection) -> Contest:
        made = plan_contest(connection, *plan)
        note(connection, f"tournament {made.number} planned", "console")
        return made

    with books(place) as desk:
        made = desk.write(act).result()
    if json:
        print_json(made.view())
        return
    print(f"tournament {made.number}, {made.name}, begins at {format_moment(made.starts)}")


def read_moment(text: str) -> float:
    """The seconds since 1970 of a moment, or of a time from now."""
    try:
        return time.time() + parse_seconds(text)
    except SpecError:
        pass
    try:
        moment = datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise ConfigError(f"{text!r} is no moment: write 2026-11-20T18:00, or 10m from now") from None
    if moment < time.time():
        raise ConfigError(f"{text} has passed: choose a later moment")
    return moment


def format_moment(moment: float) -> str:
    """A moment for people, as clocks are here."""
    return datetime.fromtimestamp(moment).astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")


@club.command()
def tournaments(
    place: Place,
    last: Annotated[int, typer.Option(min=1, help="So many of them", metavar="N")] = 10,
    json: Json = False,
) -> None:
    """List the last tournaments with their standings."""
    with books(place) as desk:
        contests = desk.read(partial(load_contests, last=last))
    if json:
        print_json({"tournaments": [contest.whole() for contest in contests]})
        return
    for contest in contests:
        of = f"round {contest.round} of {contest.rounds}" if contest.round else f"at {format_moment(contest.starts)}"
        print(f"{contest.number:5d}  {contest.name}, {contest.system}, {contest.terms.game}: {contest.state}, {of}")
        for row in contest.table:
            sums = f"{row['points']:5.1f}  {row['buchholz']:5.1f}  {row['berger']:6.2f}  {row['wins']:3d}"
            print(f"{row['place']:9d}  {row['name']:20s}  {sums}")


@club.command()
def cancel(place: Place, number: Annotated[int, typer.Argument(help="Of a tournament", metavar="NUMBER")]) -> None:
    """Cancel a tournament that is not over; games that are played go on."""

    def act(connection: Connection) -> bool:
        contest = find_contest(connection, number)
        note(connection, f"tournament {number} cancelled", "console")
        return contest.state in (OPEN, PLAYING) and end_contest(connection, contest, CANCELLED)

    with books(place) as desk:
        name = desk.read(partial(find_contest, which=number)).name
        if not desk.write(act).result():
            raise ConfigError(f"tournament {number} is over already: 'awello club tournaments' lists them")
    print(f"{name} is cancelled")


@club.command()
def backup(
    place: Place, out: Annotated[Path, typer.Argument(help="The file to write, which must not exist", metavar="FILE")]
) -> None:
    """Copy the books into one file, while the club is open or not."""
    if is_address(place):
        raise ConfigError("a club on PostgreSQL is backed up by pg_dump: see docs/operations.md")
    if not Path(place).exists():
        raise ConfigError(f"there is no club {place!r}")
    if out.exists():
        raise ConfigError(f"{str(out)!r} exists already: choose another file")
    beside = out.with_name(out.name + ".part")
    try:
        beside.touch(mode=PRIVATE)
        with closing(sqlite3.connect(place)) as source, closing(sqlite3.connect(beside)) as target:
            source.backup(target)
        beside.replace(out)
    except (sqlite3.Error, OSError) as error:
        beside.unlink(missing_ok=True)
        raise ConfigError(f"{place!r} cannot be copied to {str(out)!r}: {error}") from None
    print(f"written to {out}")
