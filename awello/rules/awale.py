"""The rules of Awalé on two words: the mover's row and the opponent's, one byte per pit, the captured seeds in byte 6.

Sowing adds a table entry to each row.  Captures are found without a loop: the flag of every pit with 2 or 3 seeds is
cleared, and one instruction counts the consecutive cleared flags, from the last pit sown backwards.  The variants
differ in grand slams (captures of all the opponent's seeds), feeding, repetition and the end of the game:

| variant    | grand slam           | opponent without seeds  | repetition: remaining seeds | ends early at    |
|------------|----------------------|-------------------------|-----------------------------|------------------|
| abapa      | captures nothing     | must be fed             | each player keeps their row | 25 captured      |
| tournament | captures nothing     | must be fed             | count for neither player    | 25, or 6 in play |
| romein     | illegal if avoidable | must be fed if possible | split evenly                | never            |
"""

import re
from dataclasses import dataclass

import numpy as np

from awello.bits import bit, bit_scan, clear_lowest_bit, leading_zeros, to_signed
from awello.errors import NotationError, join_choices
from awello.kernel import U, kernel

ABAPA, TOURNAMENT, ROMEIN = 3, 4, 5  # the ids of the games in kernels, see `rules.game`
TOTAL_SEEDS, MAJORITY_SEEDS, EARLY_END_SEEDS = 48, 25, 6

ROW_MASK = U(0xFFFFFFFFFFFF)  # the six pits of a row, without the captured seeds
BYTE_ONES = U(0x010101010101)
PIT_FLAGS = U(0x808080808080)  # the top bit of each pit, free because a pit holds at most 48
AT_LEAST_1 = U(0x7F7F7F7F7F7F)  # added to a row, it sets the flag of every pit that is not empty
REACHES_OTHER_ROW = U(0x7F7E7D7C7B7A)  # added to a row, it sets the flag of every pit whose seeds reach the other row
GATHER_FLAGS = U(0x0000040810204080)  # multiplying by it gathers the six flags in bits 49 to 54
# For moves that end in the mover's row, `find_captured` uses byte 6 as a last pit, which never counts as holding 2 or 3
# seeds.
TWOS_7_PITS = U(0x02020202020202)
EVEN_7_PITS = U(0x00FEFEFEFEFEFE)
AT_LEAST_1_7_PITS = U(0x7F7F7F7F7F7F7F)
FLAGS_7_PITS = U(0x80808080808080)
BYTE_MASK = U(0xFF)
ALL_BITS = U(0xFFFFFFFFFFFFFFFF)
WINNING_WORD = U(MAJORITY_SEEDS << 48)
START_ROW = 0x040404040404


# ---- rules (kernels) ------------------------------------------------------------------------------------------------
def _build_sowing_tables() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tabulate the seeds that each row gains and the argument `last` of `find_captured`; index: 64 * pit + seeds."""
    own, opp, last = (np.zeros(6 * 64, np.uint64) for _ in range(3))
    for pit in range(6):
        for seeds in range(64):
            gains = [0] * 12
            path = [(pit + step) % 12 for step in range(1, 12)]  # the origin is skipped
            for seed in range(seeds):
                gains[path[seed % 11]] += 1
            end = path[(seeds - 1) % 11]
            own[64 * pit + seeds] = sum(gain << 8 * i for i, gain in enumerate(gains[:6]))
            opp[64 * pit + seeds] = sum(gain << 8 * i for i, gain in enumerate(gains[6:]))
            last[64 * pit + seeds] = 56 - 8 * (end - 6 if seeds and end >= 6 else 6)
    return own, opp, last


SOW_OWN, SOW_OPP, LAST_SHIFT = _build_sowing_tables()


@kernel("int64(uint64)")
def count_seeds(row: U) -> int:
    """Return the number of seeds in the six pits of a row."""
    return to_signed((row * BYTE_ONES) >> U(40) & BYTE_MASK)


@kernel("uint64(uint64, uint64, boolean)")
def find_captured(row: U, last: U, grand_slams: bool) -> U:
    """Return the opponent's row reduced to the captured pits, with their seeds after sowing.

    `last` is the left shift that moves the last pit sown to the top byte; `grand_slams` allows capturing all seeds.
    """
    # the flags of the pits that hold neither 2 nor 3 seeds
    safe = (((row & EVEN_7_PITS) ^ TWOS_7_PITS) + AT_LEAST_1_7_PITS) & FLAGS_7_PITS
    run = leading_zeros(safe << last | U(1) << (last - U(1)))  # eight times the number of captured pits
    captured = row & (~(ALL_BITS >> run) >> last)
    return U(0) if captured == row & ROW_MASK and not grand_slams else captured


@kernel("UniTuple(uint64, 3)(int64, uint64, uint64, int64)", inline=True)
def sow(game: int, own: U, opp: U, pit: int) -> tuple[U, U, U]:
    """Play a legal move; return the next mover's word, the word of the side that moved, and the captured seeds by pit.

    The first two words do not contain the seeds that this move captures.
    """
    shift = U(pit << 3)
    entry = (own >> shift & BYTE_MASK) + (shift << U(3))
    row = opp + SOW_OPP[entry]
    captured = find_captured(row, LAST_SHIFT[entry], game == ROMEIN)
    return row ^ captured, (own & ~(BYTE_MASK << shift)) + SOW_OWN[entry], captured


@kernel("UniTuple(uint64, 2)(int64, uint64, uint64, int64)")
def play(game: int, own: U, opp: U, pit: int) -> tuple[U, U]:
    """Return the position after a legal move, the next mover's word first."""
    row, other, captured = sow(game, own, opp, pit)
    return row, other + (U(count_seeds(captured)) << U(48))


