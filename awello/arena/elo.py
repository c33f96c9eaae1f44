"""Ratings from results: the Bradley-Terry model on Elo's scale, by maximum likelihood.

A player rated 400 points above another is expected to take ten of eleven points.  A draw counts half a win for
either.  Each player is given one imaginary draw against an average player, so that those who won or lost everything
have a rating too.  Ratings are told from their mean, which is 0, and so are their 95 % intervals, which follow from the
curvature of the likelihood (Fisher information); as a draw is taken for half a win and half a loss, they are a little
too wide where many are drawn.
"""

import math

import numpy as np
import numpy.typing as npt

SCALE = 400 / math.log(10)
Z_95 = 1.96  # of a 95 % interval
PRIOR_DRAWS = 1.0  # draws against an average player


def fit_ratings(won: npt.ArrayLike) -> tuple[list[float], list[float]]:
    """The rating of each player and how far its 95 % interval reaches either way.

    `won[i][j]` are the points of player i against player j, a draw counted as half to each.
    """
    points = np.asarray(won, float)
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
        strength += np.clip(step, -1, 1)  # with care where the likelihood is flat
        if np.abs(step).max() < 1e-9:
            break
    from_mean = np.eye(size) - 1 / size
    variance = np.diag(from_mean @ np.linalg.inv(information) @ from_mean)
    return (SCALE * from_mean @ strength).tolist(), (SCALE * Z_95 * np.sqrt(variance)).tolist()
