"""Learn what patterns are worth from played games, by stochastic gradient descent.

Every position of a finished game is an example: its patterns should sum up to the final score for the mover.  Stages
are learnt from the first to the last, each beginning with the weights of the one before it, and each looks a square
beyond its own bounds, so that neighbours agree.  Half of the examples are shown mirrored.
"""

import gzip
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from awello.bits import bit, flips_of, index_of, moves_of, popcount, rest_of
from awello.errors import ConfigError
from awello.evaluate.patterns import CENTRES, FIRST, INDICES, STEPS, UNIT, VIEWS, WEIGHTS, WIDTH
from awello.kernel import U, kernel
from awello.rules.othello import BLACK_START, SQUARES8, WHITE_START, mirror, score

STAGES = 25
LEAST = FIRST - 1  # the fewest empty squares of an example
MOVES = 60
NO_MOVE = 64
PASSES_FIRST, PASSES = 14, 9  # times that the examples of a stage are shown
RATE, LAST_RATE = 0.004, 0.0002
HELD_OUT = 0.02  # share of the games kept aside to measure the error
LARGEST = 32_000
ZERO_AT = np.repeat(np.array(CENTRES, np.int64), VIEWS)
BLACK, WHITE = U(BLACK_START), U(WHITE_START)

Words = npt.NDArray[np.uint64]
Games = npt.NDArray[np.uint8]


# ---- games: 60 squares each, 64 where there is none, passes left out ------------------------------------------------
def read_games(folder: Path) -> Games:
    """All games of a folder: WTHOR files below `wthor`, texts of transcripts below `games`."""
    wthor = [_read_wthor(file) for file in sorted(folder.glob("wthor/*.wtb"))]
    texts = [_read_texts(file) for file in sorted(folder.glob("games/*.gz")) if "csv" not in file.name]
    if not wthor and not texts:
        raise ConfigError(f"no games in {folder}: it needs wthor/*.wtb or games/*.gz")
    return np.concatenate([*wthor, *texts])