@kernel("boolean(int64, uint64, uint64)")
def is_stopped(game: int, own: U, opp: U) -> bool:
    """Return whether the game ends early: a player has captured the majority, or few seeds are left (tournament)."""
    if game == ROMEIN:
        return False
    if own >= WINNING_WORD or opp >= WINNING_WORD:
        return True
    return bool(game == TOURNAMENT and count_seeds(own) + count_seeds(opp) <= EARLY_END_SEEDS)


@kernel("uint64(uint64, uint64, uint64)")
def drop_starving_moves(own: U, opp: U, pits: U) -> U:
    """Drop the moves that leave the opponent without seeds, unless all moves do (romein)."""
    moves, rest = U(0), pits
    while rest != U(0):
        pit = bit_scan(rest)
        row, _ = play(ROMEIN, own, opp, pit)
        if row & ROW_MASK != U(0):
            moves |= bit(pit)
        rest = clear_lowest_bit(rest)
    return pits if moves == U(0) else moves


@kernel("uint64(int64, uint64, uint64)")
def legal_moves(game: int, own: U, opp: U) -> U:
    """Return a word with bit `pit` set for each legal move; 0 if the game is over."""
    if is_stopped(game, own, opp):
        return U(0)
    reach = REACHES_OTHER_ROW if opp & ROW_MASK == U(0) and game != ROMEIN else AT_LEAST_1
    pits = (((own + reach) & PIT_FLAGS) * GATHER_FLAGS) >> U(49) & U(63)
    return drop_starving_moves(own, opp, pits) if game == ROMEIN else pits


@kernel("int64(int64, uint64, uint64)")
def score(game: int, own: U, opp: U) -> int:
    """Return the mover's final margin in a game that did not end by repetition."""
    lead = to_signed(own >> U(48)) - to_signed(opp >> U(48))
    return lead if is_stopped(game, own, opp) else lead + count_seeds(own) - count_seeds(opp)


