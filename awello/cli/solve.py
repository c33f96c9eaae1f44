"""`awello solve`: the score of positions under best play, and a check of those a file knows."""

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

from awello.analysis import Analysis
from awello.cli.app import GameName, Hash, Size, Threads, Variant, app, print_json, progress_bar
from awello.cli.positions import is_source, read_lines
from awello.engine.engine import Engine
from awello.engine.tablebase import seeds_on_board
from awello.errors import ConfigError
from awello.formats.obf import Problem, parse_problem
from awello.formats.transcript import parse_transcript
from awello.limits import Limit, parse_duration
from awello.position import Position, format_position, parse_position
from awello.rules.game import PASS, Game, find_game
from awello.schemas import AnalysisJson

MOVES = re.compile(r"\s*(?:\d+\s*\.+\s*)?[a-hA-H]\s?[1-8]")  # how a transcript begins
BOARD = re.compile(r"\s*[-.*xXoObBwW ]{9}")  # how a board begins
SHOWN = 8  # moves of the best line
MARKS = {True: "✓", False: "✗", None: " "}
OUTCOMES = {1: "win", 0: "draw", -1: "loss"}
HEADER = f"{'#':>3} {'empties':>7} {'score':>5} {'best':<4}   {'seconds':>9} {'nodes':>10} {'M nodes/s':>9}  best line"
AWALE_HEADER = f"{'#':>3} {'seeds':>5} {'score':>6} best exact  position"


@app.command(context_settings={"ignore_unknown_options": True})  # a board may begin with a dash
def solve(
    game: GameName,
    what: Annotated[str, typer.Argument(metavar="WHAT", help="A file, - for stdin, a position, moves, or start")],
    size: Size = None,
    variant: Variant = None,
    wld: Annotated[bool, typer.Option("--wld", help="Ask only who wins: win, draw or loss")] = False,
    threads: Threads = 1,
    hash: Hash = 64,
    time: Annotated[str, typer.Option(help="Awalé: time to search beyond the endgame table", metavar="T")] = "1s",
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line for machines")] = False,
) -> None:
    """Solve positions: the score under best play, from the mover's view.

    Othello: in discs. The scores that a file gives are checked; the exit status is 1 if one is wrong. Ctrl-C ends with
    the totals. Awalé: the seeds still to be won, the mover's less the opponent's; give a diagram or a file of diagrams.
    Exact for as many seeds as the table of endgames knows; beyond it a search says what it can.
    """

    chosen = find_game(game, size, variant)
    if chosen.family == "awale":
        solve_awale(what, chosen, parse_duration(time), wld, threads, hash, json)
        return
    problems = read_problems(what, chosen)
    for number, problem in enumerate(problems, 1):
        if size is not None and problem.position.game != chosen:
            found = problem.position.game.size
            raise ConfigError(f"position {number} has a board of size {found}, not {size}: leave --size out")
    report(solve_all(problems, wld, threads, hash), json)


# ---- what to solve --------------------------------------------------------------------------------------------
def read_problems(what: str, game: Game) -> list[Problem]:
    """The problems that people name: a file, standard input, the start, a board or moves from the start."""

    if what == "start":
        return [Problem(Position.start(game))]
    if is_source(what):
        return read_lines(what, parse_problem, "board and its side (OBF)")
    if MOVES.match(what):
        return [Problem(parse_transcript(what, Position.start(game)).final)]
    if BOARD.match(what):
        return [parse_problem(what)]
    raise ConfigError(
        f"{what[:20]!r} is no file, board or moves: name a file of OBF lines, "
        "or write a board and its side, moves such as f5d6c3, or start"
    )


# ---- solving --------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class SolvedProblem:
    """A problem and what was found; with `wld` only who wins counts."""

    problem: Problem
    analysis: Analysis
    wld: bool

    @property
    def score(self) -> int:
        """The score for the mover: discs, or -1, 0, 1 with `wld`."""
        return self._counted(round(self.analysis.value))

    @property
    def best(self) -> str | None:
        """The name of the best move, None if the game is over."""
        position = self.problem.position
        return None if position.over else position.format_move(self.analysis.move)

    @property
    def right(self) -> bool | None:
        """Whether score and move are as the file says; None if it says nothing."""
        known, scores = self.problem.best_score, self.problem.scores
        if known is None:
            return None
        good = [move for move, score in scores if self._counted(score) == self._counted(known)]
        same = self.analysis.exact and self.score == self._counted(known)
        return same and (not scores or self.analysis.move in good)

    def format_score(self) -> str:
        """The score for people; `~` marks one that is not proved."""
        score = OUTCOMES[self.score] if self.wld else f"{self.score:+d}" if self.score else "0"
        return score if self.analysis.exact else f"~{score}"

    def _counted(self, score: int) -> int:
        return (score > 0) - (score < 0) if self.wld else score


def solve_all(problems: Sequence[Problem], wld: bool, threads: int, hash: int) -> Iterator[SolvedProblem]:
    """Solve problems one after the other; those of one size share an engine."""
    for game, group in groupby(enumerate(problems, 1), lambda pair: pair[1].position.game):
        with Engine(game, threads=threads, hash=hash) as engine:
            for number, problem in group:
                yield solve_one(engine, problem, wld, f"{number} of {len(problems)}")


