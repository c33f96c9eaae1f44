"""The positions of rated games in progress, which must not be analysed on the page.

For each game, the index contains the current position, the previous position and the positions after each legal move,
since a player who cheats would analyse one of these.  Symmetric positions have the same key, and a lookup takes
microseconds.  The first plies of a game are opening theory and are left out.  Captured seeds are ignored: the best move
does not depend on them.
"""

from collections import Counter

import numpy as np

from awello.club.game_state import GameState
from awello.kernel import U
from awello.position import Position
from awello.record import Record, replay, replay_words
from awello.rules.game import PASS, write_canonical_children

MIN_INDEXED_PLY = 10  # the first ply that is indexed
MAX_LEGAL_MOVES = 64

Key = tuple[int, int, int]


class RatedPositions:
    """An index of the positions of all rated games in progress."""

    def __init__(self) -> None:
        self._keys: Counter[Key] = Counter()
        self._keys_by_game: dict[int, list[Key]] = {}

    def __contains__(self, position: Position) -> bool:
        return bool(self._keys) and _key(position) in self._keys

    def contains_any(self, record: Record) -> bool:
        """Return whether any position of a record is in the index."""
        words = replay_words(record.start, record.moves).tolist() if self._keys else []
        return any(Position(record.start.game, own, opp) in self for own, opp in words)

    def update(self, state: GameState) -> None:
        """Replace the keys of a game with those of its current state; a game that has ended has no keys."""
        old = self._keys_by_game.pop(state.number, [])
        for key in old:
            self._keys[key] -= 1
            if not self._keys[key]:
                del self._keys[key]
        if state.rated and not state.over and len(state.moves) >= MIN_INDEXED_PLY:
            keys = self._keys_by_game[state.number] = _keys_of(state, old)
            self._keys.update(keys)


def _key(position: Position) -> Key:
    (own, opp), adapter = position.canonical(), position.game.adapter
    return adapter.size, own & adapter.position_mask, opp & adapter.position_mask


def _keys_of(state: GameState, old: list[Key]) -> list[Key]:
    """Return the keys of the current position, the previous position and the positions after each legal move.

    `old` contains the keys of the game before this update; if it is empty, the moves are replayed to find the previous
    position.  After a forced pass, the position before the pass is included too.
    """
    position = state.position
    current = _key(position)
    if old:
        before = old[1] if old[0] == current else old[0]
    else:
        before = _key(replay(Position.start(state.game), state.moves[:-1])[1])
    words = np.empty((MAX_LEGAL_MOVES, 2), np.uint64)
    count = write_canonical_children(int(state.game), U(position.own), U(position.opp), words)
    adapter = state.game.adapter
    children = [(adapter.size, own, opp) for own, opp in (words[:count] & U(adapter.position_mask)).tolist()]
    before_pass = [_key(Position(state.game, position.opp, position.own))] if state.moves[-1] == PASS else []
    return [current, before, *children, *before_pass]
