"""A fixed number of processes that think, so that the server itself never has to.

Whatever a player does in such a process (an endless search, a crash, too much memory) costs one answer: the process is
ended and another takes its place.

Who waits longest is served first, with three exceptions.  A choice comes before everything else, and an analysis or a
review makes room for it at once: somebody waits for their opponent's move.  A review waits longer than an analysis.  A
process prefers what it has already begun, because the table of its engine remembers it.  When others wait, analyses and
reviews take turns.
"""

import asyncio
import pickle
import socket
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from multiprocessing.context import SpawnProcess
from typing import Any

from awello.arena.workers import deaf
from awello.web.messages import MOST_SECONDS
from awello.web.process import think
from awello.web.tasks import (
    SIZE,
    Answer,
    ChooseTask,
    Progress,
    ReviewTask,
    Task,
    answer_at_once,
    failure,
    pack,
)

MOST_WAITING = 200  # tasks; whoever comes then is asked to come again
TURN = 0.7  # seconds after which an analysis or a review makes room for another
LOOK = 0.1  # seconds between two looks at whose turn it is, while somebody waits
REVIEW_WAITS = 3.0  # seconds that a review waits longer than an analysis
OTHERS_WAIT = 2 * TURN  # seconds that a task waits longer for a process that did not begin it
PACE = 0.125  # seconds between two analyses
PATIENCE, LONG_PATIENCE = 0.5, 5.0  # seconds for a process to stop: a task nobody wants, a task that will go on
RESTART = 1.0  # seconds before another process is started where one could not begin

BUSY = failure("busy", "there is too much to think about: try again in a minute")
CLOSED = failure("closed", "the server is closing")
LOST = failure("crash", "no process can be started to think")


@dataclass(eq=False)
class Job:
    """A task, where it stands, and its answers that nobody has fetched yet."""

    task: Task
    since: float
    """When it began to wait."""
    progress: Progress = field(default_factory=Progress)
    home: "Thinker | None" = None
    """The process that thought about it last."""
    wanted: bool = True
    """Whether somebody waits for its answers."""
    answers: deque[Answer] = field(default_factory=deque)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def post(self, answer: Answer) -> None:
        """Give an answer; an analysis replaces an older one that nobody has fetched."""
        if answer["kind"] == "analysis" and self.answers and self.answers[-1]["kind"] == "analysis":
            self.answers.pop()
        self.answers.append(answer)
        self.news.set()

    async def fetch(self) -> Answer:
        """The next answer."""
        while not self.answers:
            self.news.clear()
            await self.news.wait()
        return self.answers.popleft()

    def due(self, thinker: "Thinker", since: float | None = None) -> tuple[bool, float]:
        """Its place in the queue before a process, the least first; as if it waited since another time, if given."""
        later = REVIEW_WAITS if isinstance(self.task, ReviewTask) else 0.0
        later += OTHERS_WAIT if self.home not in (None, thinker) else 0.0
        return not isinstance(self.task, ChooseTask), (self.since if since is None else since) + later


