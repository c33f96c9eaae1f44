"""The constants that `constants.py` varies: for each, its file, the alternative values and the measures to compare.

A constant is given by its name, or by an expression that occurs once in its file.  Constants that
follow from the hardware or the rules (sizes, bit layouts, bounds on scores) are not listed.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Constant:
    """A constant in a file below `awello/`, and alternative values as source text."""

    name: str
    file: str
    alternatives: tuple[str, ...]
    measures: tuple[str, ...]
    summary: str
    """The result of the sweep in a few words."""


MIDGAME, ENDGAME, LAST_EMPTIES = "engine/midgame.py", "engine/endgame.py", "engine/last_empties.py"
OTHELLO, PROBCUT, CLOCK = "engine/othello_search.py", "engine/probcut.py", "engine/time_management.py"
AWALE, AWALE_SEARCH, ITERATIVE = "engine/awale_kernels.py", "engine/awale_search.py", "engine/iterative_search.py"
STATE = "engine/othello_state.py"
SOLVE_CHECKED = ("solve", "solve-more")  # solve-more repeats solve on positions of other games
TWO_PHASES = ("solve", "midgame")
TWO_PHASES_AND_DUEL = ("solve", "midgame", "duel")

AREAS: dict[str, tuple[Constant, ...]] = {
    "Othello: the last empty squares": (
        Constant(
            "STABILITY_ALPHA_PER_EMPTY",
            LAST_EMPTIES,
            ("1", "3"),
            ("solve",),
            "no effect on the time: counting stable discs costs as much as it saves",
        ),
        Constant(
            "STABILITY_LAST5_ALPHA",
            LAST_EMPTIES,
            ("4", "12", "16", "64"),
            ("solve",),
            "lower values count stable discs more often without benefit; without counting (64), the time rises by 5 %",
        ),
        Constant(
            "STABILITY_ENDGAME_SLACK",
            ENDGAME,
            ("0", "2", "8", "12"),
            ("solve",),
            "higher values save nodes, but no time",
        ),
        Constant(
            "FEW_EMPTIES",
            ENDGAME,
            ("9", "10", "12"),
            ("solve",),
            "11 takes the least time; lower values save nodes, but ordering moves by evaluation takes longer per node",
        ),
        Constant(
            "ENDGAME_TT_BITS",
            STATE,
            ("12", "13", "15", "16"),
            SOLVE_CHECKED,
            "the table takes 384 KiB per thread; a larger one saves nodes, but no time",
        ),
        Constant(
            "MIN_CHILD_LOOKUP_EMPTIES",
            ENDGAME,
            ("6", "8", "9", "12"),
            ("solve",),
            "higher values cost nodes, but no time; 6 has no effect: positions with 5 empty squares are not stored",
        ),
    ),
    "Othello: move ordering": (
        Constant(
            "SORT_KEY_PER_REPLY",
            ENDGAME,
            ("12", "20", "24"),
            TWO_PHASES,
            "values above 16 have no effect in solve; values from 12 to 16 are best in midgame",
        ),
        Constant(
            "SORT_KEY_PER_CORNER",
            ENDGAME,
            ("0", "16", "32"),
            (*SOLVE_CHECKED, "midgame"),
            "16 is better than 24 in solve and solve-more",
        ),
        Constant(
            "SORT_KEY_IN_ODD_QUADRANT",
            ENDGAME,
            ("0", "-4", "-12"),
            TWO_PHASES,
            "parity helps; its weight has little effect",
        ),
        Constant(
            "SORT_KEY_CORNER", MIDGAME, ("0", "-8", "-32"), TWO_PHASES, "0 and -8 have no effect; -32 costs nodes"
        ),
        Constant(
            "SORT_KEY_X_SQUARE",
            MIDGAME,
            ("0", "6", "24"),
            TWO_PHASES,
            "0 adds 3 % to the total nodes of solve; the other values have no effect",
        ),
        Constant(
            "SORT_KEY_PER_DISC",
            OTHELLO,
            ("6", "8", "14", "20"),
            TWO_PHASES,
            "higher values save up to 2 % of the nodes in midgame",
        ),
        Constant(
            "SORT_KEY_PER_DISC_NEAR_END", OTHELLO, ("2", "3", "6", "10"), TWO_PHASES, "4 is the best value for solving"
        ),
        Constant(
            "NEAR_END_EMPTIES", OTHELLO, ("26", "34"), TWO_PHASES, "34 costs nodes; 26 has no effect on these positions"
        ),
        Constant(
            "SORT_BY_1_PLY_FROM",
            MIDGAME,
            ("12", "14", "18"),
            TWO_PHASES,
            "with lower values, the searches for sorting cost more nodes than they save",
        ),
        Constant("SORT_BY_2_PLIES_FROM", MIDGAME, ("18", "22"), TWO_PHASES, "no effect from 18 to 22"),
        Constant(
            "SORT_BY_3_PLIES_FROM",
            MIDGAME,
            ("21", "25", "99"),
            TWO_PHASES,
            "no effect on these positions; only deeper searches could show one",
        ),
    ),
    "Othello: pruning": (
        Constant(
            "STABILITY_MIDGAME_SLACK",
            MIDGAME,
            ("-99", "0", "4", "12", "24"),
            TWO_PHASES,
            "no effect on these positions",
        ),
        Constant(
            "MIN_CHILD_LOOKUP_DEPTH",
            MIDGAME,
            ("10", "12", "13", "16"),
            (*SOLVE_CHECKED, "midgame"),
            "lower values save 1.5 % of the nodes, but no measurable time",
        ),
        Constant(
            "PROBCUT_WINDOW_DISCS",
            MIDGAME,
            ("1", "2", "5", "99"),
            TWO_PHASES_AND_DUEL,
            "lower values save nodes in midgame, but score slightly less in games at equal nodes (not significant)",
        ),
        Constant(
            "DEEP_PLIES_PER_2_SHALLOW",
            PROBCUT,
            ("5", "6"),
            TWO_PHASES_AND_DUEL,
            "higher values save nodes in midgame, cost nodes in hard endgames, and gain nothing in games",
        ),
        Constant(
            "SOLVE_DEPTH_REDUCTION", PROBCUT, ("4", "6", "10", "12"), ("solve",), "no effect from 4 to 8; worse from 10"
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
            (*SOLVE_CHECKED, "midgame", "duel"),
            "changing the second value (for the midgame) gains nothing in games; changing the third saves no nodes",
        ),
        Constant(
            "MAX_FULL_WIDTH_DEPTH",
            "engine/levels.py",
            ("6", "10"),
            ("midgame",),
            "6 would save 18 % of the nodes, but levels up to 8 promise a full-width search",
        ),
    ),
    "Othello: phases of a search": (
        Constant(
            "SELECTIVE_PASSES",
            OTHELLO,
            ("()", "(1,)", "(2,)", "(0, 2)", "(1, 3)", "(1, 2, 3)"),
            SOLVE_CHECKED,
            "solving takes 12 % more time without selective passes, and 7 % more with a third pass",
        ),
        Constant("DIRECT_SOLVE_EMPTIES", OTHELLO, ("11", "15", "17"), ("solve-few",), "no effect"),
        Constant(
            "SHORT_PLAN_EMPTIES",
            OTHELLO,
            ("14", "16", "20", "22"),
            (*SOLVE_CHECKED, "solve-few"),
            "no significant effect",
        ),
        Constant(
            "SOLVE_AHEAD_PLIES",
            OTHELLO,
            ("8", "9", "11", "12"),
            (*SOLVE_CHECKED, "solve-few"),
            "only 12 saves nodes in solve (not checked further); 10 needs the fewest total nodes in solve-few",
        ),
        Constant(
            "MIN_DEPTH_BEFORE_SOLVING",
            OTHELLO,
            ("2", "4", "8"),
            ("solve-few",),
            "lower values save nodes only in searches of a few thousand nodes; the total does not change",
        ),
        Constant(
            "ASPIRATION_DELTA",
            OTHELLO,
            ("1", "2", "4", "6"),
            TWO_PHASES,
            "narrower windows cost nodes; wider windows save none",
        ),
        Constant("WINDOW_GROWTH", ITERATIVE, ("2", "8"), ("midgame", "awale"), "no effect"),
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
            "neither 2 nor 4 differs significantly from 3 in 200 games at equal nodes",
        ),
        Constant(
            "UNREDUCED_MOVES",
            AWALE,
            ("1", "3", "4"),
            ("awale", "awale-duel"),
            "higher values cost nodes; 1 saves nodes in searches to a fixed depth, but does not score better in games",
        ),
        Constant("HISTORY_DECAY_SHIFT", AWALE_SEARCH, ("0", "1", "5", "62"), ("awale-game",), "no effect"),
        Constant(
            "ASPIRATION_DELTA",
            AWALE_SEARCH,
            ("SEED_VALUE // 8", "SEED_VALUE // 2", "SEED_VALUE", "2 * SEED_VALUE"),
            ("awale",),
            "narrower windows cost nodes; wider windows have no significant effect",
        ),
        Constant(
            "DEPTH_STEP",
            AWALE_SEARCH,
            ("1", "2", "3", "6"),
            ("awale",),
            "smaller steps cost nodes, because more intermediate depths are searched; 6 is no better than 4",
        ),
        Constant("depth * depth", AWALE, ("1", "depth", "depth * depth * depth"), ("awale",), "no significant effect"),
        Constant("PREFETCH_FROM_DEPTH", AWALE, ("2", "5", "101"), ("awale",), ""),
    ),
    "Time management": (
        Constant("RESERVE_MOVES", CLOCK, ("1", "4"), ("clock",), "no significant difference in 200 games"),
        Constant(
            "MAX_CLOCK_SHARE",
            CLOCK,
            ("0.15", "0.5"),
            ("clock",),
            "no significant difference in 200 games; 0.5 loses more games on time",
        ),
        Constant("MAX_OVERTIME_FACTOR", CLOCK, ("1.5", "4.0"), ("clock",), "no significant difference in 200 games"),
        Constant("MAX_OVERRUN_SHARE", CLOCK, ("0.4", "0.8"), ("clock",), "no significant difference in 100 games"),
        Constant(
            "SOLVED_EMPTIES",
            CLOCK,
            ("16", "18", "22"),
            ("clock",),
            "no significant difference in 200 games; "
            "the results for 16 and 22 are the same as for `RESERVE_MOVES` 4 and 1, respectively",
        ),
        Constant("DEFAULT_TIME_GROWTH", CLOCK, ("2.0", "5.0"), ("clock",), ""),
        Constant("MIN_TIME_GROWTH", CLOCK, ("1.0", "2.5"), ("clock",), "no significant difference in 100 games"),
        Constant("MAX_TIME_GROWTH", CLOCK, ("4.0", "16.0"), ("clock",), ""),
        Constant(
            "INCREMENT_SHARE", CLOCK, ("0.5", "1.0"), ("clock-increment",), "no significant difference in 100 games"
        ),
        Constant(
            "MAX_INCREMENT_SHARE", CLOCK, ("0.2", "0.8"), ("clock-increment",), "no significant difference in 100 games"
        ),
        Constant("MOVES_PER_SEED", CLOCK, ("0.4", "1.0"), ("awale-clock",), ""),
    ),
}
ALL = [constant for area in AREAS.values() for constant in area]
# measures that play games between each alternative and the current value
MATCHES = {"duel", "awale-duel", "clock", "clock-increment", "awale-clock"}
