"""Published figures of the reports, for comparison with the experiments.

Report 0: "Intelligence artificielle appliquée au jeu d'Othello", 2024, chapter 3.
Report 1: "J'ai Awalé de Travers", 2020, section 3.4.
Report 2: "Stratégies d'IA pour Othello", 2024, appendix V.B.
Report 4: "Stratégies pour un Othello de haut niveau", 1996, sections II.3.2, IV.1 and IV.2.
"""

from typing import Any

REPORT0_STRATEGIES = ("positional", "absolute", "mobility", "mixed")


def _by_strategy(rows: dict[int, tuple[Any, ...]]) -> dict[int, dict[str, Any]]:
    """Convert a table of report 0 to values by depth and strategy; its columns are in the order of the strategies."""
    return {depth: dict(zip(REPORT0_STRATEGIES, row, strict=True)) for depth, row in rows.items()}


# Report 0, table 3.1: seconds per game with alpha-beta and without, by depth and strategy.
REPORT0_SECONDS_PER_GAME = _by_strategy(
    {
        2: ((0.03, 0.04), (0.01, 0.02), (0.06, 0.12), (0.06, 0.08)),
        4: ((0.90, 6.21), (0.51, 2.10), (1.50, 11.52), (1.17, 7.34)),
        6: ((35.20, 416.65), (20.14, 164.64), (39.32, 1390.49), (17.34, 546.98)),
    }
)

# Report 0, table 3.2: nodes with alpha-beta in percent of those without: maximum, mean, standard deviation.
REPORT0_NODE_PERCENTS = _by_strategy(
    {
        2: ((58.80, 57.52, 65.20), (64.90, 55.79, 63.92), (54.04, 53.95, 60.26), (61.09, 58.35, 62.72)),
        4: ((13.19, 14.77, 16.35), (14.27, 21.19, 17.92), (15.29, 14.06, 14.30), (12.54, 15.76, 15.56)),
        6: ((7.15, 6.96, 6.66), (6.26, 7.67, 10.21), (1.93, 2.98, 2.56), (1.84, 3.07, 2.77)),
    }
)

# Report 0, table 3.3: mean nodes per move, in tens of thousands, with alpha-beta and without.
REPORT0_MEAN_NODES_10K = _by_strategy(
    {
        2: ((0.003193, 0.005551), (0.002579, 0.004622), (0.003256, 0.006036), (0.003178, 0.005445)),
        4: ((0.078708, 0.532977), (0.068316, 0.3224), (0.073940, 0.525755), (0.077103, 0.489311)),
        6: ((2.96, 42.50), (2.77, 36.06), (1.79, 60.19), (1.24, 40.39)),
    }
)

# Report 0, tables 3.4 and 3.5: mean score with table 2 and with table 1, for Black and for White.
REPORT0_TABLE_SCORES = {
    2: {"positional": ((40.34, 33.67), (38.85, 30.30)), "mixed": ((31.26, 28.07), (31.28, 28.43))},
    4: {"positional": ((39.84, 32.19), (31.06, 31.79)), "mixed": ((33.56, 32.65), (29.52, 32.60))},
    6: {"positional": ((39.60, 27.00), (42.20, 37.00)), "mixed": ((38.40, 33.00), (47.20, 34.60))},
}

# Report 0, tables 3.6 and 3.7: mean score over all opponents, for Black and for White.
REPORT0_SCORES = _by_strategy(
    {
        2: ((35.46, 34.95), (24.29, 24.77), (26.97, 29.33), (34.09, 33.52)),
        4: ((32.70, 31.91), (22.44, 23.34), (30.71, 27.86), (34.94, 34.29)),
        6: ((29.57, 32.97), (26.33, 21.99), (30.35, 29.56), (37.98, 34.70)),
    }
)

# Report 2, appendix V.B: games won out of 20 against `random`, percent of the board held by the player and by `random`,
# milliseconds per move.
REPORT2_AGAINST_RANDOM = {
    "alphabeta:positional@10": (20, 62.96, 36.17, 16573.5),
    "alphabeta:absolute@10": (19, 82.34, 15.63, 1205.58),
    "alphabeta:mobility@10": (20, 83.36, 11.17, 8838.38),
    "alphabeta:mixed@10": (20, 96.72, 2.42, 30848.2),
    "minimax:positional@8": (20, 62.03, 37.97, 14385.0),
    "negamax:positional@8": (15, 64.77, 35.23, 18345.5),
    "alphabeta:positional@8": (19, 62.11, 37.73, 318.496),
}

# Report 1, figure 2: milliseconds per move, and nodes saved relative to the first search, in percent, by depth and
# search.
REPORT1_ORDERING = {
    12: {
        "textbook": (1161.3, None),
        "without order": (51.2, None),
        "frozen order": (38.2, 71),
        "live order": (28.8, 78),
    },
}

# Report 1, figure 3: each player's mean points per round, added up over eight opponents.
REPORT1_POINTS = {
    "MinMaxH3.2": 20.63,
    "MinMaxH4": 16.67,
    "Awariness": 16.29,
    "MinMaxH6": 15.53,
    "MinMaxH1": 14.57,
    "MinMaxH5.3": 12.88,
    "MinMaxH2": 7.18,
    "MinMax": 2.52,
    "Le crocodile crétin": 1.19,
}

# Report 4, section II.3.2: leaves visited in a tree with 27 leaves, by algorithm.
REPORT4_TREE_LEAVES = {"minimax": 27, "alpha-beta": 20, "best move": 19, "best branch": 17, "refutation tables": 11}

# Report 4, section IV.1: a game of Otage (Black), and the leaves that the variations saved for each move of Otage,
# compared with a search to the same depth without variations.  Otage's first two moves were in its opening book.
REPORT4_GAME = "c4e3f4g3e6d6f5f6g6g4g5h6f3f2h4h5h7c5b5c6h3a5h2d3f1g1h1g2e2e1f7g8d1g7"
REPORT4_LEAVES_SAVED = [0, 0, 164_745, 104_620, 169_711, 191_649, 200_589, 807_834, 1_359_011]
REPORT4_LEAVES_SAVED += [308_951, 308_048, 149_289, 62_046, 51_001, 27_018, 153_151, 68_404]

# Report 4, section IV.2: the principal variation after the first eight moves of `REPORT4_GAME`, by depth.
REPORT4_VARIATIONS = {
    5: "g5 h4 h5 g4 h3",
    6: "g5 c3 g4 b4 d3 c5",
    7: "g5 h6 g4 c5 c7 c6 c3",
    8: "g6 c3 e7 c5 f7 g5 f3 f8",
    9: "g6 h6 f3 c3 e2 b4 e7 f8 d3",
}
