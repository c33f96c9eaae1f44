"""A temporary PostgreSQL server for tests, if PostgreSQL is installed."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from waiting import wait_until


def find_programs() -> Path | None:
    """Return the folder with PostgreSQL's programs, or None if PostgreSQL is not installed."""
    found = [shutil.which("initdb"), *sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin/initdb")))]
    return next((Path(program).resolve().parent for program in found if program), None)


class Postgres:
    """A PostgreSQL server that listens on a socket in its own folder, and can be killed and restarted."""

    def __init__(self, *options: str) -> None:
        found = find_programs()
        assert found is not None
        self.programs, self.options = found, options
        self.user = "postgres" if os.geteuid() == 0 else None  # the server refuses to run as root
        self.folder = Path(tempfile.mkdtemp(prefix="awello-postgres-"))
        if self.user:
            shutil.chown(self.folder, self.user)
        setup = [str(found / "initdb"), "--auth=trust", "--no-sync", "--username=awello", "--encoding=UTF8"]
        subprocess.run(
            [*setup, f"--pgdata={self.folder}"], user=self.user, cwd=self.folder, check=True, capture_output=True
        )
        self.start()

    def start(self) -> None:
        """Start the server and wait until it accepts connections."""
        folder = str(self.folder)
        command = [str(self.programs / "postgres"), "-D", folder, "-k", folder, "-h", "", *self.options]
        self.server = subprocess.Popen(
            command, user=self.user, cwd=folder, stderr=subprocess.DEVNULL, start_new_session=True
        )
        _wait(folder)

    def kill(self) -> None:
        """Kill all processes of the server."""
        os.killpg(self.server.pid, signal.SIGKILL)
        self.server.wait()

    def remove(self) -> None:
        """Stop the server and delete its folder."""
        self.server.send_signal(signal.SIGINT)  # stops without waiting for clients to disconnect
        self.server.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def postgres() -> Iterator[str]:
    """Run a PostgreSQL server without fsync; yield its folder."""
    server = Postgres("-F")
    try:
        yield str(server.folder)
    finally:
        server.remove()


def _wait(folder: str) -> None:
    def answers() -> bool:
        try:
            psycopg.connect(f"host={folder} user=awello dbname=postgres").close()
        except psycopg.OperationalError:
            return False
        return True

    wait_until(answers)


def new_database(folder: str, name: str) -> str:
    """Create an empty database and return its URL."""
    with psycopg.connect(f"host={folder} user=awello dbname=postgres", autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    return f"postgresql://awello@/{name}?host={folder}"
