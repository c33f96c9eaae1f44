"""`awello train h1` to `h6`, `travers` and `otage`: learn weights and factors with the genetic algorithm."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from awello.arena.workers import Jobs, worker_pool
from awello.cli.app import Cluster, JobsOption, Json, print_result, progress, resolve_jobs
from awello.cli.running import resumable
from awello.cli.train import Duration, Out, Plot, Seed, parse_training_time, train
from awello.lab.report import check_plot, write_plot
from awello.rules.game import find_game

if TYPE_CHECKING:  # needs deap, an optional dependency
    from awello.learn.genetic import Evolution, GeneticConfig

HEURISTICS = ("h1", "h2", "h3", "h4", "h5", "h6", "travers")
HELP = """Train the Awalé heuristic {name} by evolution.

Uses the genetic algorithm of report 1. Can be interrupted; run the same command again to resume from the last complete
generation.
"""
TrainingVariant = Annotated[str, typer.Option(help="Rules: abapa, tournament or romein", metavar="V")]
Nodes = Annotated[int, typer.Option(min=1, help="Search nodes per move", metavar="N")]


def add_command(name: str) -> None:
    """Add the command that trains a heuristic."""

    @train.command(name, help=HELP.format(name=name))
    def command(
        duration: Duration = "1h",
        out: Out = Path(f"{name}.json"),
        jobs: JobsOption = None,
        cluster: Cluster = None,
        seed: Seed = 0,
        nodes: Nodes = 1000,
        variant: TrainingVariant = "tournament",
        plot: Plot = None,
        json: Json = False,
    ) -> None:
        from awello.learn.categories import DEFAULT_GAMES
        from awello.learn.genetic import GeneticConfig, learn_ordering, save_evolution

        game, seconds = find_game("awale", variant=variant), parse_training_time(duration)
        plan = GeneticConfig(name, str(game), seed, nodes)
        evolution = learn(plan, seconds, out, resolve_jobs(jobs, cluster), plot, json)
        if name == "travers":
            with progress("move ordering", DEFAULT_GAMES) as step:
                save_evolution(out, plan, evolution, learn_ordering(plan, evolution, step))
        report(plan, evolution, out, json)


for heuristic in HEURISTICS:
    add_command(heuristic)


@train.command()
def otage(
    memory: Annotated[Path, typer.Option(help="Folder of Otage's memory", metavar="FOLDER")],
    duration: Duration = "1h",
    out: Out = Path("otage.json"),
    jobs: JobsOption = None,
    cluster: Cluster = None,
    seed: Seed = 0,
    nodes: Nodes = 1000,
    plot: Plot = None,
    json: Json = False,
) -> None:
    """Train the factors of Otage's evaluation by evolution.

    Uses the genetic algorithm of report 1 with the patterns of the memory, and finally replaces the memory's factors.
    Can be interrupted; run the same command again to resume from the last complete generation.
    """
    from awello.learn.otage_factors import make_config, write_factors

    seconds, plan = parse_training_time(duration), make_config(memory, seed, nodes)
    evolution = learn(plan, seconds, out, resolve_jobs(jobs, cluster), plot, json)
    file = write_factors(memory, plan.weights(evolution.best))
    report(plan, evolution, out, json)
    if not json:
        print(f"the factors are saved in {file}")


def learn(plan: "GeneticConfig", seconds: float, out: Path, jobs: Jobs, plot: Path | None, json: bool) -> "Evolution":
    """Evolve until the time is spent, saving each generation, and plot the fitness if requested."""
    from awello.learn.genetic import evolve, resume_evolution, save_evolution

    if plot:
        check_plot(plot)
    lines = not json and not sys.stdout.isatty()
    evolution = resume_evolution(out, plan)
    save_evolution(out, plan, evolution)  # so that write errors appear before the first generation
    started = time.perf_counter() - evolution.seconds
    with (
        resumable(out),
        progress(f"train {plan.heuristic}", round(seconds)) as show,
        nullcontext(map) if jobs == 1 else worker_pool(jobs) as parallel_map,
    ):

        def tracked(function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
            for result in parallel_map(function, items):
                show(0, completed=time.perf_counter() - started)
                yield result

        for generation in evolve(plan, evolution, seconds, tracked):
            evolution = generation
            save_evolution(out, plan, evolution)
            show(0, description=describe(evolution, "\n"))
            if lines:
                print(describe(evolution), flush=True)
    if plot:
        write_plot(plot, lambda axes: draw(axes, evolution))
    return evolution


def describe(evolution: "Evolution", separator: str = ", ") -> str:
    """Describe the state of the evolution in one or two lines."""
    last = evolution.history[-1]
    weights = " ".join(map(str, last.weights))
    return f"generation {len(evolution.history)}: best {last.best}, mean {last.mean:.0f}{separator}weights {weights}"


def draw(axes: Any, evolution: "Evolution") -> None:
    """Plot the fitness of each generation."""
    numbers = range(1, len(evolution.history) + 1)
    axes.plot(numbers, [generation.best for generation in evolution.history], label="best")
    axes.plot(numbers, [generation.mean for generation in evolution.history], label="mean of the population")
    axes.set_xlabel("generation")
    axes.set_ylabel("fitness")


def report(plan: "GeneticConfig", evolution: "Evolution", out: Path, json: bool) -> None:
    """Print the learnt weights."""
    content = {
        "heuristic": plan.heuristic,
        "weights": plan.weights(evolution.best),
        "fitness": evolution.history[-1].best,
        "generations": len(evolution.history),
        "seconds": evolution.seconds,
        "file": str(out),
    }
    print_result(content, f"{describe(evolution)}; {evolution.seconds:.0f} s, written to {out}", json)
