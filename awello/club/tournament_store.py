"""Tournaments in the database; each function runs in one transaction and checks the stored state before a change."""

import time
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, delete, func, insert, or_, select, update

from awello.club.accounts import Account, row_to_account
from awello.club.fair_play import is_same_person
from awello.club.game_state import ClubError, GameState
from awello.club.offers import GameTerms
from awello.club.pairing import PlayerPair, count_rounds_without_repeats
from awello.club.rating import pool_of
from awello.club.schema import accounts, games, tournaments
from awello.club.schema import entrants as entrant_table
from awello.club.schema import pairings as pairing_table
from awello.club.stored_games import load_rating, row_to_game_state
from awello.club.tournament import (
    CANCELLED,
    DOUBLE_ROUND_ROBIN,
    ENDED,
    OPEN,
    PLAYING,
    SWISS,
    SYSTEMS,
    ClubTournament,
    TournamentPairing,
)
from awello.errors import join_choices
from awello.limits import Clock
from awello.rules.game import Game

MAX_ROUNDS, MAX_ENTRANTS = 30, 128
MAX_TOURNAMENTS_ENTERED = 8  # limit per account on entries in unfinished tournaments
MAX_NAME_CHARS, MAX_GRACE_SECONDS = 40, 3600.0


# ---- reading ---------------------------------------------------------------------------------------------------------
def load_tournaments(connection: Connection, *conditions: Any, last: int | None = None) -> list[ClubTournament]:
    """Load the tournaments that meet the conditions, oldest first; with `last`, only the latest `last` tournaments."""
    rows = connection.execute(
        select(tournaments).where(*conditions).order_by(tournaments.c.id.desc()).limit(last)
    ).all()
    numbers = [row.id for row in rows]
    entrants: defaultdict[int, list[Account]] = defaultdict(list)
    joined = select(entrant_table.c.tournament, accounts).join(accounts, accounts.c.id == entrant_table.c.account)
    entered = joined.where(entrant_table.c.tournament.in_(numbers))
    for row in connection.execute(entered.order_by(entrant_table.c.seed, entrant_table.c.entered, accounts.c.id)):
        entrants[row.tournament].append(row_to_account(row))
    pairings: defaultdict[int, list[TournamentPairing]] = defaultdict(list)
    paired = select(pairing_table).where(pairing_table.c.tournament.in_(numbers))
    for row in connection.execute(paired.order_by(pairing_table.c.round, pairing_table.c.board)):
        pairings[row.tournament].append(_tournament_pairing(row))
    return [_tournament(row, entrants[row.id], pairings[row.id]) for row in reversed(rows)]


def _tournament_pairing(row: Any) -> TournamentPairing:
    decided, points = row.first_points is not None, (row.first_points or 0.0, row.second_points or 0.0)
    return TournamentPairing(row.first, row.second, points, row.forfeit, row.round, row.board, row.game, decided)


def _tournament(row: Any, entrants: Sequence[Account], pairings: Sequence[TournamentPairing]) -> ClubTournament:
    terms = GameTerms(Game(row.variant), Clock(row.clock, row.increment), row.rated, tournament=row.id)
    state = row.rounds, row.starts, row.grace, row.state, row.round
    return ClubTournament(row.id, row.name, row.system, terms, *state, tuple(entrants), tuple(pairings))


def load_unfinished(connection: Connection, known: Collection[int] = ()) -> list[ClubTournament]:
    """Load the unfinished tournaments and, even if they have ended, those whose numbers are in `known`."""
    return load_tournaments(connection, or_(tournaments.c.state.in_((OPEN, PLAYING)), tournaments.c.id.in_(known)))


def _unknown_tournament_error(key: int | str) -> ClubError:
    message = f"there is no tournament {key}: choose one from 'awello club tournaments' or the club's page"
    return ClubError("unknown_tournament", message, tournament=key)


def find_tournament(connection: Connection, key: int | str) -> ClubTournament:
    """Load the tournament with this number, or the latest with this name; raise `ClubError` if there is none."""
    # PostgreSQL refuses text with NUL characters, and the club would report its database as unavailable.
    if isinstance(key, str) and not key.isprintable():
        raise _unknown_tournament_error(repr(key))
    named = func.lower(tournaments.c.name) == str(key).lower()
    found = load_tournaments(connection, tournaments.c.id == key if isinstance(key, int) else named, last=1)
    if not found:
        raise _unknown_tournament_error(key)
    return found[0]


