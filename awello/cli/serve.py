"""`awello serve`: the page to play and analyse on."""

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

from awello.cli.app import Cluster, Place, app
from awello.errors import AwelloError, ConfigError
from awello.kernel import LAZY_VARIABLE, find_cached
from awello.kernel_compiler import KernelCompiler, kernels_are_missing
from awello.web.process import ENGINE_KERNELS, SERVER_KERNELS, parse_niceness

PORT, TRIES = 8421, 20
USUAL_THREADS = 4
UNREAD = 30_000  # milliseconds in which somebody must take what was sent to them


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Listen here; 0.0.0.0 lets your network in", metavar="H")] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Default: 8421 or the next free one; 0: any", metavar="P")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, max=256, help="Engine processes; default: one per core up to 4, or per worker")
    ] = None,
    cluster: Cluster = None,
    archive: Place = None,
    no_archive: Annotated[bool, typer.Option("--no-archive", help="Keep no games, and show none")] = False,
    club: Annotated[
        str | None, typer.Option(help="Open a club kept in a file or postgresql://USER@HOST/NAME", metavar="PLACE")
    ] = None,
    name: Annotated[list[str] | None, typer.Option(help="Public name, behind a proxy; repeatable")] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in your browser, if there is one")] = True,
) -> None:
    """Serve the page to play, see and understand both games. Ctrl-C ends it."""
    for each in name or ():
        check_name(each)
    parse_niceness(0)  # an invalid one is refused here, not in each process
    door = listen(host, port)
    address = url(host, door.getsockname()[1])
    with compile_kernels() as kernels:
        # only now, because they bring kernels
        from awello.web.app import create_app
        from awello.web.http_server import HttpServerConfig, serve_app

        check_tables()
        kept = None if no_archive else archive or ""
        if kept is not None:
            check_archive(kept)
        engines = threads or (0 if cluster else min(USUAL_THREADS, os.cpu_count() or 1))
        application = create_app(engines, host, kept, club, name or (), cluster, kernels)

        def announce() -> None:
            print(f"Awello is at {address}  (Ctrl-C ends it)", flush=True)
            if kernels:
                Thread(target=tell_compiling, args=(kernels,), daemon=True).start()
            if browser and can_show():
                webbrowser.open(address)

        with suppress(KeyboardInterrupt):
            serve_app(HttpServerConfig(application, behind_proxy=bool(name)), door, announce)


def check_name(name: str) -> None:
    """Refuse what can never be the name in an address."""
    if not re.fullmatch(r"[\w.-]+|[\da-f.]*(:[\da-f.]*){2,}", name, re.IGNORECASE):
        raise ConfigError(f"--name {name} is no name of a host: write it alone, such as club.example.org")


def check_archive(place: str) -> None:
    """Refuse an archive that cannot be opened; if it is only the default one, warn and start without it."""
    from awello.archive.archive import Archive

    try:
        Archive(place or None).close()
    except (AwelloError, OSError) as error:
        if place:
            raise
        print(f"awello: games cannot be kept: {error}; choose another file with --archive", file=sys.stderr)


def check_tables() -> None:
    """Refuse a damaged table of endgames here, not in each engine process."""
    from awello.engine.tablebase import find_tablebase
    from awello.rules.game import Game

    find_tablebase(Game.ABAPA)


@contextmanager
def compile_kernels() -> Iterator[KernelCompiler | None]:
    """Compile what has never been compiled on this machine: first what the server needs, the rest beside it."""
    if not kernels_are_missing():
        yield None
        return
    os.environ[LAZY_VARIABLE] = "1"  # for the engine processes too
    with KernelCompiler(SERVER_KERNELS, ENGINE_KERNELS) as kernels:
        kernels.wait(SERVER_KERNELS, show=True)
        find_cached()  # so that these are loaded as they are imported
        yield kernels


def tell_compiling(kernels: KernelCompiler) -> None:
    """Say on the terminal which kernels are being compiled, and when all are."""
    print("awello: the engines' kernels are being compiled: the computer's first move takes longer", file=sys.stderr)
    if kernels.wait(ENGINE_KERNELS):
        print("awello: the engines start; the remaining kernels are compiled in the background", file=sys.stderr)
    if kernels.wait():
        print("awello: all kernels are compiled", file=sys.stderr)


def listen(host: str, port: int | None) -> socket.socket:
    """A socket that listens; without a port, on the usual one or the next that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in range(PORT, PORT + TRIES) if port is None else [port]:
        door = socket.socket(family)
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # connections have it from here
            door.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD)
        try:
            door.bind((host, candidate))
            door.listen()
            return door
        except (OSError, TypeError, UnicodeError) as error:  # the last two: a name that no host can have
            door.close()
            problem = error.strerror if isinstance(error, OSError) else "it is not the name of a host"
    where = f"port {port}" if port is not None else f"ports {PORT} to {PORT + TRIES - 1}"
    raise ConfigError(f"cannot listen on {host}, {where}: {problem}; choose another --host or --port")


def url(host: str, port: int) -> str:
    """The address that a browser on this machine opens."""
    here = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # nosec # noqa: S104 - nothing is bound here
    name = here.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}/"


def can_show() -> bool:
    """Whether a window can be opened here."""
    return sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
