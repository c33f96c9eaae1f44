"""`awello solve`: compute the scores of positions, and check scores given in a file."""

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
from awello.cli.app import app
from awello.cli.input import is_file_or_stdin, read_lines
from awello.cli.options import FamilyArgument, Hash, Size, Threads, Variant
from awello.cli.output import print_json
from awello.cli.progress import make_progress_bar
from awello.engine.engine import Engine
from awello.engine.tablebase import count_board_seeds
from awello.errors import ConfigError
from awello.formats.obf import Problem, parse_problem
from awello.formats.transcript import parse_transcript
from awello.limits import Limit, parse_limit
from awello.position import Position, format_position, parse_position
from awello.rules.game import PASS, Game, find_game
from awello.schemas import AnalysisJson

MOVES_PATTERN = re.compile(r"\s*(?:\d+\s*\.+\s*)?[a-hA-H]\s?[1-8]")  # start of a transcript
BOARD_PATTERN = re.compile(r"\s*[-.*xXoObBwW ]{9}")  # start of a board
MAX_PV_MOVES = 8
LONG_SEARCH_EMPTIES = 32  # from this number of empty squares on, a search can take hours
CORRECTNESS_MARKS = {True: "✓", False: "✗", None: " "}
OUTCOME_NAMES = {1: "win", 0: "draw", -1: "loss"}
OTHELLO_HEADER = (
    f"{'#':>3} {'empties':>7} {'score':>5} {'best':<4}   {'seconds':>9} {'nodes':>10} {'M nodes/s':>9}  best line"
)
AWALE_HEADER = f"{'#':>3} {'seeds':>5} {'score':>6} best exact  position"


