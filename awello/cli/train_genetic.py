"""`awello train h1` to `h6`, `train travers` and `train otage`: learn weights with the genetic algorithm."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from awello.arena.workers import Jobs, open_worker_pool
from awello.cli.options import Cluster, JobsOption, Json, resolve_jobs
from awello.cli.output import check_output, print_result
from awello.cli.progress import resumable, show_step_progress
from awello.cli.train import DurationOption, PlotOption, TrainingOut, TrainingSeed, parse_training_time, train
from awello.lab.report import check_plot, write_plot
from awello.rules.game import find_game

if TYPE_CHECKING:  # needs deap, an optional dependency
    from awello.learn.genetic import Evolution, GeneticConfig

HEURISTICS = ("h1", "h2", "h3", "h4", "h5", "h6", "travers")
COMMAND_HELP = """Train the weights of the Awalé heuristic {name}.

Uses the genetic algorithm of report 1 (see docs/sources.md). Can be interrupted; run the same command again to resume
from the last complete generation.
"""
TrainingVariant = Annotated[str, typer.Option(help="Rules of Awalé: abapa, tournament or romein", metavar="VARIANT")]
Nodes = Annotated[int, typer.Option(min=1, help="Number of nodes to search per move", metavar="N")]


def add_heuristic_command(name: str) -> None:
    """Add the command that trains a heuristic."""

    @train.command(name, help=COMMAND_HELP.format(name=name))
    def command(
        duration: DurationOption = "1h",
        out: TrainingOut = Path(f"{name}.json"),
        jobs: JobsOption = None,
        cluster: Cluster = None,
        seed: TrainingSeed = 0,
        nodes: Nodes = 1000,
        variant: TrainingVariant = "tournament",
        plot: PlotOption = None,
        json: Json = False,
    ) -> None:
        from awello.learn.categories import DEFAULT_GAMES
        from awello.learn.genetic import GeneticConfig, learn_ordering, save_evolution

        game, seconds = find_game("awale", variant=variant), parse_training_time(duration)
        config = GeneticConfig(name, str(game), seed, nodes)
        evolution = run_evolution(config, seconds, out, resolve_jobs(jobs, cluster), plot, json)
        if name == "travers":
            with show_step_progress("move ordering", DEFAULT_GAMES) as step:
                save_evolution(out, config, evolution, learn_ordering(config, evolution, step))
        print_weights(config, evolution, out, json)


for heuristic in HEURISTICS:
    add_heuristic_command(heuristic)


@train.command()
def otage(
    memory: Annotated[
        Path, typer.Option(help="Otage's memory, a folder written by 'awello autoplay'", metavar="FOLDER")
    ],
    duration: DurationOption = "1h",
    out: TrainingOut = Path("otage.json"),
    jobs: JobsOption = None,
    cluster: Cluster = None,
    seed: TrainingSeed = 0,
    nodes: Nodes = 1000,
    plot: PlotOption = None,
    json: Json = False,
) -> None:
    """Train the factors of Otage's evaluation.

    Uses the genetic algorithm of report 1 (see docs/sources.md) and the patterns in Otage's memory; at the end, writes
    the factors to that memory. Can be interrupted; run the same command again to resume from the last complete
    generation.
    """
    from awello.learn.otage_factors import make_config, write_factors

    seconds, config = parse_training_time(duration), make_config(memory, seed, nodes)
    evolution = run_evolution(config, seconds, out, resolve_jobs(jobs, cluster), plot, json)
    file = write_factors(memory, config.weights(evolution.best))
    print_weights(config, evolution, out, json)
    if not json:
        print(f"the factors are saved in {file}")


def run_evolution(
    config: "GeneticConfig", seconds: float, out: Path, jobs: Jobs, plot: Path | None, json: bool
) -> "Evolution":
    """Run the genetic algorithm for the given time, saving each generation; plot the fitness if requested."""
    from awello.learn.genetic import evolve, resume_evolution, save_evolution

    check_output(out)
    if plot:
        check_plot(plot)
    lines = not json and not sys.stdout.isatty()
    evolution = resume_evolution(out, config)
    save_evolution(out, config, evolution)  # so that write errors appear before the first generation
    started = time.perf_counter() - evolution.seconds
    with (
        resumable(out),
        show_step_progress(f"train {config.heuristic}", round(seconds)) as show,
        nullcontext(map) if jobs == 1 else open_worker_pool(jobs) as parallel_map,
    ):

        def tracked(function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
            for result in parallel_map(function, items):
                show(0, completed=time.perf_counter() - started)
                yield result

        for generation in evolve(config, evolution, seconds, tracked):
            evolution = generation
            save_evolution(out, config, evolution)
            show(0, description=describe_evolution(evolution, "\n"))
            if lines:
                print(describe_evolution(evolution), flush=True)
    if plot:
        write_plot(plot, lambda axes: plot_fitness(axes, evolution))
    return evolution


def describe_evolution(evolution: "Evolution", separator: str = ", ") -> str:
    """Describe the latest generation; `separator` precedes the best weights."""
    last = evolution.history[-1]
    weights = " ".join(map(str, last.weights))
    fitness = f"best fitness {last.best}, mean fitness {last.mean:.0f}"
    return f"generation {len(evolution.history)}: {fitness}{separator}best weights {weights}"


def plot_fitness(axes: Any, evolution: "Evolution") -> None:
    """Plot the fitness of each generation."""
    numbers = range(1, len(evolution.history) + 1)
    axes.plot(numbers, [generation.best for generation in evolution.history], label="best")
    axes.plot(numbers, [generation.mean for generation in evolution.history], label="mean of the population")
    axes.set_xlabel("generation")
    axes.set_ylabel("fitness")


def print_weights(config: "GeneticConfig", evolution: "Evolution", out: Path, json: bool) -> None:
    """Print the learnt weights."""
    content = {
        "heuristic": config.heuristic,
        "weights": config.weights(evolution.best),
        "fitness": evolution.history[-1].best,
        "generations": len(evolution.history),
        "seconds": evolution.seconds,
        "file": str(out),
    }
    print_result(content, f"{describe_evolution(evolution)}; {evolution.seconds:.0f} s, written to {out}", json)