def compute_final_seeds(game: int, own: int, opp: int, repeated: bool) -> tuple[int, int]:
    """Return the final seeds of the mover and of the opponent: captured seeds plus shares of the remaining ones."""
    captured, rows = (own >> 48, opp >> 48), (count_seeds(U(own)), count_seeds(U(opp)))
    if repeated and game == ROMEIN:
        rows = (sum(rows) // 2, sum(rows) // 2)
    elif (repeated and game == TOURNAMENT) or is_stopped(game, U(own), U(opp)):
        rows = (0, 0)
    return captured[0] + rows[0], captured[1] + rows[1]


# ---- adapter --------------------------------------------------------------------------------------------------------
PIT_NAMES = ("ABCDEF", "abcdef")  # South's row and North's row, each from its owner's left


def pits_of(word: int) -> list[int]:
    """Return the seeds in each pit of a row."""
    return list((word & int(ROW_MASK)).to_bytes(6, "little"))


@dataclass(frozen=True)
class AwaleAdapter:
    """One variant of Awalé.

    Positions are written as `4-4-4-4-4-4-4-4-4-4-4-4-0-0-S`: South's pits, North's pits, captured seeds, side to move.
    """

    game_id: int
    variant: str
    size = 2

    family, title, sides, unit, share_name = "awale", "Awalé", ("South", "North"), "seeds", "seeds"
    move_example, name_length = "a pit, such as C", 1
    start, board_name, max_score, all_moves = (START_ROW, START_ROW), family, TOTAL_SEEDS, tuple(range(6))
    position_mask = int(ROW_MASK)
    has_passes, has_symmetries, has_draw_offers, has_repetition = False, False, True, True

    def lead(self, own: int, opp: int) -> int:
        return (own >> 48) - (opp >> 48)

    def check(self, own: int, opp: int) -> None:
        if not (0 <= own < 1 << 56 and 0 <= opp < 1 << 56):
            raise NotationError(
                "a word of the position is too large or negative: use 8 bits per pit and for the captured seeds"
            )
        self._check_seeds("position", [*own.to_bytes(7), *opp.to_bytes(7)])

    def _check_seeds(self, kind: str, pits: list[int]) -> None:
        if (seeds := sum(pits)) != self.max_score:
            raise NotationError(
                f"the {kind} has {seeds} seeds: pits and captured seeds must add up to {self.max_score}"
            )

    def counts(self, own: int, opp: int, repeated: bool) -> tuple[int, int]:
        if not repeated and legal_moves(self.game_id, U(own), U(opp)):
            return own >> 48, opp >> 48
        return compute_final_seeds(self.game_id, own, opp, repeated)

    def score(self, first: int, second: int) -> tuple[int, int]:
        return first, second

    def end_reason(self, own: int, opp: int, repeated: bool) -> str:
        if repeated:
            return "repetition"
        if not is_stopped(self.game_id, U(own), U(opp)):
            return "stuck"
        return "majority" if max(own, opp) >= WINNING_WORD else "few"

    def canonical(self, own: int, opp: int) -> tuple[int, int]:
        return own, opp

    def explain_illegal(self, own: int, move: int) -> str:
        if move not in self.all_moves:
            return "is not a legal move"
        return "would leave the opponent without seeds" if own >> 8 * move & 0xFF else "is empty"

    def format_move(self, move: int, side: int) -> str:
        return PIT_NAMES[side][move]

    def parse_move(self, text: str, side: int) -> int:
        name = text.strip()
        if len(name) == 1 and name.upper() in PIT_NAMES[0]:
            return PIT_NAMES[0].index(name.upper())
        raise NotationError(f"{text!r} is not a pit: choose {join_choices(PIT_NAMES[side])}")

    def side_of_move(self, name: str) -> int | None:
        return int(name.islower())

    def is_position(self, text: str) -> bool:
        return re.match(r"\s*\d+-", text) is not None

    def format_position(self, first: int, second: int, side: int) -> str:
        fields = [*pits_of(first), *pits_of(second), first >> 48, second >> 48]
        return "-".join(map(str, fields)) + "-" + "SN"[side]

    def parse_position(self, text: str) -> tuple[int, int, int, int]:
        fields = text.strip().split("-")
        if len(fields) != 15:
            raise NotationError(
                f"the diagram has {len(fields)} fields, not 15: "
                "write 12 pits, 2 numbers of captured seeds, and S or N, separated by hyphens"
            )
        *numbers, mover = fields
        for number in numbers:
            if not re.fullmatch(r"[0-9]{1,2}", number):
                raise NotationError(
                    f"{number[:12]!r} in the diagram is not a number of seeds: write 0 to {self.max_score}"
                )
        if mover.upper() not in ("S", "N"):
            raise NotationError(f"the diagram must end with the side to move, S or N, not {mover!r}")
        seeds = [int(number) for number in numbers]
        self._check_seeds("diagram", seeds)
        rows = (seeds[:6], seeds[12]), (seeds[6:12], seeds[13])
        south, north = (int.from_bytes(bytes([*pits, captured, 0]), "little") for pits, captured in rows)
        return south, north, "SN".index(mover.upper()), self.game_id


VARIANT_NAMES = {ABAPA: "abapa", TOURNAMENT: "tournament", ROMEIN: "romein"}
ADAPTERS = {game_id: AwaleAdapter(game_id, variant) for game_id, variant in VARIANT_NAMES.items()}