@app.command(context_settings={"ignore_unknown_options": True})  # a board may start with a dash
def solve(
    game: FamilyArgument,
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="File (- for stdin), position, Othello moves, or start")
    ],
    size: Size = None,
    variant: Variant = None,
    wld: Annotated[bool, typer.Option("--wld", help="Find only whether the mover wins, draws or loses")] = False,
    threads: Threads = 1,
    hash: Hash = 64,
    limit: Annotated[
        str | None,
        typer.Option(
            help="Awalé: limit per position outside the tablebase: 14 (plies), 500ms, 450000n (nodes) or level=12; "
            "default: 1s",
            metavar="LIMIT",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object per position")] = False,
) -> None:
    """Solve positions: compute the score with best play.

    Othello: the score is the mover's final margin in discs. If SOURCE contains scores, the results are compared
    with them, and the exit status is 1 if any result is wrong. Ctrl-C stops the search and prints the totals so far.

    Awalé: the score is the number of seeds that the mover will still capture, minus the number that the opponent will
    still capture. SOURCE is a diagram, a file of diagrams, or start. Scores of positions in the tablebase are exact;
    other scores come from a search and are usually estimates.
    """

    chosen = find_game(game, size, variant)
    if chosen.family == "awale":
        solve_awale(source, chosen, parse_limit(limit or "1s"), wld, threads, hash, json)
        return
    if limit is not None:
        raise ConfigError("--limit works only with awale: omit --limit")
    problems = read_problems(source, chosen)
    for number, problem in enumerate(problems, 1):
        if size is not None and problem.position.game != chosen:
            actual = problem.position.game.size
            raise ConfigError(f"position {number} has a board of size {actual}, not {size}: omit --size")
    print_results(solve_all(problems, wld, threads, hash), json)


# ---- input ----------------------------------------------------------------------------------------------------
def read_problems(source: str, game: Game) -> list[Problem]:
    """Read problems from a file, standard input, a board, moves, or `start`."""

    if source == "start":
        return [Problem(Position.start(game))]
    if is_file_or_stdin(source):
        return read_lines(source, parse_problem, "board with its side to move (OBF)")
    if MOVES_PATTERN.match(source):
        return [Problem(parse_transcript(source, Position.start(game)).final)]
    if BOARD_PATTERN.match(source):
        return [parse_problem(source)]
    raise ConfigError(
        f"{source[:20]!r} is not a file, board or moves: give a file of OBF lines, "
        "a board and its side to move, moves such as f5d6c3, or start"
    )


# ---- solving --------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class SolvedProblem:
    """A problem and its analysis; with `wld`, the score is only a win, draw or loss."""

    problem: Problem
    analysis: Analysis
    wld: bool

    @property
    def score(self) -> int:
        """The mover's score in discs; with `wld`, 1 for a win, 0 for a draw and -1 for a loss."""
        return self._reduce(round(self.analysis.value))

    @property
    def best(self) -> str | None:
        """The best move, or None if the game is over."""
        position = self.problem.position
        return None if position.over else position.format_move(self.analysis.move)

    @property
    def correct(self) -> bool | None:
        """Whether the score and the best move agree with those of the problem; None if the problem has no score."""
        expected, scores = self.problem.best_score, self.problem.scores
        if expected is None:
            return None
        good = [move for move, score in scores if self._reduce(score) == self._reduce(expected)]
        agrees = self.analysis.exact and self.score == self._reduce(expected)
        return agrees and (not scores or self.analysis.move in good)

    def format_score(self) -> str:
        """Format the score; `~` marks an estimate."""
        score = OUTCOME_NAMES[self.score] if self.wld else f"{self.score:+d}" if self.score else "0"
        return score if self.analysis.exact else f"~{score}"

    def _reduce(self, score: int) -> int:
        return (score > 0) - (score < 0) if self.wld else score


def solve_all(problems: Sequence[Problem], wld: bool, threads: int, hash: int) -> Iterator[SolvedProblem]:
    """Solve problems in order; consecutive problems with the same board size share an engine."""
    for game, group in groupby(enumerate(problems, 1), lambda pair: pair[1].position.game):
        with Engine(game, threads=threads, hash=hash) as engine:
            for number, problem in group:
                yield solve_one(engine, problem, wld, f"{number} of {len(problems)}")


def solve_one(engine: Engine, problem: Problem, wld: bool, label: str) -> SolvedProblem:
    """Clear the engine and solve a problem with it, showing a progress line."""
    if problem.position.over:
        return SolvedProblem(problem, final_analysis(problem.position), wld)
    if problem.position.empties >= LONG_SEARCH_EMPTIES:
        notice = f"{problem.position.empties} empty squares: this search can take very long; Ctrl-C stops it"
        print(f"awello: {notice}", file=sys.stderr)
    engine.clear()
    with make_progress_bar(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()) as line:
        task = line.add_task(label, total=None)
        for analysis in engine.solve(problem.position, wld=wld):
            solved = SolvedProblem(problem, analysis, wld)
            line.update(task, description=f"{label}: {describe_search(solved)}")
    return solved


def final_analysis(position: Position) -> Analysis:
    """Return the analysis of a position in which the game is over."""
    value = float(position.margin - position.lead)
    return Analysis(PASS, value, exact=True, depth=0, nodes=0, leaves=0, seconds=0.0)


# ---- output ---------------------------------------------------------------------------------------------------
def print_results(results: Iterator[SolvedProblem], json: bool) -> None:
    """Print each result, then the totals; exit with status 1 if a result is wrong, or 130 after Ctrl-C."""

    console = Console(highlight=False, markup=False, soft_wrap=True)
    done: list[SolvedProblem] = []
    interrupted = False
    try:
        for solved in results:
            done.append(solved)
            print_solution(solved, len(done), console, json)
    except KeyboardInterrupt:
        interrupted = True
    if not json:
        console.print(format_totals(done), style="bold")
    if interrupted or any(solved.correct is False for solved in done):
        raise typer.Exit(130 if interrupted else 1)


def print_solution(solved: SolvedProblem, number: int, console: Console, json: bool) -> None:
    """Print one result as a table row or a JSON object."""
    if json:
        analysis = AnalysisJson.of(solved.problem.position, solved.analysis)
        print_json(analysis.model_dump() | {"score": solved.score})
        sys.stdout.flush()
        return
    if number == 1:
        console.print(OTHELLO_HEADER, style="bold")
    console.print(format_row(number, solved, console.width), style="red" if solved.correct is False else None)


def format_row(number: int, solved: SolvedProblem, width: int = 80) -> str:
    """Format a table row, with as many moves of the best line as fit the width, up to `MAX_PV_MOVES`."""
    position, analysis = solved.problem.position, solved.analysis
    shown = min(MAX_PV_MOVES, max(0, (width - OTHELLO_HEADER.index("best line") + 1) // len("a1 ")))
    line = " ".join(position.format_move(move) for move in analysis.pv[:shown])
    rate = format_rate(analysis.nodes, analysis.seconds)
    mark = CORRECTNESS_MARKS[solved.correct]
    row = (
        f"{number:>3} {position.empties:>7} {solved.format_score():>5} {solved.best or '-':<4} {mark} "
        f"{analysis.seconds:>9.3f} {format_count(analysis.nodes):>10} {rate:>9}  {line}"
    )
    return row.rstrip()


def format_totals(done: Sequence[SolvedProblem]) -> str:
    """Format the totals: the numbers of problems and correct results, the time and the nodes."""
    verdicts = [solved.correct for solved in done if solved.correct is not None]
    correct = f", {sum(verdicts)} of {len(verdicts)} correct" if verdicts else ""
    seconds = sum(solved.analysis.seconds for solved in done)
    nodes = sum(solved.analysis.nodes for solved in done)
    problems = f"{len(done)} position{'' if len(done) == 1 else 's'}"
    return f"{problems}{correct}: {seconds:.3f} s, {format_count(nodes)} nodes, {format_rate(nodes, seconds)} M nodes/s"


def format_count(nodes: int) -> str:
    """Format a number of nodes: `1,234` or `123.0 M`."""
    return f"{nodes / 1e6:,.1f} M" if nodes >= 1e5 else f"{nodes:,}"


def format_rate(nodes: int, seconds: float) -> str:
    """Format a rate in millions of nodes per second."""
    return f"{nodes / seconds / 1e6:.1f}" if seconds else "0.0"


def describe_search(solved: SolvedProblem) -> str:
    """Describe the current state of a search for the progress line."""
    analysis = solved.analysis
    confidence = f"{analysis.confidence} % confidence"
    return f"{solved.best} {solved.format_score()}, {confidence}, {format_count(analysis.nodes)} nodes"


# ---- Awalé -----------------------------------------------------------------------------------------------------------
def solve_awale(source: str, game: Game, limit: Limit, wld: bool, threads: int, hash: int, json: bool) -> None:
    """Solve positions of Awalé; print the value and the best move of each position."""

    positions = read_positions(source, game)
    if not json:
        print(AWALE_HEADER)
    with Engine(game, threads, hash) as engine:
        for number, position in enumerate(positions, 1):
            analysis = final_analysis(position)
            if not position.over:
                *_, analysis = engine.analyse(position, limit)
            show_awale(number, position, analysis, wld, json)


def read_positions(source: str, game: Game) -> list[Position]:
    """Read positions from a diagram, a file of diagrams, standard input, or `start`."""

    if source == "start":
        return [Position.start(game)]
    if source.count("-") > 1 and not is_file_or_stdin(source):
        return [parse_position(source, game)]
    return read_lines(source, partial(parse_position, game=game), "diagram")


def show_awale(number: int, position: Position, analysis: Analysis, wld: bool, json: bool) -> None:
    """Print a position with its value and best move, as a row or as JSON."""

    value, exact = analysis.value, analysis.exact
    margin = position.lead + value
    outcome = OUTCOME_NAMES[(margin > 0) - (margin < 0)]
    if json:
        score = outcome if wld else int(value) if exact else value
        print_json(AnalysisJson.of(position, analysis).model_dump() | {"score": score})
    else:
        score = outcome if wld else f"{value:+.0f}" if exact else f"{value:+.2f}"
        best = "-" if position.over else position.format_move(analysis.move)
        proof, seeds = "yes" if exact else "no", count_board_seeds(position)
        print(f"{number:>3} {seeds:>5} {score:>6} {best:<4} {proof:<5}  {format_position(position)}")
