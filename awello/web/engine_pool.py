"""A fixed number of engine processes, so that the server itself never searches.

An endless search, a crash or too much memory costs one answer: the process is killed and another takes its place.  A
slot says where a process runs, on this machine or on a worker of a cluster.

The network that has used the processes least in the last seconds comes first, and each has a quota of waiting tasks.  A
choice has a head start, and an analysis or a review makes room for it at once: a player waits for their opponent's
move.  Within a network the task that waits longest is served first, a review waits longer than an analysis, and a
process prefers what it has already begun, because the table of its engine remembers it.  When others wait, analyses and
reviews take turns, and a long choice is cut short.
"""

import asyncio
import logging
import pickle
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from awello.errors import ConfigError
from awello.web.cluster_slots import ClusterSlot
from awello.web.engine_slots import LocalSlot
from awello.web.engine_tasks import (
    Answer,
    CallTask,
    ChooseTask,
    ReviewTask,
    Task,
    TaskProgress,
    answer_immediately,
    error_answer,
)
from awello.web.messages import MAX_SEARCH_SECONDS
from awello.web.rate_limits import RecentUsage

MAX_WAITING_JOBS, MAX_NETWORK_WAITING_JOBS = (
    500,
    96,
)  # urgent tasks that wait, and as many others: in all, and of one network
URGENT_HEAD_START = 4.0  # seconds of process time by which an urgent task comes before others
TIME_SLICE = 0.7  # seconds after which an analysis or a review makes room for another
SCHEDULE_INTERVAL = 0.1  # seconds between two looks at whose turn it is, while somebody waits
REVIEW_DELAY = 3.0  # seconds that a review waits longer than an analysis
OTHER_PROCESS_DELAY = 2 * TIME_SLICE  # seconds that a task waits longer for a process that did not begin it
MAX_URGENT_SLICE = 5.0  # seconds after which an urgent task is cut short for one of another network
KILL_CHARGE = 3.0  # seconds of process time that a network is charged for a process that had to be killed
ANALYSIS_INTERVAL = 0.125  # seconds between two analyses
CANCEL_TIMEOUT, PAUSE_TIMEOUT = 0.5, 5.0  # seconds for a process to stop: a task nobody wants, a task that will go on
RESTART_DELAY = 1.0  # seconds before another process is started where one could not begin
MAX_FAILED_STARTS = 2  # in a row, after which waiting tasks are refused: one may fail because a worker has just died

QUEUE_FULL = error_answer("queue_full", "too many searches are waiting: try again in a minute")
SHUTTING_DOWN = error_answer("shutting_down", "the server is shutting down")
ENGINE_UNAVAILABLE = error_answer("engine_unavailable", "no engine process can be started: see the server's log")
CHOOSE_LESS = "choose a smaller depth or a time limit such as @1s"

Slot = LocalSlot | ClusterSlot  # where a process runs; both have the same methods


@dataclass(eq=False)
class EngineJob:
    """A task, where it stands, and its answers that nobody has fetched yet."""

    task: Task
    since: float
    """When it began to wait."""
    network: str = ""
    """Where it came from."""
    progress: TaskProgress = field(default_factory=TaskProgress)
    last_process: "EngineProcess | None" = None
    """The process that thought about it last."""
    has_client: bool = True
    """Whether somebody waits for its answers."""
    answers: deque[Answer] = field(default_factory=deque)
    answered: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def urgent(self) -> bool:
        """Whether it cannot be paused and has a head start: a player or a page waits for its one answer."""
        return isinstance(self.task, ChooseTask | CallTask)

    def post(self, answer: Answer) -> None:
        """Give an answer; an analysis replaces an older one that nobody has fetched."""
        if answer["type"] == "analysis" and self.answers and self.answers[-1]["type"] == "analysis":
            self.answers.pop()
        self.answers.append(answer)
        self.answered.set()

    async def fetch(self) -> Answer:
        """The next answer."""
        while not self.answers:
            self.answered.clear()
            await self.answered.wait()
        return self.answers.popleft()

    def due_time(self, process: "EngineProcess", since: float | None = None) -> float:
        """Its place among the tasks of its network, the least first; as if it waited since another time, if given."""
        later = REVIEW_DELAY if isinstance(self.task, ReviewTask) else 0.0
        later += OTHER_PROCESS_DELAY if self.last_process not in (None, process) else 0.0
        return (self.since if since is None else since) + later


