"""A player of your own in twenty lines: run `python examples/bot.py`.

It takes corners when it can and otherwise leaves the opponent as few moves as possible.
"""

from dataclasses import dataclass

from awello import PASS, Choice, Game, Match, Player, Position, play_match, register
from awello.limits import Clock

CORNERS = {0, 7, 56, 63}  # a1, h1, a8, h8


@register("corners", "corners first, then as few answers as possible")
@dataclass
class Corners(Player):
    """Plays Othello by two rules of thumb."""

    def choose(self, position: Position, clock: Clock) -> Choice:
        """The corner, or the move with the fewest answers."""
        return Choice(min(position.legal_moves(), key=lambda move: (move not in CORNERS, answers(position, move))))


def answers(position: Position, move: int) -> int:
    """How many moves the opponent has after this one."""
    return sum(answer != PASS for answer in position.play(move).legal_moves())


if __name__ == "__main__":
    result = play_match(Match(Game.OTHELLO, "corners", "greedy", games=100, seed=1))
    print(f"corners won {result.wins}, drew {result.draws} and lost {result.losses} of {result.games} games")