class Thinker:
    """One process, as the server sees it."""

    def __init__(self) -> None:
        self.warm = False
        """Whether it has got ready for tasks."""
        self.stopping = False
        """Whether it has been told to let go of its task."""
        self.job: Job | None = None
        self.begun = 0.0
        self.last_word: Answer | None = None
        """Why it is killed, for whoever waits for its answer."""
        self._number = 0
        self._process: SpawnProcess | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._deadline: asyncio.TimerHandle | None = None

    async def start(self) -> None:
        """Start the process; it says when it is ready."""
        ours, theirs = socket.socketpair()
        with theirs:
            self._reader, self._writer = await asyncio.open_connection(sock=ours)
            process = SpawnProcess(target=think, args=(theirs,), daemon=True)
            with deaf():
                process.start()
            self._process = process

    async def hear(self) -> tuple[str, Any]:
        """The next message of the process; `EOFError` if there is none any more, or none that makes sense."""
        size = int.from_bytes(await self._reader.readexactly(SIZE), "big")
        try:
            word, content = pickle.loads(await self._reader.readexactly(size))  # nosec B301 # noqa: S301 - our process
        except (pickle.UnpicklingError, ValueError, TypeError):
            raise EOFError from None
        return word, content

    @property
    def idle(self) -> bool:
        """Whether it waits for a task."""
        return self.warm and self.job is None and self.last_word is None

    @property
    def can_pause(self) -> bool:
        """Whether it thinks about something that can be taken up again later."""
        return self.job is not None and not self.stopping and not isinstance(self.job.task, ChooseTask)

    def begin(self, job: Job) -> None:
        """Think about a task, or go on with it."""
        self.job, job.home, self.begun = job, self, asyncio.get_running_loop().time()
        self._number += 1
        self._say(self._number, job.task, job.progress)

    def stop(self, patience: float) -> None:
        """Let go of the task within so many seconds."""
        self.stopping = True
        self._say(self._number)
        self.allow(patience, died(self.job))

    def allow(self, seconds: float, last_word: Answer) -> None:
        """Be killed if the task takes longer than this, with a word to whoever waits for it."""
        self._forget_deadline()
        self._deadline = asyncio.get_running_loop().call_later(seconds, self.kill, last_word)

    def free(self) -> Job:
        """The task it has thought about, which it has no more."""
        assert self.job is not None
        self._forget_deadline()
        job, self.job, self.stopping = self.job, None, False
        return job

    def kill(self, last_word: Answer) -> None:
        """End the process by force, with a word to whoever waits for its answer."""
        assert self._process is not None
        self.last_word = last_word
        self._process.kill()

    async def bury(self) -> None:
        """End the process if it lives, and leave nothing of it."""
        self._forget_deadline()
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
        if self._writer is not None:
            self._writer.close()
            with suppress(OSError):
                await self._writer.wait_closed()

    def _say(self, *message: Any) -> None:
        assert self._writer is not None
        self._writer.write(pack(message))

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()


def died(job: Job | None) -> Answer:
    """What to say when a process has died over a task."""
    spec = job.task.spec if job is not None and isinstance(job.task, ChooseTask) else "thinking"
    return failure("crash", f"{spec} has crashed: its process is gone, another takes its place")