class EngineProcess:
    """One process and its task, as the server sees them."""

    def __init__(self, slot: Slot | None = None) -> None:
        self._slot = slot or LocalSlot()
        self.ready = False
        """Whether it is ready for tasks."""
        self.stopping = False
        """Whether it has been told to stop its task."""
        self.job: EngineJob | None = None
        self.started = 0.0
        self.final_answer: Answer | None = None
        """Why it is killed, for the client that waits for its answer."""
        self._number = 0
        self._deadline: asyncio.TimerHandle | None = None

    async def start(self) -> None:
        """Start the process; it says when it is ready."""
        await self._slot.start()

    async def receive(self) -> tuple[str, Any]:
        """The next message of the process; `EOFError` if it has ended."""
        word, content = pickle.loads(await self._slot.receive())  # nosec B301 # noqa: S301 - our process
        return word, content

    @property
    def idle(self) -> bool:
        """Whether it waits for a task."""
        return self.ready and self.job is None and self.final_answer is None

    def start_job(self, job: EngineJob) -> None:
        """Begin a task, or continue it."""
        self.job, job.last_process, self.started = job, self, asyncio.get_running_loop().time()
        self._number += 1
        self._send(self._number, job.task, job.progress)

    def stop(self, timeout: float, final_answer: Answer | None = None) -> None:
        """Stop the task within so many seconds."""
        self.stopping = True
        self._send(self._number)
        self.set_deadline(timeout, final_answer or crash_error(self.job))

    def set_deadline(self, seconds: float, final_answer: Answer) -> None:
        """Kill the process if the task takes longer than this, with a last answer for the client."""
        self._cancel_deadline()
        self._deadline = asyncio.get_running_loop().call_later(seconds, self.kill, final_answer)

    def release_job(self) -> EngineJob:
        """The task that it has worked on, which it gives up."""
        assert self.job is not None
        self._cancel_deadline()
        job, self.job, self.stopping = self.job, None, False
        return job

    def kill(self, final_answer: Answer) -> None:
        """End the process by force, with a last answer for the client."""
        self.final_answer = final_answer
        self._slot.kill()

    async def close(self) -> None:
        """End the process if it lives, and release everything it used."""
        self._cancel_deadline()
        await self._slot.close()

    def _send(self, *message: Any) -> None:
        self._slot.send(pickle.dumps(message))

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()


def crash_error(job: EngineJob | None) -> Answer:
    """What to say when a process has died over a task."""
    if job is not None and isinstance(job.task, ChooseTask):
        spec = job.task.spec
        return error_answer("player_crashed", f"{spec} crashed: its process is restarted", player=spec)
    return error_answer("search_crashed", "the search crashed: its process is restarted, try again")


def interrupted_error(task: Task) -> Answer:
    """The answer when a task is interrupted because others are waiting."""
    if isinstance(task, ChooseTask):
        message = f"{task.spec} was interrupted because others are waiting: {CHOOSE_LESS}"
        return error_answer("player_interrupted", message, player=task.spec)
    return error_answer("task_interrupted", "the request was interrupted because others are waiting: try again")


def timeout_error(task: Task, seconds: float) -> Answer:
    """The answer when a task has taken too long."""
    if isinstance(task, ChooseTask):
        message = f"{task.spec} took longer than {seconds:g} s: {CHOOSE_LESS}"
        return error_answer("player_timeout", message, player=task.spec, seconds=seconds)
    return error_answer("task_timeout", f"the request took longer than {seconds:g} s", seconds=seconds)


