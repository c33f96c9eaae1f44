"""Games for the tests of formats: random records and damaged files."""

import random
from collections.abc import Iterator

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from awello import Game, Position, Record

SLOW_EXAMPLES = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
FINITE = st.floats(allow_nan=False, allow_infinity=False)
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=12).filter(lambda name: name != "?")
REASONS = st.sampled_from(["resigned", "ran out of time", "crash: it fell", ""])


def play_random_moves(game: Game, seed: int, length: int, start: Position | None = None) -> Record:
    """Play at most `length` random moves from `start`; default: the start position of the game."""
    rng, moves = random.Random(seed), list[int]()
    first = position = start or Position.start(game)
    while (legal := position.legal_moves()) and len(moves) < length:
        moves.append(rng.choice(legal))
        position = position.after(moves[-1])
    return Record(first, tuple(moves))


@st.composite
def records(draw: st.DrawFn, *games: Game, tags: tuple[str, ...] = ()) -> Record:
    """Generate records with random starts, moves, times, values and tags; some are lost by resignation or on time."""
    game, seed = draw(st.sampled_from(games)), draw(st.integers(0, 999))
    start = play_random_moves(game, seed, draw(st.sampled_from([0, 0, 7, 20]))).final
    record = play_random_moves(game, seed + 1, draw(st.sampled_from([0, 1, 9, 40, 300])), start)
    numbers, rng = [None, *draw(st.lists(FINITE, max_size=4))], random.Random(seed)
    rows = [[rng.choice(numbers) for _ in record.moves] for _ in range(2)]
    kept = [tuple(row) if any(number is not None for number in row) else () for row in rows]
    loser = draw(st.sampled_from([None, None, 0, 1]))
    known = draw(st.dictionaries(st.sampled_from(tags), NAMES)) if tags else {}
    return Record(start, record.moves, kept[0], kept[1], known, loser, "" if loser is None else draw(REASONS))


def damage_content(content: bytes, rng: random.Random) -> bytes:
    """Return the content of a file with some bytes changed, deleted, repeated or inserted."""
    found = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        size = len(found)
        at, end = sorted((rng.randrange(size + 1), rng.randrange(size + 1)))
        end = min(end, at + rng.choice((1, 2, 8, 200)))
        place = rng.randrange(size + 1)
        match rng.randrange(6):
            case 0 if size:
                found[min(at, size - 1)] ^= 1 << rng.randrange(8)
            case 1:
                del found[at:end]
            case 2:
                found[place:place] = found[at:end]
            case 3:
                found[at:end] = rng.randbytes(end - at)
            case 4:
                del found[at:]
            case _:
                found[at:at] = rng.choice(
                    (b"(;", b"]", b"[", b"\\", b"{", b"(", b'"', b"\n", b"\0", b"2 ", b"-", b"\xe9", b";)")
                )
    return bytes(found)


def generate_damaged_files(content: bytes, count: int, seed: int = 0) -> Iterator[bytes]:
    """Generate damaged copies of the content of a file."""
    rng = random.Random(seed)
    return (damage_content(content, rng) for _ in range(count))
