"""`awello club`: look after a club's books, while it is open or not."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from awello.cli.app import Json, app, print_json
from awello.errors import ConfigError

if TYPE_CHECKING:
    from awello.club.accounts import Account
    from awello.club.desk import Desk

club = typer.Typer(no_args_is_help=True, help="Look after the books of a club: accounts, tokens, audit log, backup.")
app.add_typer(club, name="club")

Place = Annotated[str, typer.Argument(help="The club's file or postgresql://USER@HOST/NAME", metavar="PLACE")]
Name = Annotated[str, typer.Argument(help="The name of an account", metavar="NAME")]


@contextmanager
def books(place: str, new: bool = False) -> Iterator["Desk"]:
    """The books of a club; a file that is not there is not made by mistake."""
    try:
        from awello.club.desk import Desk
    except ImportError:
        raise ConfigError("a club needs an extra: pip install 'awello[club]'") from None
    if not new and "://" not in place and not Path(place).exists():
        raise ConfigError(f"there is no club {place!r}: 'awello serve --club {place}' makes one")
    desk = Desk(place)
    try:
        yield desk
    finally:
        desk.close()


def find(desk: "Desk", name: str) -> "Account":
    """The account of a name."""
    from functools import partial

    from awello.club.accounts import find_account

    found = desk.read(partial(find_account, name=name))
    if found is None:
        raise ConfigError(f"there is no account {name!r}: 'awello club accounts' lists them")
    return found


@club.command("open")
def open_(place: Place, name: Name) -> None:
    """Open an account; the password is asked for, or read from the first line if there is no terminal."""
    from awello.club.accounts import hash_password, open_account
    from awello.club.desk import note

    if sys.stdin.isatty():
        password = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    else:
        password = sys.stdin.readline().rstrip("\n")
    hashed = hash_password(password)
    with books(place, new=True) as desk:
        made = desk.write(lambda connection: open_account(connection, name, hashed)).result()
        desk.write(lambda connection: note(connection, "account opened", "console", made.number)).result()
    print(f"{made.name} can log in now")


@club.command()
def program(place: Place, owner: Name, name: Name) -> None:
    """Register a program of somebody, and print a token for it."""
    from awello.club.accounts import make_token, open_account
    from awello.club.desk import note

    with books(place) as desk:
        person = find(desk, owner)

        def act(connection: object) -> str:
            made = open_account(connection, name, None, person.number)  # type: ignore[arg-type]
            note(connection, f"program {name} registered", "console", person.number)  # type: ignore[arg-type]
            return make_token(connection, made, "console")  # type: ignore[arg-type]

        print(desk.write(act).result())


@club.command()
def close(place: Place, name: Name) -> None:
    """Close an account: nobody can log in any more, its games stay."""
    from awello.club.accounts import close_account
    from awello.club.desk import note

    with books(place) as desk:
        account = find(desk, name)
        desk.write(lambda connection: close_account(connection, account)).result()
        desk.write(lambda connection: note(connection, "account closed", "console", account.number)).result()
    print(f"{account.name} is closed; who is connected stays so until the club opens again")


@club.command()
def accounts(place: Place, json: Json = False) -> None:
    """List the accounts."""
    from sqlalchemy import select

    from awello.club.schema import accounts as table

    with books(place) as desk:
        asked = select(table.c.id, table.c.name, table.c.program, table.c.closed).order_by(table.c.id)
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
    from datetime import UTC, datetime

    from sqlalchemy import select

    from awello.club.schema import audit as table

    with books(place) as desk:
        asked = select(table).order_by(table.c.id.desc()).limit(last)
        rows = [dict(row._mapping) for row in desk.read(lambda connection: connection.execute(asked).all())][::-1]
    if json:
        print_json({"audit": rows})
        return
    for row in rows:
        moment = datetime.fromtimestamp(row["moment"], UTC).isoformat(" ", "seconds")
        print(f"{moment}  {row['address'] or '-':15s}  {row['account'] or '-':>5}  {row['what']}")


@club.command()
def backup(
    place: Place, out: Annotated[Path, typer.Argument(help="The file to write, which must not exist", metavar="FILE")]
) -> None:
    """Copy the books into one file, while the club is open or not."""
    import sqlite3

    if "://" in place:
        raise ConfigError("a club on PostgreSQL is backed up by pg_dump: see docs/operations.md")
    if not Path(place).exists():
        raise ConfigError(f"there is no club {place!r}")
    if out.exists():
        raise ConfigError(f"{str(out)!r} exists already: choose another file")
    beside = out.with_name(out.name + ".part")
    source, target = sqlite3.connect(place), sqlite3.connect(beside)
    try:
        source.backup(target)
    finally:
        target.close()
        source.close()
    beside.replace(out)
    print(f"written to {out}")
