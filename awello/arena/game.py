"""The game loop between two players, for the terminal, matches and tournaments."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from awello.errors import IllegalMoveError, SpecError
from awello.limits import Clock
from awello.players.player import Choice, Forfeit, Player, Resignation, TakeBack
from awello.position import Position
from awello.record import Record
from awello.rules.game import PASS

OUT_OF_TIME = "ran out of time"

MoveCallback = Callable[[Position, Choice, Position], None]
"""Called after each move with the position before it, the choice and the position after it."""


def play_game(
    players: Sequence[Player],
    start: Position,
    opening: Sequence[int] = (),
    clock: Clock | None = None,
    on_move: MoveCallback = lambda before, choice, after: None,
) -> Record:
    """Play from the end of the opening until the rules, the clock or a player ends the game.

    `players` are the first and the second player; `begin` must have been called on both.  Passes are played without
    calling a player; passes and opening moves take no time.
    """
    try:
        return _play_loop(players, start, opening, clock or Clock(), on_move)
    finally:
        for player in players:
            player.end()


def learn_from_game(players: Sequence[Player], record: Record) -> tuple[dict[str, int], dict[str, int]]:
    """Let both players learn from a finished game; return the counts that `Player.learn` returned for each."""
    names = {side: str(player) for side, player in zip(record.start.game.sides, players, strict=True)}
    finished = replace(record, tags={**names, **record.tags})
    first, second = (dict(player.learn(finished, side)) for side, player in enumerate(players))
    return first, second


def _play_loop(
    players: Sequence[Player], start: Position, opening: Sequence[int], clock: Clock, on_move: MoveCallback
) -> Record:
    """Request moves, validate them and update the clocks until the game ends."""
    positions = [start]
    for move in opening:
        positions.append(positions[-1].play(move))
    moves, seconds = list(opening), [0.0] * len(opening)
    clocks = [clock] * 2
    loser, reason = None, ""
    while loser is None and not positions[-1].over:
        position = positions[-1]
        player = players[position.side]
        started = time.perf_counter()
        try:
            passes = position.legal_moves() == (PASS,)
            if not passes:
                player.follow(Record(start, tuple(moves)))
            choice = Choice(PASS) if passes else player.choose(position, clocks[position.side])
            if not isinstance(choice, Choice):
                raise SpecError(f"choose() of player {player} must return a Choice, not {choice!r}")
            after = position.play(choice.move)
        except IllegalMoveError as error:
            raise IllegalMoveError(f"player {player} chose an illegal move: {error}") from None
        except Resignation:
            loser, reason = position.side, "resigned"
            break
        except Forfeit as forfeit:
            loser, reason = position.side, OUT_OF_TIME if forfeit.reason == "time" else str(forfeit)
            break
        except TakeBack:
            ply = _find_last_turn(positions, moves, len(opening))
            del positions[ply + 1 :], moves[ply:], seconds[ply:]
            continue
        elapsed = 0.0 if passes else time.perf_counter() - started
        clocks[position.side] = clocks[position.side].spend(elapsed)
        if clocks[position.side].seconds < 0:
            loser, reason = position.side, OUT_OF_TIME
            break
        positions.append(after)
        moves.append(choice.move)
        seconds.append(elapsed)
        on_move(position, choice, after)
    return Record(start, tuple(moves), tuple(seconds), loser=loser, reason=reason)


def _find_last_turn(positions: Sequence[Position], moves: Sequence[int], earliest: int) -> int:
    """Return the ply of the mover's last move after the opening, not counting passes; if none, the current ply."""
    now = len(moves)
    turns = [ply for ply in range(earliest, now) if positions[ply].side == positions[now].side and moves[ply] != PASS]
    return turns[-1] if turns else now
