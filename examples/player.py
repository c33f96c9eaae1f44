"""Your own player in twenty lines.

    python examples/player.py

The player takes a corner if possible; otherwise it chooses the move that leaves the opponent the fewest replies.
"""

from dataclasses import dataclass

from awello import PASS, Choice, Game, Match, Player, Position, play_match, register
from awello.limits import Clock

CORNER_SQUARES = {0, 7, 56, 63}  # a1, h1, a8, h8


@register("corners", "corners first, then the fewest replies")
@dataclass
class CornersPlayer(Player):
    """Plays Othello by two rules of thumb."""

    def choose(self, position: Position, clock: Clock) -> Choice:
        """Choose the move with the fewest replies, among the moves to corners if there are any."""
        return Choice(
            min(position.legal_moves(), key=lambda move: (move not in CORNER_SQUARES, count_replies(position, move)))
        )


def count_replies(position: Position, move: int) -> int:
    """Count the opponent's replies to a move."""
    return sum(reply != PASS for reply in position.play(move).legal_moves())


if __name__ == "__main__":
    result = play_match(Match(Game.OTHELLO, "corners", "greedy", games=100, seed=1))
    print(f"corners won {result.wins}, drew {result.draws} and lost {result.losses} of {result.games} games")
