"""Ratings from results: the Bradley-Terry model on the Elo scale, fitted by maximum likelihood.

A player rated 400 points above another is expected to score ten points out of eleven.  A draw counts as half a win for
each player.  Each player gets one imaginary draw against an average player, so that ratings are finite even for players
who won or lost all games.  Ratings are relative to their mean, which is 0.  The 95 % intervals are derived from the
curvature of the likelihood (Fisher information).  The intervals are slightly too wide if many games are drawn, because
a draw counts as half a win and half a loss.
"""

import math

import numpy as np
import numpy.typing as npt

SCALE = 400 / math.log(10)
Z_95 = 1.96  # half width of a 95 % interval, in standard deviations
PRIOR_DRAWS = 1.0  # imaginary draws of each player against an average player


def fit_ratings(points_against: npt.ArrayLike) -> tuple[list[float], list[float]]:
    """Return the rating of each player and the half width of its 95 % interval.

    `points_against[i][j]` are the points of player i against player j; a draw is half a point for each.
    """
    points = np.asarray(points_against, float)
    played = points + points.T
    size = len(points)
    strength, information = np.zeros(size), np.eye(size)
    for _ in range(100):
        expected = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
        average = 1 / (1 + np.exp(-strength))
        slope = (points - played * expected).sum(1) + PRIOR_DRAWS * (0.5 - average)
        weight = played * expected * (1 - expected)
        information = np.diag(weight.sum(1) + PRIOR_DRAWS * average * (1 - average)) - weight
        step = np.linalg.solve(information, slope)
        strength += np.clip(step, -1, 1)  # limited, because the step is huge where the likelihood is flat
        if np.abs(step).max() < 1e-9:
            break
    from_mean = np.eye(size) - 1 / size
    variance = np.diag(from_mean @ np.linalg.inv(information) @ from_mean)
    return (SCALE * from_mean @ strength).tolist(), (SCALE * Z_95 * np.sqrt(variance)).tolist()