# ---- creating and entering -------------------------------------------------------------------------------------------
def create_tournament(
    connection: Connection, name: str, system: str, terms: GameTerms, rounds: int, starts: float, grace: float
) -> ClubTournament:
    """Create a tournament that players can enter until it starts."""
    if not (1 < len(name) <= MAX_NAME_CHARS and name.isprintable() and name[0].isalpha() and name == name.strip()):
        raise ClubError(
            "invalid_tournament_name",
            f"the name of a tournament must have 2 to {MAX_NAME_CHARS} printable characters, start with a letter and "
            "not end with a space: choose another name",
            min=2,
            max=MAX_NAME_CHARS,
        )
    if system not in SYSTEMS:
        message = f"{system!r} is not a tournament system: choose {join_choices(SYSTEMS)}"
        raise ClubError("unknown_system", message, system=system)
    if not (1 <= rounds <= MAX_ROUNDS if system == SWISS else rounds == 0):
        message = (
            f"the system {system} does not allow rounds={rounds}: choose 1 to {MAX_ROUNDS} rounds for a Swiss "
            "tournament; omit the number of rounds for a round robin"
        )
        raise ClubError("invalid_rounds", message, max=MAX_ROUNDS)
    if not 0 <= grace <= MAX_GRACE_SECONDS:
        minutes = round(MAX_GRACE_SECONDS / 60)
        message = f"the grace period of a round must be between 0 and {minutes} minutes: choose another one"
        raise ClubError("invalid_grace", message, minutes=minutes)
    terms.validate()
    if any(tournament.name.lower() == name.lower() for tournament in load_unfinished(connection)):
        message = f"there is already an unfinished tournament named {name}: choose another name"
        raise ClubError("tournament_name_taken", message, name=name)
    control = {"clock": terms.control.seconds, "increment": terms.control.increment, "rated": terms.rated}
    values = {"name": name, "system": system, "variant": int(terms.game), **control, "rounds": rounds}
    added = connection.execute(insert(tournaments).values(**values, starts=starts, grace=grace, state=OPEN, round=0))
    assert added.inserted_primary_key is not None
    return find_tournament(connection, added.inserted_primary_key[0])


def enter_tournament(
    connection: Connection, key: int | str, account: Account, client_network: str | None = None
) -> ClubTournament:
    """Enter a tournament; entering again has no effect.

    `client_network` is the client's IPv4 address or IPv6 /64 network; None if the client runs on the server's machine.
    """
    tournament = find_tournament(connection, key)
    if account.id in tournament.entrants_by_id:
        return tournament
    _require_open(tournament)
    _check_person(connection, tournament, account, client_network)
    if len(tournament.entrants) >= MAX_ENTRANTS:
        message = (
            f"tournament {tournament.name} is full: it already has {MAX_ENTRANTS} players; enter another tournament"
        )
        raise ClubError("tournament_full", message, name=tournament.name, limit=MAX_ENTRANTS)
    mine = select(entrant_table.c.tournament).join(tournaments, tournaments.c.id == entrant_table.c.tournament)
    unfinished = mine.where(entrant_table.c.account == account.id, tournaments.c.state.in_((OPEN, PLAYING)))
    if len(connection.execute(unfinished).all()) >= MAX_TOURNAMENTS_ENTERED:
        message = (
            f"{account.name} has already entered {MAX_TOURNAMENTS_ENTERED} tournaments that have not ended: "
            "withdraw from one before it starts, or wait until one ends"
        )
        raise ClubError("too_many_tournaments", message, name=account.name, limit=MAX_TOURNAMENTS_ENTERED)
    values = {"tournament": tournament.number, "account": account.id, "client_network": client_network}
    connection.execute(insert(entrant_table).values(**values, entered=time.time()))
    return find_tournament(connection, tournament.number)


def _check_person(
    connection: Connection, tournament: ClubTournament, account: Account, client_network: str | None
) -> None:
    """Raise `ClubError` if the person behind an account has already entered a tournament with another account.

    Bots of one owner, a bot and its owner, and accounts on one client network count as one person.
    """
    for person in tournament.entrants:
        if is_same_person(person, account):
            message = (
                f"{person.name} has already entered {tournament.name}, and {account.name} belongs to the same person: "
                f"withdraw {person.name} first"
            )
            raise ClubError(
                "same_person_entered", message, entered=person.name, tournament=tournament.name, name=account.name
            )
    taken = entrant_table.c.tournament == tournament.number, entrant_table.c.client_network == client_network
    if client_network is not None and connection.execute(select(entrant_table.c.account).where(*taken)).first():
        message = (
            f"an account on your network has already entered {tournament.name}, and only one entry per network is "
            "allowed: withdraw that account, or enter another tournament"
        )
        raise ClubError("same_network_entered", message, tournament=tournament.name)


def withdraw_from_tournament(connection: Connection, key: int | str, account: Account) -> ClubTournament:
    """Withdraw from a tournament that has not started."""
    tournament = find_tournament(connection, key)
    _require_open(tournament)
    mine = entrant_table.c.tournament == tournament.number, entrant_table.c.account == account.id
    connection.execute(delete(entrant_table).where(*mine))
    return find_tournament(connection, tournament.number)


def _require_open(tournament: ClubTournament) -> None:
    if tournament.state == OPEN:
        return
    name, limit = tournament.name, "players can enter or withdraw only before the start"
    if tournament.state == PLAYING:
        raise ClubError("tournament_started", f"tournament {name} has started: {limit}", name=name)
    if tournament.state == ENDED:
        raise ClubError("tournament_ended", f"tournament {name} has ended: {limit}", name=name)
    message = f"tournament {name} has been cancelled: players can no longer enter or withdraw"
    raise ClubError("tournament_cancelled", message, name=name)


