"""A fake engine that speaks GTP, NBoard's protocol or UCI; it plays the first legal move or fails in a chosen way.

Arguments: the protocol, a log file for the received lines, and the failure.
"""

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

from reference_rules import PASS, ReferenceAwale, ReferenceOthello

protocol, log, wrong = sys.argv[1], Path(sys.argv[2]), " ".join(sys.argv[3:])
log.with_suffix(".process").write_text(str(os.getpid()))
with log.with_suffix(".processes").open("a") as processes:
    processes.write(f"{os.getpid()}\n")
othello, awale = ReferenceOthello.start(8), ReferenceAwale.start("abapa")
NONSENSE = {"resigns": "resign", "passes": "PASS", "cheats": "A1", "babbles": "what a lovely day"}


def parse(name: str) -> int:
    return PASS if name.lower() in ("pass", "pa") else "abcdefgh".index(name[0].lower()) + 8 * (int(name[1]) - 1)


def name_of(move: int) -> str:
    return f"{'ABCDEFGH'[move % 8]}{move // 8 + 1}"


def think() -> str | None:
    """Cause the chosen failure; return the text to send instead of a move, or None if a move is to be sent."""
    match wrong:
        case "dies":
            os._exit(3)
        case "dies once" if len(log.with_suffix(".processes").read_text().split()) == 1:
            os._exit(3)
        case "is killed":
            os.kill(os.getpid(), 9)
        case "sleeps":
            threading.Event().wait(600)
        case "floods":
            while True:
                print("thinking")
        case "drones":
            while True:
                sys.stdout.write("thinking ")
    return NONSENSE.get(wrong)


# ---- GTP ------------------------------------------------------------------------------------------------------------
def genmove(colour: str) -> str:
    global othello
    if nonsense := think():
        return f"= {nonsense}"
    if ("white", "black")[othello.side == 0] != colour:
        othello = othello.play(PASS)  # the opponent has passed, but the client has not sent the pass
    move = othello.legal_moves()[0]
    othello = othello.play(move)
    return f"= {name_of(move)}"


def answer_gtp(command: str, *words: str) -> str:
    global othello
    match command:
        case "clear_board":
            othello = ReferenceOthello.start(8)
        case "set_game" if wrong == "is old":
            return "? unknown command"
        case "boardsize" if wrong == "plays draughts":
            return "? unacceptable size"
        case "play" if words[1] == "pass" and wrong == "refuses passes":
            return "? syntax error"
        case "play" if wrong == "refuses":
            return "? illegal move"
        case "play":
            if ("black", "white")[othello.side] != words[0]:
                othello = othello.play(PASS)
            othello = othello.play(parse(words[1]))
        case "genmove":
            return genmove(words[0])
    return "="


# ---- NBoard ---------------------------------------------------------------------------------------------------------
def answer_nboard(command: str, *words: str) -> str:
    global othello
    match command:
        case "ping":
            return f"pong {words[0]}"
        case "set" if words[0] == "game":
            othello = ReferenceOthello.start(8)
            for name in re.findall(r"\b[BW]\[(\w+)", " ".join(words)):
                othello = othello.play(parse(name))
        case "go":
            name = think() or name_of(othello.legal_moves()[0])
            eval = " -1.00 0.0" if wrong == "is Edax" else "/-1.00/0.0"
            return f"status thinking\n=== {name.lower()}{eval}"
    return ""


# ---- UCI ------------------------------------------------------------------------------------------------------------
def answer_uci(command: str, *words: str) -> str:
    global awale
    match command:
        case "uci":
            return "id name first\noption name OwnBook type check default true\nuciok"
        case "isready":
            return "readyok"
        case "position":
            awale = ReferenceAwale.start("abapa")
            for name in words[2] if len(words) > 2 else "":
                awale = awale.play("abcdef".index(name.lower()))
        case "go":
            name = think() or "ABCDEFabcdef"[awale.legal_moves()[0] + 6 * awale.side]
            return f"info depth 1 score cp 0 pv {name}\nbestmove {name} ponder a"
    return ""


if wrong == "has a child":
    child = subprocess.Popen([sys.executable, "-c", "import threading; threading.Event().wait(600)"])
    log.write_text(str(child.pid))
    threading.Event().wait(600)
if wrong == "greets":
    print("Welcome!\n\nAnother line", flush=True)
answer = {"gtp": answer_gtp, "nboard": answer_nboard, "uci": answer_uci}[protocol]
for line in sys.stdin:
    with log.open("a") as file:
        file.write(line)
    if wrong == "is silent":
        continue
    print(answer(*line.split()), end="\n\n", flush=True)
if wrong == "stays":
    threading.Event().wait(600)
