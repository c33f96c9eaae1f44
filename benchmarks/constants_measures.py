"""Take one measurement of the package on PYTHONPATH, for `constants.py`, and print it as one line of JSON.

    python benchmarks/constants_measures.py MEASURE [--data FOLDER] [--base FOLDER] [--quick]

With one thread, node counts are the same in every run, because the transposition table is cleared before each task.
`seconds` is the CPU time of a task: the minimum over all runs.  The elapsed time, which matters with two threads, is
measured too (`passed`).
"""

import argparse
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from constants_games import MATCH_MEASURES

from awello import Game, Position, parse_transcript
from awello.analysis import Analysis
from awello.engine.bench import BENCH_GAMES
from awello.engine.engine import Engine
from awello.engine.tablebase import count_board_seeds
from awello.formats.obf import parse_obf
from awello.formats.transcript import play_names
from awello.formats.wthor import read_wthor
from awello.limits import Limit
from awello.record import Record

HASH_MIB = 128
WTHOR_FILES, OTHER_WTHOR_FILES = ("WTH_2023.wtb", "WTH_2024.wtb"), ("WTH_2015.wtb", "WTH_2016.wtb")
MIDGAME_EMPTIES, MIDGAME_DEPTHS = (44, 34, 24), {44: 14, 34: 14, 24: 14}  # depths by empty squares
ENDGAME_EMPTIES = (12, 14, 16, 18)  # in the measure solve-few
SEARCHED_PLIES = range(4, 45, 5)  # the positions after these plies of Awalé games are searched
MIN_BOARD_SEEDS = 20  # fewest seeds on the board: with fewer, searches would reach the tablebase
AWALE_DEPTH = 19

Result = dict[str, Any]
SearchTask = tuple[Position, Limit | None]  # None: solve the position