class EnginePool:
    """The processes, and the tasks that wait for them; an urgent task may take so many seconds.

    Processes start when `compiled` is done, if it is given.
    """

    def __init__(
        self,
        count: int,
        max_seconds: float = MAX_SEARCH_SECONDS,
        new_slot: Callable[[], Slot] = LocalSlot,
        compiled: asyncio.Future[bool] | None = None,
    ) -> None:
        self.count, self.max_seconds, self._new_slot, self._compiled = count, max_seconds, new_slot, compiled
        self._problem = ENGINE_UNAVAILABLE
        self._supervisors: list[asyncio.Task[None]] = []
        self._processes: list[EngineProcess] = []
        self._waiting: list[EngineJob] = []
        self._usage = RecentUsage()
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def ready(self) -> bool:
        """Whether one of the processes can work."""
        return any(process.ready for process in self._processes)

    async def start(self) -> None:
        """Start the processes, unless they have been; tasks may be given before they are ready."""
        self._supervisors = self._supervisors or [asyncio.create_task(self._supervise()) for _ in range(self.count)]

    async def close(self) -> None:
        """End all processes; whoever waits for an answer is told so."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        for supervisor in self._supervisors:
            supervisor.cancel()
        await asyncio.gather(*self._supervisors, return_exceptions=True)
        self._refuse_waiting(SHUTTING_DOWN)

    async def run(self, task: Task, network: str = "") -> AsyncGenerator[Answer, None]:
        """The answers to a task, the last of them `done` or an error; closing this generator cancels the work."""
        if answers := answer_immediately(task):
            for answer in answers:
                yield answer
            return
        job = EngineJob(task, asyncio.get_running_loop().time(), network)
        if error := self._check_quota(job):
            yield error
            return
        self._waiting.append(job)
        try:
            self._schedule()
            while True:
                answer = await job.fetch()
                yield answer
                if answer["type"] in ("done", "error"):
                    return
                if answer["type"] == "analysis":
                    await asyncio.sleep(ANALYSIS_INTERVAL)
        finally:
            self._abandon(job)

    # --- the queue ----------------------------------------------------------------------------------------------------
    def _check_quota(self, job: EngineJob) -> Answer | None:
        """Why a task is not taken, if so: urgent ones have a queue of their own, and each network a quota in both."""
        if self._closed:
            return SHUTTING_DOWN
        ahead = [other.network for other in self._waiting if other.urgent == job.urgent]
        full = len(ahead) >= MAX_WAITING_JOBS or ahead.count(job.network) >= MAX_NETWORK_WAITING_JOBS
        return QUEUE_FULL if full else None

    def _refuse_waiting(self, answer: Answer) -> None:
        for job in self._waiting:
            job.post(answer)
        self._waiting.clear()

    def _abandon(self, job: EngineJob) -> None:
        """Nobody wants the answers any more."""
        job.has_client = False
        if job in self._waiting:
            self._waiting.remove(job)
        for process in self._processes:
            if process.job is job and not isinstance(job.task, CallTask):  # that one is soon done
                process.stop(CANCEL_TIMEOUT)

    def _schedule(self) -> None:
        """Give tasks to idle processes and, where there are too few, tell some to make room."""
        if self._timer is not None:
            self._timer.cancel()
        if self._waiting and not self._closed:
            self._timer = asyncio.get_running_loop().call_later(SCHEDULE_INTERVAL, self._schedule)
        while self._waiting and (idle := [process for process in self._processes if process.idle]):
            rank = self._ranking()
            job, process = min(
                product(self._waiting, idle), key=lambda pair: (rank(pair[0]), pair[0].due_time(pair[1]))
            )
            self._waiting.remove(job)
            self._begin(job, process)
        self._preempt()

    def _ranking(self) -> Callable[[EngineJob], float]:
        """What decides between tasks of several networks, the least first: what a network has used lately and uses."""
        now = asyncio.get_running_loop().time()
        running = [
            (process.job.network, now - process.started) for process in self._processes if process.job is not None
        ]
        networks = {job.network for job in self._waiting} | {network for network, _ in running}
        used = {network: self._usage.get(network, now) for network in networks}
        for network, seconds in running:
            used[network] += seconds
        return lambda job: used[job.network] - (URGENT_HEAD_START if job.urgent else 0.0)

    def _begin(self, job: EngineJob, process: EngineProcess) -> None:
        process.start_job(job)
        if job.urgent:
            process.set_deadline(self.max_seconds, timeout_error(job.task, self.max_seconds))

    def _preempt(self) -> None:
        """Stop tasks for others that wait and come before them, the one that has run longest first."""
        busy = sorted(
            (process for process in self._processes if process.job is not None), key=lambda each: each.started
        )
        rank, waiting = self._ranking(), list(self._waiting)
        for process in busy:
            if not waiting:
                return
            first = min(waiting, key=lambda job: (rank(job), job.due_time(process)))
            if process.stopping:  # it has made room for one of them
                waiting.remove(first)
            elif self._must_yield(process, first, rank):
                assert process.job is not None
                if process.job.urgent:
                    process.stop(CANCEL_TIMEOUT, interrupted_error(process.job.task))
                else:
                    process.stop(PAUSE_TIMEOUT)
                waiting.remove(first)

    def _must_yield(self, process: EngineProcess, job: EngineJob, rank: Callable[[EngineJob], float]) -> bool:
        """Whether a process must let go of its task for another one."""
        current, now = process.job, asyncio.get_running_loop().time()
        assert current is not None
        ran = now - process.started
        if job.urgent and not current.urgent:
            return rank(job) < rank(current)
        if current.urgent and not (job.urgent and job.network != current.network and ran >= MAX_URGENT_SLICE):
            return False
        return ran >= TIME_SLICE and (rank(job), job.due_time(process)) < (
            rank(current),
            current.due_time(process, now),
        )

    # --- the processes ------------------------------------------------------------------------------------------------
    async def _supervise(self) -> None:
        """Keep one process alive: where one dies, whatever the reason, its task fails and another one is started."""
        if self._compiled:
            await asyncio.shield(self._compiled)
        failed_starts = 0
        while True:
            process = EngineProcess(self._new_slot())
            self._processes.append(process)
            try:
                await process.start()
                await self._listen(process)
            except (EOFError, OSError):
                self._problem = ENGINE_UNAVAILABLE
            except ConfigError as error:
                self._problem = error_answer("engine_not_started", str(error), detail=str(error))
            except Exception:
                logging.getLogger("awello").exception("an engine process is restarted after an unexpected error")
            finally:
                self._processes.remove(process)
                if process.job is not None:
                    final_answer = SHUTTING_DOWN if self._closed else process.final_answer or crash_error(process.job)
                    self._release(process, KILL_CHARGE).post(final_answer)
                with suppress(OSError):
                    await process.close()
            failed_starts = 0 if process.ready else failed_starts + 1
            if failed_starts:
                if failed_starts >= MAX_FAILED_STARTS and not self.ready:
                    self._refuse_waiting(self._problem)
                await asyncio.sleep(RESTART_DELAY)

    async def _listen(self, process: EngineProcess) -> None:
        """Pass on what a process says, as long as it lives."""
        while True:
            word, content = await process.receive()
            if word == "ready":
                process.ready = True
            elif word == "answer" and process.job is not None:
                process.job.post(content)
                continue
            elif word == "ended":
                self._release(process).post(content)
            elif word == "paused":
                self._put_back(process, content)
            elif word == "lost":
                process.kill(content)
            self._schedule()

    def _put_back(self, process: EngineProcess, progress: TaskProgress) -> None:
        """Let a task wait for its next turn: at the end of the queue if it has had the last one."""
        job, now = self._release(process), asyncio.get_running_loop().time()
        if job.has_client:
            job.progress = progress
            job.since = now if now - process.started >= TIME_SLICE else job.since
            self._waiting.append(job)

    def _release(self, process: EngineProcess, extra: float = 0.0) -> EngineJob:
        """The task of a process, which has it no more; its network is charged for it."""
        job, now = process.release_job(), asyncio.get_running_loop().time()
        self._usage.add(job.network, now - process.started + extra, now)
        return job
