"""A bot that starts processes or attacks its environment; tests load this file into workers with AWELLO_PLAYERS."""

import os
import shlex
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from awello import Choice, Game, Player, Position, register
from awello.limits import Clock
from awello.players.player import Forfeit

ALLOCATE_MEMORY = "import sys; kept = bytearray(64 << 20); print('allocated', flush=True); sys.stdin.read()"
USE_CPU = """import time
until = time.process_time() + 0.3
while time.process_time() < until:
    pass
print("worked", flush=True)
"""
BECOME_DAEMON = """import os, sys
if os.fork():
    sys.stdout.close(); os._exit(0)
os.setsid()
if os.fork():
    sys.stdout.close(); os._exit(0)
print(os.getpid(), file=open(sys.argv[1], 'a'), flush=True)
exec(sys.argv[2])
"""
IGNORE_SIGTERM = """import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
signal.pause()
"""


class UnknownForfeit(Forfeit):
    """A forfeit of a class that the package does not know."""


@register("hostile", "the first legal move, after an attack")
@dataclass
class HostilePlayer(Player):
    """A bot that calls the method named by `how` before its first move."""

    how: str = "nothing"
    pids: str = ""
    """The file to which the bot appends the ids of processes that must end when the bot ends."""

    def begin(self, game: Game, seed: int) -> None:
        self.fresh = True

    def choose(self, position: Position, clock: Clock) -> Choice:
        if self.fresh:
            self.fresh = False
            getattr(self, self.how)()
        return Choice(position.legal_moves()[0])

    def nothing(self) -> None:
        """Do nothing."""

    def record_pid(self, pid: int) -> None:
        with Path(self.pids).open("a") as file:
            file.write(f"{pid}\n")

    def start(self, *words: str) -> None:
        """Start a Python process and wait for its first line of output."""
        pipe = subprocess.PIPE
        self.child = subprocess.Popen([sys.executable, "-c", *words], stdin=pipe, stdout=pipe)
        self.record_pid(self.child.pid)
        assert self.child.stdout is not None
        self.child.stdout.readline()

    def allocates_in_child(self) -> None:
        self.start(ALLOCATE_MEMORY)

    def allocates_in_daemon(self) -> None:
        self.start(BECOME_DAEMON, self.pids, ALLOCATE_MEMORY)

    def uses_cpu_in_child(self) -> None:
        self.start(USE_CPU)

    def uses_cpu_in_daemon(self) -> None:
        self.start(BECOME_DAEMON, self.pids, USE_CPU)

    def starts_ten(self) -> None:
        for _ in range(10):
            self.start(IGNORE_SIGTERM)

    def starts_daemon_and_dies(self) -> None:
        self.start(BECOME_DAEMON, self.pids, IGNORE_SIGTERM)
        os._exit(7)

    def changes_group(self) -> None:
        os.setpgid(0, 0)
        self.start(BECOME_DAEMON, self.pids, IGNORE_SIGTERM)

    def ignores_signals(self) -> None:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
            signal.signal(number, signal.SIG_IGN)
        self.record_pid(os.getpid())
        while True:
            signal.pause()

    def closes_pipes(self) -> None:
        self.record_pid(os.getpid())
        os.closerange(0, 1000)
        while True:
            signal.pause()

    def forks_and_returns(self) -> None:
        if pid := os.fork():
            self.record_pid(pid)

    def prints(self) -> None:
        os.write(1, b"\xff\x00 garbage" * 100_000)
        os.system(f"echo {shlex.quote('x' * 100_000)}")

    def raises_own_class(self) -> None:
        raise UnknownForfeit("crash", "x" * 10_000)