# ---- positions ------------------------------------------------------------------------------------------------------
def load_othello_games(data: Path, count: int, files: tuple[str, ...] = WTHOR_FILES) -> list[Record]:
    """Return tournament games with exact scores at 24 empty squares; if there are none, the games of `awello bench`."""
    found = []
    for name in files if data.exists() else ():
        records = read_wthor((data / "wthor" / name).read_bytes())
        found += [record for record in records if isinstance(record, Record) and int(record.tags["Theoretical"])]
    return found[:: max(1, len(found) // count)][:count] or [parse_transcript(game) for game in BENCH_GAMES]


def find_position(record: Record, empties: int) -> Position | None:
    """Return the position in which a game has `empties` empty squares and several legal moves, or None."""
    found = [position for position in record.positions() if position.empties == empties]
    return next((position for position in found if len(position.legal_moves()) > 1), None)


def compute_exact_score(record: Record, position: Position) -> int:
    """Return WTHOR's exact score of a position with 24 empty squares, from the mover's view."""
    score = 2 * int(record.tags["Theoretical"]) - 64
    return -score if position.side else score


def load_awale_positions(data: Path, count: int) -> list[Position]:
    """Return positions of published Awalé games or, if their file is missing, of a self-play game."""
    file = data / "awari" / "aalina_abapa_games.txt"
    lines = [line.split() for line in file.read_text("utf-8").splitlines()] if file.exists() else []
    games = [list(play_names(moves, Position.start(Game.ABAPA))[0].positions()) for _, moves in lines]
    chosen = [game[ply] for game in games or [play_awale_game()] for ply in SEARCHED_PLIES if ply < len(game) - 1]
    return [position for position in chosen if count_board_seeds(position) >= MIN_BOARD_SEEDS][:count]


def play_awale_game() -> list[Position]:
    """Play a fast self-play game; return its positions."""
    positions = [Position.start(Game.ABAPA)]
    with Engine(Game.ABAPA, hash=1) as engine:
        while not positions[-1].over:
            positions.append(positions[-1].after(engine.find_best_move(positions[-1], Limit(depth=6))))
    return positions


# ---- searching ------------------------------------------------------------------------------------------------------
def search(engine: Engine, task: SearchTask) -> Analysis:
    """Return the last analysis of a search."""
    position, limit = task
    *_, last = engine.solve(position) if limit is None else engine.analyse(position, limit)
    return last


def search_all(engine: Engine, tasks: list[SearchTask], runs: int) -> tuple[Result, list[float]]:
    """Search each position with an empty transposition table; return the nodes, times and value of each position."""
    nodes, values = [0] * len(tasks), [0.0] * len(tasks)
    seconds, passed = [math.inf] * len(tasks), [math.inf] * len(tasks)
    for _ in range(runs):
        for number, task in enumerate(tasks):
            engine.clear()
            cpu_started, started = time.process_time(), time.perf_counter()
            last = search(engine, task)
            seconds[number] = min(seconds[number], round(time.process_time() - cpu_started, 5))
            passed[number] = min(passed[number], round(time.perf_counter() - started, 5))
            nodes[number], values[number] = last.nodes, last.value
    return {"nodes": nodes, "seconds": seconds, "passed": passed}, values


def load_endgames(data: Path, quick: bool) -> tuple[list[SearchTask], list[int | None]]:
    """Load the problems FFO 40 to 49 and tournament positions with 20 empty squares; return known scores too."""
    file = data / "suites" / "fforum-40-59.obf"
    problems = parse_obf(file.read_text("utf-8"))[: 5 if quick else 10] if file.exists() else []
    played = [find_position(record, 20) for record in load_othello_games(data, 10 if quick else 40)]
    positions = [problem.position for problem in problems] + [position for position in played if position]
    scores = [problem.best_score for problem in problems]
    return [(position, None) for position in positions], [*scores, *[None] * (len(positions) - len(scores))]


# ---- measures -------------------------------------------------------------------------------------------------------
def measure_solve(args: argparse.Namespace) -> Result:
    """Solve endgames."""
    tasks, scores = load_endgames(args.data, args.quick)
    with Engine(hash=HASH_MIB) as engine:
        result, values = search_all(engine, tasks, args.runs)
    wrong = sum(score is not None and score != value for score, value in zip(scores, values, strict=True))
    return result | {"wrong": wrong}


def measure_solve_more(args: argparse.Namespace) -> Result:
    """Solve endgames of games that `solve` does not use, to confirm a constant that seems better there."""
    records = load_othello_games(args.data, 10 if args.quick else 40, OTHER_WTHOR_FILES)
    found = [find_position(record, 22) for record in records]
    with Engine(hash=HASH_MIB) as engine:
        tasks: list[SearchTask] = [(position, None) for position in found if position]
        return search_all(engine, tasks, args.runs)[0]


def measure_solve_few(args: argparse.Namespace) -> Result:
    """Solve endgames with few empty squares."""
    records = load_othello_games(args.data, 10 if args.quick else 60)
    found = [find_position(record, empties) for record in records for empties in ENDGAME_EMPTIES]
    with Engine(hash=HASH_MIB) as engine:
        tasks: list[SearchTask] = [(position, None) for position in found if position]
        return search_all(engine, tasks, args.runs)[0]


def measure_midgame(args: argparse.Namespace) -> Result:
    """Search midgame positions to a fixed depth; where the exact score is known, record the error of the value."""
    tasks: list[SearchTask] = []
    exact: list[int | None] = []
    for record in load_othello_games(args.data, 10 if args.quick else 60):
        for empties in MIDGAME_EMPTIES:
            if position := find_position(record, empties):
                tasks.append((position, Limit(depth=MIDGAME_DEPTHS[empties])))
                known = empties == 24 and "Theoretical" in record.tags
                exact.append(compute_exact_score(record, position) if known else None)
    with Engine(hash=HASH_MIB) as engine:
        result, values = search_all(engine, tasks, args.runs)
    errors = [abs(score - value) for score, value in zip(exact, values, strict=True) if score is not None]
    return result | {"errors": errors}


def measure_awale(args: argparse.Namespace) -> Result:
    """Search Awalé positions to a fixed depth."""
    tasks: list[SearchTask] = [(position, Limit(depth=AWALE_DEPTH)) for position in load_awale_positions(args.data, 80)]
    with Engine(Game.ABAPA, hash=HASH_MIB) as engine:
        return search_all(engine, tasks, args.runs)[0]


def measure_awale_game(args: argparse.Namespace) -> Result:
    """From each Awalé position, search six moves in a row without clearing the transposition table, as in a game."""
    positions = load_awale_positions(args.data, 10 if args.quick else 40)
    nodes, seconds = [], []
    with Engine(Game.ABAPA, hash=HASH_MIB) as engine:
        for position in positions:
            engine.clear()
            total, cpu_started = 0, time.process_time()
            for _ in range(6):
                if position.over:
                    break
                last = search(engine, (position, Limit(depth=AWALE_DEPTH - 2)))
                total, position = total + last.nodes, position.after(last.move)
            nodes.append(total)
            seconds.append(round(time.process_time() - cpu_started, 4))
    return {"nodes": nodes, "seconds": seconds}


def measure_threads(args: argparse.Namespace) -> Result:
    """Search Othello positions with two threads; measure CPU time and elapsed time."""
    tasks = load_endgames(args.data, False)[0][:10]
    for record in load_othello_games(args.data, 10):
        tasks += [(position, Limit(depth=18)) for empties in (44, 34) if (position := find_position(record, empties))]
    with Engine(threads=2, hash=HASH_MIB) as engine:
        return search_all(engine, tasks, args.runs)[0]


def measure_awale_threads(args: argparse.Namespace) -> Result:
    """Search Awalé positions with two threads; measure CPU time and elapsed time."""
    tasks: list[SearchTask] = [
        (position, Limit(depth=AWALE_DEPTH + 2)) for position in load_awale_positions(args.data, 20)
    ]
    with Engine(Game.ABAPA, threads=2, hash=HASH_MIB) as engine:
        return search_all(engine, tasks, args.runs)[0]


SEARCH_MEASURES: dict[str, Callable[[argparse.Namespace], Result]] = {
    "solve": measure_solve,
    "solve-more": measure_solve_more,
    "solve-few": measure_solve_few,
    "midgame": measure_midgame,
    "awale": measure_awale,
    "awale-game": measure_awale_game,
    "threads": measure_threads,
    "awale-threads": measure_awale_threads,
}


def main() -> None:
    """Run the measurement and print its result as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("measure", choices=[*SEARCH_MEASURES, *MATCH_MEASURES])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of games and openings")
    parser.add_argument("--base", type=Path, default=Path(), help="folder with the package to play against; default: .")
    parser.add_argument("--pairs", type=int, default=100, help="openings of a match, each played twice; default: 100")
    parser.add_argument("--runs", type=int, default=2, help="searches per position; the fastest counts; default: 2")
    parser.add_argument("--quick", action="store_true", help="use fewer positions")
    args = parser.parse_args()
    print(json.dumps((SEARCH_MEASURES | MATCH_MEASURES)[args.measure](args)))


if __name__ == "__main__":
    main()