def solve_one(engine: Engine, problem: Problem, wld: bool, label: str) -> SolvedProblem:
    """Solve a problem as if it were the only one, telling on the live line what is known so far."""
    if problem.position.over:
        return SolvedProblem(problem, final_analysis(problem.position), wld)
    engine.clear()
    with progress_bar(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()) as line:
        task = line.add_task(label, total=None)
        for analysis in engine.solve(problem.position, wld=wld):
            found = SolvedProblem(problem, analysis, wld)
            line.update(task, description=f"{label}: {describe(found)}")
    return found


def final_analysis(position: Position) -> Analysis:
    """The analysis of a game that is over, in which nothing is left to be won."""
    value = float(position.margin - position.lead)
    return Analysis(PASS, value, exact=True, depth=0, nodes=0, leaves=0, seconds=0.0)


# ---- showing it -----------------------------------------------------------------------------------------------
def report(results: Iterator[SolvedProblem], json: bool) -> None:
    """Print each result as it comes, then the totals; the exit status says whether all was well."""

    console = Console(highlight=False, markup=False, soft_wrap=True)
    done: list[SolvedProblem] = []
    interrupted = False
    try:
        for solved in results:
            done.append(solved)
            show(solved, len(done), console, json)
    except KeyboardInterrupt:
        interrupted = True
    if not json:
        console.print(format_totals(done), style="bold")
    if interrupted or any(solved.right is False for solved in done):
        raise typer.Exit(130 if interrupted else 1)


def show(solved: SolvedProblem, number: int, console: Console, json: bool) -> None:
    """Print one result at once: a row of the table, below its header, or a JSON object."""
    if json:
        form = AnalysisJson.of(solved.problem.position, solved.analysis)
        print_json(form.model_dump() | {"score": solved.score})
        sys.stdout.flush()
        return
    if number == 1:
        console.print(HEADER, style="bold")
    console.print(format_row(number, solved, console.width), style="red" if solved.right is False else None)


def format_row(number: int, solved: SolvedProblem, width: int = 80) -> str:
    """A result as a line of the table, with as much of the best line as the width has room for."""
    position, analysis = solved.problem.position, solved.analysis
    shown = min(SHOWN, max(0, (width - HEADER.index("best line") + 1) // len("a1 ")))
    line = " ".join(position.format_move(move) for move in analysis.pv[:shown])
    rate = format_rate(analysis.nodes, analysis.seconds)
    row = (
        f"{number:>3} {position.empties:>7} {solved.format_score():>5} {solved.best or '-':<4} {MARKS[solved.right]} "
        f"{analysis.seconds:>9.3f} {format_count(analysis.nodes):>10} {rate:>9}  {line}"
    )
    return row.rstrip()


def format_totals(done: Sequence[SolvedProblem]) -> str:
    """How many problems, how many right, and what they took."""
    checked = [solved.right for solved in done if solved.right is not None]
    right = f", {sum(checked)} of {len(checked)} right" if checked else ""
    seconds = sum(solved.analysis.seconds for solved in done)
    nodes = sum(solved.analysis.nodes for solved in done)
    problems = f"{len(done)} position{'' if len(done) == 1 else 's'}"
    return f"{problems}{right}: {seconds:.3f} s, {format_count(nodes)} nodes, {format_rate(nodes, seconds)} M nodes/s"


def format_count(nodes: int) -> str:
    """A number of nodes, in millions where it is large: `1,234`, `123.0 M`."""
    return f"{nodes / 1e6:,.1f} M" if nodes >= 1e5 else f"{nodes:,}"


def format_rate(nodes: int, seconds: float) -> str:
    """Millions of nodes a second."""
    return f"{nodes / seconds / 1e6:.1f}" if seconds else "0.0"


def describe(found: SolvedProblem) -> str:
    """What is known so far, for the live line."""
    analysis = found.analysis
    return f"{found.best} {found.format_score()}, {analysis.confidence} % sure, {format_count(analysis.nodes)} nodes"


# ---- Awalé -----------------------------------------------------------------------------------------------------------
def solve_awale(what: str, game: Game, seconds: float, wld: bool, threads: int, hash: int, json: bool) -> None:
    """Print value and best move of each position: seeds still to be won, the mover's less the opponent's."""

    positions = read_positions(what, game)
    if not json:
        print(AWALE_HEADER)
    with Engine(game, threads, hash) as engine:
        for number, position in enumerate(positions, 1):
            found = final_analysis(position)
            if not position.over:
                *_, found = engine.analyse(position, Limit(seconds=seconds))
            show_awale(number, position, found, wld, json)


def read_positions(what: str, game: Game) -> list[Position]:
    """The positions that people name: a diagram, a file of them, standard input, or the start."""

    if what == "start":
        return [Position.start(game)]
    if what.count("-") > 1 and not is_source(what):
        return [parse_position(what, game)]
    return read_lines(what, partial(parse_position, game=game), "diagram")


def show_awale(number: int, position: Position, found: Analysis, wld: bool, json: bool) -> None:
    """Print one position with its value and best move, as a row or as JSON."""

    value, exact = found.value, found.exact
    margin = position.lead + value
    outcome = OUTCOMES[(margin > 0) - (margin < 0)]
    if json:
        score = outcome if wld else int(value) if exact else value
        print_json(AnalysisJson.of(position, found).model_dump() | {"score": score})
    else:
        score = outcome if wld else f"{value:+.0f}" if exact else f"{value:+.2f}"
        best = "-" if position.over else position.format_move(found.move)
        proof, seeds = "yes" if exact else "no", seeds_on_board(position)
        print(f"{number:>3} {seeds:>5} {score:>6} {best:<4} {proof:<5}  {format_position(position)}")