# ---- progress --------------------------------------------------------------------------------------------------------
def begin_tournament(connection: Connection, number: int) -> None:
    """Start a tournament: seed the entrants by rating and set the number of rounds.

    Entrants whose accounts are closed are removed.  If fewer than two entrants are left, the tournament is
    cancelled.
    """
    tournament = find_tournament(connection, number)
    if tournament.state != OPEN:
        return
    closed = select(accounts.c.id).where(accounts.c.closed)
    entered = entrant_table.c.tournament == number
    connection.execute(delete(entrant_table).where(entered, entrant_table.c.account.in_(closed)))
    connection.execute(update(entrant_table).where(entered).values(client_network=None))  # no longer needed
    entrants, pool = (
        find_tournament(connection, number).entrants,
        pool_of(tournament.terms.game, tournament.terms.control),
    )
    order = sorted(entrants, key=lambda person: -load_rating(connection, person.id, pool).mean)
    for seed, person in enumerate(order, 1):
        mine = entered, entrant_table.c.account == person.id
        connection.execute(update(entrant_table).where(*mine).values(seed=seed))
    max_rounds = count_rounds_without_repeats(len(order))
    rounds = (
        min(tournament.rounds, max_rounds)
        if tournament.system == SWISS
        else max_rounds * (1 + (tournament.system == DOUBLE_ROUND_ROBIN))
    )
    _set(connection, tournament, state=PLAYING if len(order) > 1 else CANCELLED, rounds=rounds)


def begin_round(connection: Connection, tournament: ClubTournament, pairings: Sequence[PlayerPair]) -> None:
    """Store the pairings of the next round, with the point for a bye."""
    if not _set(connection, tournament, round=tournament.round + 1):
        return
    for board, (first, second) in enumerate(pairings, 1):
        bye = {"first_points": 1.0, "second_points": 0.0} if second is None else {}
        values = {"tournament": tournament.number, "round": tournament.round + 1, "board": board, "forfeit": False}
        connection.execute(insert(pairing_table).values(**values, first=first, second=second, **bye))


def end_tournament(connection: Connection, tournament: ClubTournament, state: str = ENDED) -> bool:
    """End or cancel a tournament; return False if its state or round has changed in the meantime."""
    return _set(connection, tournament, state=state)


def assign_game(
    connection: Connection, state: GameState, tournament: ClubTournament, pairing: TournamentPairing
) -> None:
    """Store the number of a new game in its pairing.

    Raises `ClubError` if the pairing already has a game or a result, or if the tournament is not in progress; the
    transaction, which also creates the game, is then rolled back.
    """
    bound = connection.execute(
        update(pairing_table).where(*_not_started(tournament, pairing)).values(game=state.number)
    )
    if not bound.rowcount or find_tournament(connection, tournament.number).state != PLAYING:
        message = (
            f"the game on board {pairing.board} of round {pairing.round} cannot start: it has already started or been "
            "decided, or the tournament is no longer in progress"
        )
        raise ClubError("pairing_closed", message, board=pairing.board, round=pairing.round)


def record_forfeit(
    connection: Connection, tournament: ClubTournament, pairing: TournamentPairing, online: Collection[int]
) -> None:
    """Decide a pairing by forfeit: a player who is online wins; if neither player is online, both lose."""
    points = {"first_points": float(pairing.first in online), "second_points": float(pairing.second in online)}
    connection.execute(update(pairing_table).where(*_not_started(tournament, pairing)).values(**points, forfeit=True))


def record_results(connection: Connection, tournament: ClubTournament) -> None:
    """Store the results of the tournament's games that have ended."""
    played = select(games).join(pairing_table, pairing_table.c.game == games.c.id)
    ended = played.where(
        pairing_table.c.tournament == tournament.number, pairing_table.c.first_points.is_(None), games.c.over
    )
    for row in connection.execute(ended).all():
        winner = row_to_game_state(row).winner
        first = 0.5 if winner is None else 1.0 - winner
        points = {"first_points": first, "second_points": 1.0 - first}
        connection.execute(update(pairing_table).where(pairing_table.c.game == row.id).values(**points))


def _not_started(tournament: ClubTournament, pairing: TournamentPairing) -> tuple[Any, ...]:
    """Return the conditions that select a pairing only if it has neither a game nor a result."""
    return (
        pairing_table.c.tournament == tournament.number,
        pairing_table.c.round == pairing.round,
        pairing_table.c.board == pairing.board,
        pairing_table.c.game.is_(None),
        pairing_table.c.first_points.is_(None),
    )


def _set(connection: Connection, tournament: ClubTournament, **values: Any) -> bool:
    """Update a tournament unless its stored state or round has changed meanwhile; return whether it was updated."""
    same = tournaments.c.state == tournament.state, tournaments.c.round == tournament.round
    changed = update(tournaments).where(tournaments.c.id == tournament.number, *same).values(**values)
    return connection.execute(changed).rowcount > 0
