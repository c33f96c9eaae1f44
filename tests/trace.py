"""Prints everything the kernels say of some random games; compiled and uncompiled runs must print the same."""

import random

from awello.kernel import U
from awello.rules import awale, othello
from awello.rules import game as kernels


def trace(number: int, own: U, opp: U, games: int, chance: random.Random) -> None:
    """Walk through random games and print each answer."""
    for _ in range(games):
        pair = own, opp
        while True:
            moves = int(kernels.legal_moves(number, *pair))
            over = bool(kernels.is_over(number, *pair))
            print(number, *map(int, pair), moves, over, int(kernels.score(number, *pair)))
            if number < awale.ABAPA:
                print(*map(int, othello.canonical(*pair)))
            if over:
                break
            choices = [move for move in range(64) if moves >> move & 1]
            pair = kernels.play(number, *pair, chance.choice(choices)) if choices else (pair[1], pair[0])


def main() -> None:
    """Print the traces of all games."""
    chance = random.Random(8)
    for number in range(3):
        trace(number, U(othello.BLACK_START), U(othello.WHITE_START), 4, chance)
    for number in range(3, 6):
        trace(number, U(awale.START), U(awale.START), 4, chance)
        print(int(kernels.perft(number, U(awale.START), U(awale.START), 3)))
    print(int(kernels.perft(0, U(othello.BLACK_START), U(othello.WHITE_START), 4)))


if __name__ == "__main__":
    main()
