"""The constants that `constants.py` sweeps, with their files, alternatives and measures.

A constant is given by its name or by an expression that occurs once in its file.  Constants whose values follow from
the machine or from logic (sizes, the layout of bits, bounds on scores) are not listed.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Constant:
    """A constant in a file below `awello/`, and alternative values as source text."""

    name: str
    file: str
    alternatives: tuple[str, ...]
    measures: tuple[str, ...]
    why: str
    """A summary of the results."""


MIDGAME, ENDGAME, LAST = "engine/midgame.py", "engine/endgame.py", "engine/last_empties.py"
OTHELLO, PROBCUT, CLOCK = "engine/othello_search.py", "engine/probcut.py", "engine/time_management.py"
AWALE, AWALE_SEARCH, THINKING = "engine/awale_kernels.py", "engine/awale_search.py", "engine/iterative_search.py"
STATE = "engine/othello_state.py"
AGAIN = ("solve", "solve-more")  # with a second opinion on values that seem better
BOTH = ("solve", "midgame")
VALUES = ("solve", "midgame", "duel")

AREAS: dict[str, tuple[Constant, ...]] = {
    "The last squares of Othello": (
        Constant(
            "STABILITY_ALPHA_PER_EMPTY",
            LAST,
            ("1", "3"),
            ("solve",),
            "counting costs what it saves: the time is the same",
        ),
        Constant(
            "STABILITY_LAST5_ALPHA",
            LAST,
            ("4", "12", "16", "64"),
            ("solve",),
            "less, and counts that settle nothing cost time; never counting costs 5 %",
        ),
        Constant(
            "STABILITY_ENDGAME_SLACK",
            ENDGAME,
            ("0", "2", "8", "12"),
            ("solve",),
            "fewer nodes further down, but no less time",
        ),
        Constant(
            "FEW_EMPTIES",
            ENDGAME,
            ("9", "10", "12"),
            ("solve",),
            "the quickest: below 11 the full search costs more per node than it saves",
        ),
        Constant(
            "ENDGAME_TT_BITS",
            STATE,
            ("12", "13", "15", "16"),
            AGAIN,
            "384 KiB per thread; more saves nodes, but not time",
        ),
        Constant(
            "MIN_CHILD_LOOKUP_EMPTIES",
            ENDGAME,
            ("6", "8", "9", "12"),
            ("solve",),
            "each lookup from 7 on saves as much as it costs; with 6 a child has no entry",
        ),
    ),
    "The order of moves in Othello": (
        Constant(
            "KEY_PER_REPLY",
            ENDGAME,
            ("12", "20", "24"),
            BOTH,
            "flat above in solutions, best at 12 to 16 to a depth",
        ),
        Constant(
            "KEY_PER_CORNER",
            ENDGAME,
            ("0", "16", "32"),
            (*AGAIN, "midgame"),
            "16 is worth a change",
        ),
        Constant("KEY_IN_ODD_QUADRANT", ENDGAME, ("0", "-4", "-12"), BOTH, "parity pays; by how much hardly matters"),
        Constant("KEY_CORNER", MIDGAME, ("0", "-8", "-32"), BOTH, "flat down to 0; more hurts"),
        Constant(
            "KEY_X_SQUARE", MIDGAME, ("0", "6", "24"), BOTH, "0 costs 3 % in the hardest problems, otherwise flat"
        ),
        Constant("KEY_PER_DISC", OTHELLO, ("6", "8", "14", "20"), BOTH, "more saves 1 % at most"),
        Constant("KEY_PER_DISC_NEAR_END", OTHELLO, ("2", "3", "6", "10"), BOTH, "best where the game is solved"),
        Constant("NEAR_END_EMPTIES", OTHELLO, ("26", "34"), BOTH, "more costs nodes, less changes nothing here"),
        Constant(
            "SORT_BY_1_PLY_FROM",
            MIDGAME,
            ("12", "14", "18"),
            BOTH,
            "earlier, the searches that sort cost more nodes than they save",
        ),
        Constant("SORT_BY_2_PLIES_FROM", MIDGAME, ("18", "22"), BOTH, "flat between 18 and 22"),
        Constant(
            "SORT_BY_3_PLIES_FROM",
            MIDGAME,
            ("21", "25", "99"),
            BOTH,
            "no effect on these positions: it takes deeper searches",
        ),
    ),
    "Cut-offs of Othello": (
        Constant(
            "STABILITY_MIDGAME_SLACK",
            MIDGAME,
            ("-99", "0", "4", "12", "24"),
            BOTH,
            "no effect on these positions",
        ),
        Constant(
            "MIN_CHILD_LOOKUP_DEPTH",
            MIDGAME,
            ("10", "12", "13", "16"),
            (*AGAIN, "midgame"),
            "less saves 1.5 % of the nodes and no clear time",
        ),
        Constant(
            "PROBCUT_WINDOW_DISCS",
            MIDGAME,
            ("1", "2", "5", "99"),
            VALUES,
            "less saves nodes to a depth, but loses by a little in games at equal nodes",
        ),
        Constant(
            "DEEP_PLIES_PER_2_SHALLOW",
            PROBCUT,
            ("5", "6"),
            VALUES,
            "more saves nodes to a depth, costs more in hard solutions, and gains nothing in games",
        ),
        Constant(
            "SOLVE_DEPTH_REDUCTION", PROBCUT, ("4", "6", "10", "12"), ("solve",), "flat from 4 to 8, worse from 10"
        ),
        Constant(
            "MARGIN_DEVIATIONS",
            PROBCUT,
            (
                "(0.7, 0.8, 1.5, 2.0, 2.6, 3.3)",
                "(0.7, 1.2, 1.5, 2.0, 2.6, 3.3)",
                "(0.7, 1.4, 1.5, 2.0, 2.6, 3.3)",
                "(0.7, 1.0, 1.3, 2.0, 2.6, 3.3)",
                "(0.7, 1.0, 1.8, 2.0, 2.6, 3.3)",
            ),
            (*AGAIN, "midgame", "duel"),
            "the second, for midgames: neither fewer nor more gains in games; the third: flat",
        ),
        Constant(
            "MAX_FULL_WIDTH_DEPTH",
            "engine/levels.py",
            ("6", "10"),
            ("midgame",),
            "a promise to users of levels up to 8; 6 would save 18 % of the nodes",
        ),
    ),
    "The plan of a search of Othello": (
        Constant(
            "SELECTIVE_PASSES",
            OTHELLO,
            ("()", "(1,)", "(2,)", "(0, 2)", "(1, 3)", "(1, 2, 3)"),
            AGAIN,
            "without passes a solution costs 12 % more time, a third pass 6 to 7 %",
        ),
        Constant("DIRECT_SOLVE_EMPTIES", OTHELLO, ("11", "15", "17"), ("solve-few",), "flat"),
        Constant(
            "SHORT_PLAN_EMPTIES",
            OTHELLO,
            ("14", "16", "20", "22"),
            (*AGAIN, "solve-few"),
            "flat within the interval",
        ),
        Constant(
            "SOLVE_AHEAD_PLIES",
            OTHELLO,
            ("8", "9", "11", "12"),
            (*AGAIN, "solve-few"),
            "flat within the interval; short solutions are best at 10",
        ),
        Constant(
            "MIN_DEPTH_BEFORE_SOLVING",
            OTHELLO,
            ("2", "4", "8"),
            ("solve-few",),
            "saves nodes only in searches of some thousand nodes, the total does not change",
        ),
        Constant(
            "ASPIRATION_WINDOW", OTHELLO, ("1", "2", "4", "6"), BOTH, "narrower windows fail, wider ones save nothing"
        ),
        Constant("WINDOW_GROWTH", THINKING, ("2", "8"), ("midgame", "awale"), "flat"),
    ),
    "Threads": (
        Constant("MIN_SPLIT_SOLVE_DEPTH", MIDGAME, ("11", "15", "17"), ("threads",), ""),
        Constant("MIN_SPLIT_DEPTH", MIDGAME, ("4", "8"), ("threads",), ""),
        Constant("MIN_PARALLEL_SOLVE_DEPTH", OTHELLO, ("12", "18"), ("threads",), ""),
        Constant("MIN_PARALLEL_DEPTH", OTHELLO, ("6", "12"), ("threads",), ""),
        Constant("MIN_PARALLEL_DEPTH", AWALE_SEARCH, ("8", "16"), ("awale-threads",), ""),
    ),
    "Awalé": (
        Constant(
            "REDUCE_FROM_DEPTH",
            AWALE_SEARCH,
            ("2", "4", "5", "101"),
            ("awale", "awale-duel"),
            "2 and 4 differ at equal nodes by less than 200 games show",
        ),
        Constant(
            "UNREDUCED_MOVES",
            AWALE,
            ("1", "3", "4"),
            ("awale", "awale-duel"),
            "more loses at equal nodes; less saves nodes to a depth and gains nothing in games",
        ),
        Constant("HISTORY_DECAY_SHIFT", AWALE_SEARCH, ("0", "1", "5", "62"), ("awale-game",), "flat"),
        Constant(
            "ASPIRATION_WINDOW",
            AWALE_SEARCH,
            ("SEED_VALUE // 8", "SEED_VALUE // 2", "SEED_VALUE", "2 * SEED_VALUE"),
            ("awale",),
            "narrower windows fail, wider ones save nothing that can be told from noise",
        ),
        Constant(
            "DEPTH_STEP",
            AWALE_SEARCH,
            ("1", "2", "3", "6"),
            ("awale",),
            "smaller steps search depths that are not asked for; 6 is no better",
        ),
        Constant(
            "depth * depth", AWALE, ("1", "depth", "depth * depth * depth"), ("awale",), "flat within the interval"
        ),
        Constant("PREFETCH_FROM_DEPTH", AWALE, ("2", "5", "101"), ("awale",), ""),
    ),
    "The clock": (
        Constant("RESERVE_MOVES", CLOCK, ("1", "4"), ("clock",), "no difference that 200 games show"),
        Constant(
            "MAX_CLOCK_SHARE",
            CLOCK,
            ("0.15", "0.5"),
            ("clock",),
            "no difference that 200 games show; 0.5 runs short of time",
        ),
        Constant("MAX_OVERTIME_FACTOR", CLOCK, ("1.5", "4.0"), ("clock",), "no difference that 200 games show"),
        Constant("MAX_OVERRUN_SHARE", CLOCK, ("0.4", "0.8"), ("clock",), ""),
        Constant(
            "SOLVED_EMPTIES",
            CLOCK,
            ("16", "18", "22"),
            ("clock",),
            "no difference that 200 games show; a value 4 less acts like 2 more moves in reserve",
        ),
        Constant("DEFAULT_GROWTH", CLOCK, ("2.0", "5.0"), ("clock",), ""),
        Constant("MIN_GROWTH", CLOCK, ("1.0", "2.5"), ("clock",), ""),
        Constant("MAX_GROWTH", CLOCK, ("4.0", "16.0"), ("clock",), ""),
        Constant("INCREMENT_SHARE", CLOCK, ("0.5", "1.0"), ("clock-increment",), ""),
        Constant("MAX_INCREMENT_SHARE", CLOCK, ("0.2", "0.8"), ("clock-increment",), ""),
        Constant("MOVES_PER_SEED", CLOCK, ("0.4", "1.0"), ("awale-clock",), ""),
    ),
}
ALL = [constant for area in AREAS.values() for constant in area]
MATCHES = {"duel", "awale-duel", "clock", "clock-increment", "awale-clock"}  # each alternative plays the present value
