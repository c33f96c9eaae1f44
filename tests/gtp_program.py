"""A program that speaks GTP and plays the first legal move, or does what a test wants to go wrong.

Its words are a file to write down what it is told, and what goes wrong.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

from twins import PASS, OthelloTwin

board = OthelloTwin.start(8)
log, wrong = Path(sys.argv[1]), " ".join(sys.argv[2:])
log.with_suffix(".process").write_text(str(os.getpid()))


def parse(name: str) -> int:
    return PASS if name.lower() == "pass" else "abcdefgh".index(name[0].lower()) + 8 * (int(name[1]) - 1)


def name_of(move: int) -> str:
    return f"{'ABCDEFGH'[move % 8]}{move // 8 + 1}"


def genmove(colour: str) -> str:
    global board
    match wrong:
        case "dies":
            os._exit(3)
        case "is killed":
            os.kill(os.getpid(), 9)
        case "sleeps":
            time.sleep(60)
        case "resigns":
            return "= resign"
        case "passes":
            return "= PASS"
        case "cheats":
            return "= A1"
        case "babbles":
            return "= what a lovely day"
        case "floods":
            while True:
                print("thinking")
    if ("white", "black")[board.side == 0] != colour:
        board = board.play(PASS)  # it was not told
    move = board.legal_moves()[0]
    board = board.play(move)
    return f"= {name_of(move)}"


def answer(command: str, *words: str) -> str:
    global board
    match command:
        case "clear_board":
            board = OthelloTwin.start(8)
        case "set_game" if wrong == "is old":
            return "? unknown command"
        case "boardsize" if wrong == "plays draughts":
            return "? unacceptable size"
        case "play" if words[1] == "pass" and wrong == "knows no pass":
            return "? syntax error"
        case "play" if wrong == "refuses":
            return "? illegal move"
        case "play":
            if ("black", "white")[board.side] != words[0]:
                board = board.play(PASS)
            board = board.play(parse(words[1]))
        case "genmove":
            return genmove(words[0])
    return "="


if wrong == "has a child":
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    log.write_text(str(child.pid))
    time.sleep(60)
if wrong == "greets":
    print("Welcome!\n\nAnother line", flush=True)
for line in sys.stdin:
    with log.open("a") as file:
        file.write(line)
    if wrong == "is silent":
        continue
    print(answer(*line.split()), end="\n\n", flush=True)
if wrong == "stays":
    time.sleep(60)