class Thinkers:
    """The processes, and the tasks that wait for them; a choice may take so many seconds."""

    def __init__(self, count: int, most_seconds: float = MOST_SECONDS) -> None:
        self.count, self.most_seconds = count, most_seconds
        self._places: list[asyncio.Task[None]] = []
        self._thinkers: list[Thinker] = []
        self._waiting: list[Job] = []
        self._look: asyncio.TimerHandle | None = None
        self._closed = False

    async def start(self) -> None:
        """Start the processes; tasks may be given before they are ready."""
        self._places = [asyncio.create_task(self._keep_place()) for _ in range(self.count)]

    async def close(self) -> None:
        """End all processes; whoever waits for an answer is told so."""
        self._closed = True
        if self._look is not None:
            self._look.cancel()
        for place in self._places:
            place.cancel()
        await asyncio.gather(*self._places, return_exceptions=True)
        self._refuse_waiting(CLOSED)

    async def think(self, task: Task) -> AsyncGenerator[Answer, None]:
        """The answers to a task, the last of them `done` or an error; closing this generator cancels the work."""
        if at_once := answer_at_once(task) or self._refusal():
            for answer in at_once:
                yield answer
            return
        job = Job(task, asyncio.get_running_loop().time())
        self._waiting.append(job)
        try:
            self._schedule()
            while True:
                answer = await job.fetch()
                yield answer
                if answer["kind"] in ("done", "error"):
                    return
                if answer["kind"] == "analysis":
                    await asyncio.sleep(PACE)
        finally:
            self._abandon(job)

    # --- the queue ----------------------------------------------------------------------------------------------------
    def _refusal(self) -> list[Answer]:
        """What to say if no task can be taken."""
        if self._closed:
            return [CLOSED]
        return [BUSY] if len(self._waiting) >= MOST_WAITING else []

    def _refuse_waiting(self, answer: Answer) -> None:
        for job in self._waiting:
            job.post(answer)
        self._waiting.clear()

    def _abandon(self, job: Job) -> None:
        """Nobody wants the answers any more."""
        job.wanted = False
        if job in self._waiting:
            self._waiting.remove(job)
        for thinker in self._thinkers:
            if thinker.job is job:
                thinker.stop(PATIENCE)

    def _schedule(self) -> None:
        """Give tasks to idle processes and, where there are too few, tell some to make room."""
        while self._waiting and (idle := [thinker for thinker in self._thinkers if thinker.idle]):
            job, thinker = min(product(self._waiting, idle), key=lambda pair: pair[0].due(pair[1]))
            self._waiting.remove(job)
            self._begin(job, thinker)
        self._make_room()
        if self._look is not None:
            self._look.cancel()
        if self._waiting and not self._closed:
            self._look = asyncio.get_running_loop().call_later(LOOK, self._schedule)

    def _begin(self, job: Job, thinker: Thinker) -> None:
        thinker.begin(job)
        if isinstance(job.task, ChooseTask):
            advice = "choose a smaller depth or a time, such as @1s"
            message = f"{job.task.spec} took more than {self.most_seconds:g} s: {advice}"
            thinker.allow(self.most_seconds, failure("slow", message))

    def _make_room(self) -> None:
        """Stop analyses and reviews: for each choice that waits at once, for others when their turn is over."""
        stopping = sum(thinker.stopping for thinker in self._thinkers)
        choices = sum(isinstance(job.task, ChooseTask) for job in self._waiting) - stopping
        tasks = len(self._waiting) - stopping
        for thinker in sorted(self._thinkers, key=lambda thinker: thinker.begun):
            if thinker.can_pause and (choices > 0 or (tasks > 0 and self._turn_is_over(thinker))):
                thinker.stop(LONG_PATIENCE)
                choices, tasks = choices - 1, tasks - 1

    def _turn_is_over(self, thinker: Thinker) -> bool:
        """Whether a process has thought about its task for long enough, and another one is due."""
        assert thinker.job is not None
        now = asyncio.get_running_loop().time()
        first = min(job.due(thinker) for job in self._waiting)
        return now - thinker.begun >= TURN and first < thinker.job.due(thinker, now)

    # --- the processes ------------------------------------------------------------------------------------------------
    async def _keep_place(self) -> None:
        """Keep one process alive: where one dies, its task fails and another process is started."""
        while True:
            thinker = Thinker()
            self._thinkers.append(thinker)
            try:
                with suppress(EOFError, OSError):
                    await thinker.start()
                    await self._listen(thinker)
            finally:
                self._thinkers.remove(thinker)
                if thinker.job is not None:
                    last_word = CLOSED if self._closed else thinker.last_word or died(thinker.job)
                    thinker.free().post(last_word)
                await thinker.bury()
            if not thinker.warm:
                if not any(other.warm for other in self._thinkers):
                    self._refuse_waiting(LOST)
                await asyncio.sleep(RESTART)

    async def _listen(self, thinker: Thinker) -> None:
        """Pass on what a process says, as long as it lives."""
        while True:
            word, content = await thinker.hear()
            if word == "ready":
                thinker.warm = True
            elif word == "answer" and thinker.job is not None:
                thinker.job.post(content)
                continue
            elif word == "ended":
                thinker.free().post(content)
            elif word == "paused":
                self._put_back(thinker, content)
            elif word == "lost":
                thinker.kill(content)
            self._schedule()

    def _put_back(self, thinker: Thinker, progress: Progress) -> None:
        """Let a task wait for its next turn: at the end of the queue if it has had the last one."""
        job, now = thinker.free(), asyncio.get_running_loop().time()
        if job.wanted:
            job.progress = progress
            job.since = now if now - thinker.begun >= TURN else job.since
            self._waiting.append(job)