def _read_wthor(file: Path) -> Games:
    content = file.read_bytes()
    count = struct.unpack_from("<I", content, 4)[0]
    squares = np.frombuffer(content, np.uint8, 68 * count, 16).reshape(count, 68)[:, 8:].astype(np.int64)
    return np.where(squares > 0, squares // 10 * 8 + squares % 10 - 9, NO_MOVE).astype(np.uint8)


def _read_texts(file: Path) -> Games:
    rows = []
    with gzip.open(file, "rt") as lines:
        for line in lines:
            moves = line.replace(":", " ").split(" ")[0].replace("+", "").replace("-", "").strip()
            letters = np.frombuffer(moves.encode(), np.uint8).astype(np.int64)
            row = np.full(MOVES, NO_MOVE, np.uint8)
            row[: len(letters) // 2] = letters[::2] - ord("a") + 8 * (letters[1::2] - ord("1"))
            rows.append(row)
    return np.array(rows)


# ---- examples -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Examples:
    """Positions with the final score for the mover, and the number of their game."""

    own: Words
    opp: Words
    scores: npt.NDArray[np.int8]
    game: npt.NDArray[np.int32]
    empties: npt.NDArray[np.int8]


@kernel("int64(uint8[:, ::1], uint64[::1], uint64[::1], int8[::1], int32[::1])")
def replay(games: Games, owns: Words, opps: Words, scores: npt.NDArray[np.int8], numbers: npt.NDArray[np.int32]) -> int:
    """Write down all positions of the finished games; how many there are."""
    count = 0
    for game in range(games.shape[0]):
        own, opp, black, first = BLACK, WHITE, True, count
        for move in range(MOVES):
            square = int(games[game, move])
            if square == NO_MOVE:
                break
            if moves_of(own, opp) == U(0):
                own, opp, black = opp, own, not black
            if 64 - popcount(own | opp) >= LEAST:
                owns[count], opps[count], numbers[count] = own, opp, game
                scores[count] = 1 if black else -1
                count += 1
            flips = flips_of(own, opp, square)
            own, opp, black = opp ^ flips, own | flips | bit(square), not black
        if moves_of(own, opp) != U(0) or moves_of(opp, own) != U(0):
            count = first
            continue
        final = score(own, opp, SQUARES8)
        for example in range(first, count):
            scores[example] = final if (scores[example] == 1) == black else -final
    return count


def collect(games: Games) -> Examples:
    """The examples of games."""
    size = len(games) * (MOVES - LEAST + 1)
    own, opp = np.empty(size, np.uint64), np.empty(size, np.uint64)
    scores, numbers = np.empty(size, np.int8), np.empty(size, np.int32)
    count = replay(games, own, opp, scores, numbers)
    empties = (64 - np.bitwise_count(own[:count] | opp[:count])).astype(np.int8)
    return Examples(own[:count], opp[:count], scores[:count], numbers[:count], empties)


# ---- learning -------------------------------------------------------------------------------------------------------
@kernel("void(uint64, uint64, int64[::1])")
def places_of(own: U, opp: U, places: npt.NDArray[np.int64]) -> None:
    """The places of a board's 48 weights in the table of a stage."""
    for lane in range(INDICES):
        places[lane] = ZERO_AT[lane]
    while own != U(0):
        square = index_of(own)
        own = rest_of(own)
        for lane in range(INDICES):
            places[lane] += STEPS[square, lane]
    while opp != U(0):
        square = index_of(opp)
        opp = rest_of(opp)
        for lane in range(INDICES):
            places[lane] -= STEPS[square, lane]


@kernel("float64(uint64[::1], uint64[::1], int8[::1], int64[::1], float32[::1], float32, int64)")
def show(
    owns: Words,
    opps: Words,
    scores: npt.NDArray[np.int8],
    order: npt.NDArray[np.int64],
    weights: npt.NDArray[np.float32],
    rate: np.float32,
    turn: int,
) -> float:
    """Show examples in an order and move their weights towards the score; the mean square error before each step."""
    places, total = np.empty(INDICES, np.int64), 0.0
    for number in range(order.size):
        example = order[number]
        own, opp = owns[example], opps[example]
        if (number + turn) & 1:
            own, opp = mirror(own), mirror(opp)
        places_of(own, opp, places)
        value = np.float32(0)
        for lane in range(INDICES):
            value += weights[places[lane]]
        miss = np.float32(scores[example]) - value
        total += float(miss * miss)
        for lane in range(INDICES):
            weights[places[lane]] += rate * miss
    return total / max(1, order.size)


@dataclass(frozen=True)
class Fitted:
    """A stage that has been learnt."""

    stage: int
    examples: int
    error: float
    """The root of the mean square error on games that were not shown, in discs."""
    weights: npt.NDArray[np.int16]


def fit(examples: Examples, step: Callable[[], object], seed: int = 1) -> Iterator[Fitted]:
    """Learn stage after stage, the first of the game first."""
    chance = np.random.default_rng(seed)
    held = chance.random(int(examples.game.max()) + 1)[examples.game] < HELD_OUT
    weights, data = np.zeros(WEIGHTS, np.float32), (examples.own, examples.opp, examples.scores)
    for stage in reversed(range(STAGES)):
        low = FIRST + WIDTH * stage
        near = (examples.empties >= low - 1) & (examples.empties <= low + WIDTH)
        shown = np.flatnonzero(near & ~held)
        kept = np.flatnonzero((examples.empties >= low) & (examples.empties < low + WIDTH) & held)
        passes = PASSES_FIRST if stage == STAGES - 1 else PASSES
        for turn in range(passes):
            rate = RATE * (1 - turn / passes) ** 1.5 + LAST_RATE
            show(*data, chance.permutation(shown), weights, np.float32(rate), turn)
            step()
        error = show(*data, kept, weights, np.float32(0), 0) ** 0.5
        whole = np.clip(np.round(weights * UNIT), -LARGEST, LARGEST).astype(np.int16)
        yield Fitted(stage, len(shown), error, whole)
