"""`awello train h1` to `h6`, `travers` and `otage`: weights and factors by the genetic algorithm."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from awello.arena.workers import Jobs, worker_pool
from awello.cli.app import Cluster, Json, Processes, Variant, chosen_jobs, print_result, progress
from awello.cli.running import resumable
from awello.cli.train import Budget, Out, Plot, Seed, parse_budget, train
from awello.lab.report import check_plot, write_plot
from awello.rules.game import find_game

if TYPE_CHECKING:  # needs deap, which other trainings do without
    from awello.learn.genetic import Evolution, GeneticConfig

HEURISTICS = ("h1", "h2", "h3", "h4", "h5", "h6", "travers")
HELP = """Learn the weights of {name} for Awalé by the genetic algorithm of report 1.

Can be interrupted; run the same command again to resume from the last whole generation for the time that is left.
"""
Nodes = Annotated[int, typer.Option(min=1, help="Nodes for a move of an individual", metavar="N")]


def add(name: str) -> None:
    """Add the command that trains one heuristic."""

    @train.command(name, help=HELP.format(name=name))
    def command(
        budget: Budget = "1h",
        out: Out = Path(f"{name}.json"),
        jobs: Processes = None,
        cluster: Cluster = None,
        seed: Seed = 0,
        nodes: Nodes = 1000,
        variant: Variant = "tournament",
        plot: Plot = None,
        json: Json = False,
    ) -> None:
        from awello.learn.categories import DEFAULT_GAMES
        from awello.learn.genetic import GeneticConfig, learn_ordering, save_evolution

        game, seconds = find_game("awale", variant=variant), parse_budget(budget)
        plan = GeneticConfig(name, str(game), seed, nodes)
        evolution = learn(plan, seconds, out, chosen_jobs(jobs, cluster), plot, json)
        if name == "travers":
            with progress("order of moves", DEFAULT_GAMES) as step:
                save_evolution(out, plan, evolution, learn_ordering(plan, evolution, step))
        report(plan, evolution, out, json)


for heuristic in HEURISTICS:
    add(heuristic)


@train.command()
def otage(
    memory: Annotated[Path, typer.Option(help="The folder of Otage's memory: its patterns count", metavar="DIR")],
    budget: Budget = "1h",
    out: Out = Path("otage.json"),
    jobs: Processes = None,
    cluster: Cluster = None,
    seed: Seed = 0,
    nodes: Nodes = 1000,
    plot: Plot = None,
    json: Json = False,
) -> None:
    """Learn the factors of Otage's judgement by the genetic algorithm, and put them into its memory.

    Nothing but the factors of the memory is replaced, and only at the end. Can be interrupted; run the same command
    again to resume from the last whole generation for the time that is left.
    """
    from awello.learn.otage_factors import make_config, write_factors

    seconds, plan = parse_budget(budget), make_config(memory, seed, nodes)
    evolution = learn(plan, seconds, out, chosen_jobs(jobs, cluster), plot, json)
    file = write_factors(memory, plan.weights(evolution.best))
    report(plan, evolution, out, json)
    if not json:
        print(f"these are the factors in {file} now")


def learn(plan: "GeneticConfig", seconds: float, out: Path, jobs: Jobs, plot: Path | None, json: bool) -> "Evolution":
    """Let generations pass until the time is spent, each written down, and draw their fitness if asked to."""
    from awello.learn.genetic import evolve, resume_evolution, save_evolution

    if plot:
        check_plot(plot)
    lines = not json and not sys.stdout.isatty()
    evolution = resume_evolution(out, plan)
    save_evolution(out, plan, evolution)  # what is wrong with the file shows here
    begun = time.perf_counter() - evolution.seconds
    with (
        resumable(out),
        progress(f"train {plan.heuristic}", round(seconds)) as show,
        nullcontext(map) if jobs == 1 else worker_pool(jobs) as each,
    ):

        def watched(function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
            for result in each(function, items):
                show(0, completed=time.perf_counter() - begun)
                yield result

        for generation in evolve(plan, evolution, seconds, watched):
            evolution = generation
            save_evolution(out, plan, evolution)
            show(0, description=describe(evolution, "\n"))
            if lines:
                print(describe(evolution), flush=True)
    if plot:
        write_plot(plot, lambda axes: draw(axes, evolution))
    return evolution


def describe(evolution: "Evolution", separator: str = ", ") -> str:
    """Where the learning stands, in a line or two."""
    last = evolution.history[-1]
    weights = " ".join(map(str, last.weights))
    return f"generation {len(evolution.history)}: best {last.best}, mean {last.mean:.0f}{separator}weights {weights}"


def draw(axes: Any, evolution: "Evolution") -> None:
    """The fitness of each generation."""
    numbers = range(1, len(evolution.history) + 1)
    axes.plot(numbers, [lived.best for lived in evolution.history], label="best")
    axes.plot(numbers, [lived.mean for lived in evolution.history], label="mean of the population")
    axes.set_xlabel("generation")
    axes.set_ylabel("fitness")


def report(plan: "GeneticConfig", evolution: "Evolution", out: Path, json: bool) -> None:
    """What has been learnt, for people or machines."""
    content = {
        "heuristic": plan.heuristic,
        "weights": plan.weights(evolution.best),
        "fitness": evolution.history[-1].best,
        "generations": len(evolution.history),
        "seconds": evolution.seconds,
        "file": str(out),
    }
    print_result(content, f"{describe(evolution)}; {evolution.seconds:.0f} s, written to {out}", json)
