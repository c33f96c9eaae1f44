"""`awello serve`: run the web server."""

import os
import re
import socket
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Annotated

import typer

from awello.cli.app import app
from awello.cli.options import ArchiveOption, Cluster
from awello.errors import AwelloError, ConfigError
from awello.kernel import LAZY_VARIABLE, find_cached_kernels
from awello.kernel_compiler import KernelCompiler, kernels_are_missing
from awello.web.child_processes import ENGINE_KERNEL_MODULES, SERVER_KERNEL_MODULES, parse_niceness

DEFAULT_PORT, MAX_PORTS_TRIED = 8421, 20
MAX_DEFAULT_ENGINE_PROCESSES = 4
TCP_TIMEOUT_MS = 30_000  # connections that do not acknowledge data for this long are closed


@app.command()
def serve(
    host: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0: all interfaces", metavar="HOST")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, help="Port; default: 8421 or the next free port; 0: any free port", metavar="PORT"
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, max=256, help="Number of engine processes; default: one per core, up to 4", metavar="N"),
    ] = None,
    cluster: Cluster = None,
    archive: ArchiveOption = None,
    no_archive: Annotated[
        bool, typer.Option("--no-archive", help="Run without an archive: games are neither saved nor listed")
    ] = False,
    club: Annotated[
        str | None,
        typer.Option(
            help="Run a club with this database (file or postgresql://...); default: no club", metavar="DATABASE"
        ),
    ] = None,
    hostname: Annotated[
        list[str] | None,
        typer.Option(
            help="Public host name of a server behind a proxy; can be repeated; default: none", metavar="NAME"
        ),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in your browser")] = True,
) -> None:
    """Serve the web page to play and analyse Othello and Awalé.

    Ctrl-C stops the server.
    """
    if no_archive and archive is not None:
        raise ConfigError("--archive and --no-archive are mutually exclusive: omit one")
    for name in hostname or ():
        check_hostname(name)
    parse_niceness(0)  # checks AWELLO_NICE before processes start
    listener = listen(host, port)
    address = make_url(host, listener.getsockname()[1])
    with compile_kernels() as kernels:
        # imported after the kernels are compiled, because these modules load kernels
        from awello.web.app import create_app
        from awello.web.http_server import HttpServerConfig, serve_app

        check_tablebase()
        database = None if no_archive else archive or ""
        if database is not None:
            check_archive(database)
        jobs = jobs or (0 if cluster else min(MAX_DEFAULT_ENGINE_PROCESSES, os.cpu_count() or 1))
        application = create_app(jobs, host, database, club, hostname or (), cluster, kernels)

        def announce() -> None:
            print(f"Awello is running at {address}  (Ctrl-C stops it)", flush=True)
            if kernels:
                Thread(target=report_compilation, args=(kernels,), daemon=True).start()
            if browser and has_display():
                webbrowser.open(address)

        with suppress(KeyboardInterrupt):
            serve_app(HttpServerConfig(application, behind_proxy=bool(hostname)), listener, announce)


def check_hostname(name: str) -> None:
    """Check that a name can be a host name or an IPv6 address."""
    if not re.fullmatch(r"[\w.-]+|[\da-f.]*(:[\da-f.]*){2,}", name, re.IGNORECASE):
        raise ConfigError(f"--hostname {name} is not a host name: write only the name, such as club.example.org")


def check_archive(database: str) -> None:
    """Check that the archive can be opened; if the default archive cannot be opened, only print a warning."""
    from awello.archive.archive import Archive

    try:
        Archive(database or None).close()
    except (AwelloError, OSError) as error:
        if database:
            raise
        print(f"awello: games are not saved ({error}); choose another file with --archive", file=sys.stderr)


def check_tablebase() -> None:
    """Check the tablebase file, so that an error in it is reported before engine processes start."""
    from awello.engine.tablebase import find_tablebase
    from awello.rules.game import Game

    find_tablebase(Game.ABAPA)


@contextmanager
def compile_kernels() -> Iterator[KernelCompiler | None]:
    """Compile missing kernels: those of the server immediately, the others in the background.

    Yields the compiler, or None if no kernel is missing.
    """
    if not kernels_are_missing():
        yield None
        return
    os.environ[LAZY_VARIABLE] = "1"  # inherited by engine processes
    with KernelCompiler(SERVER_KERNEL_MODULES, ENGINE_KERNEL_MODULES) as kernels:
        kernels.wait(SERVER_KERNEL_MODULES, show=True)
        find_cached_kernels()  # so that later imports load the kernels just compiled
        yield kernels


def report_compilation(kernels: KernelCompiler) -> None:
    """Print the progress of the background compilation."""
    print("awello: compiling the engines' kernels; until this is done, engines take longer to answer", file=sys.stderr)
    if kernels.wait(ENGINE_KERNEL_MODULES):
        print("awello: the engines are starting; compiling other kernels in the background", file=sys.stderr)
    if kernels.wait():
        print("awello: all kernels are compiled", file=sys.stderr)


def listen(host: str, port: int | None) -> socket.socket:
    """Open a listening socket on the given port; by default, on the default port or the next free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in range(DEFAULT_PORT, DEFAULT_PORT + MAX_PORTS_TRIED) if port is None else [port]:
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # accepted connections inherit this option
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, TCP_TIMEOUT_MS)
        try:
            listener.bind((host, candidate))
            listener.listen()
            return listener
        except (OSError, TypeError, UnicodeError) as error:  # a TypeError or UnicodeError means an invalid host name
            listener.close()
            problem = error.strerror if isinstance(error, OSError) else "not a valid host name"
    where = f"port {port}" if port is not None else f"ports {DEFAULT_PORT} to {DEFAULT_PORT + MAX_PORTS_TRIED - 1}"
    raise ConfigError(f"cannot listen on {host}, {where}: {problem}; choose another --host or --port")


def make_url(host: str, port: int) -> str:
    """Return the URL for a browser on this machine."""
    local = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # nosec # noqa: S104 - not bound here
    name = local.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}/"


def has_display() -> bool:
    """Return whether a browser window can be opened."""
    return sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
