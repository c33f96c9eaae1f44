"""A pool of engine processes, so that the server process itself never searches.

An endless search, a crash or a lack of memory makes only one request fail: the process is killed and replaced.  A slot
defines where a process runs, on this machine or on a worker of a cluster.

The client network that has used the least engine time recently is served first, and each client network can have only a
limited number of waiting tasks.  Choices of moves and function calls are urgent, because a player or the page is
waiting for their only response: they have a head start over other tasks, and can preempt analyses and reviews at once.

Of the tasks of a client network, the one that has waited longest is served first, with two exceptions: a review has to
wait longer than an analysis, and a process prefers tasks that it has worked on before, because their positions are in
its transposition table.  While other tasks wait, analyses and reviews run in time slices.  An urgent task that has
run for `MAX_URGENT_SLICE` seconds can be interrupted, with an error, in favour of an urgent task of another client
network.
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
    CallTask,
    ChooseTask,
    ReviewTask,
    Task,
    TaskProgress,
    TaskResponse,
    error_response,
    respond_immediately,
)
from awello.web.messages import MAX_SEARCH_SECONDS
from awello.web.rate_limits import RecentUsage

MAX_WAITING_JOBS, MAX_WAITING_JOBS_PER_NETWORK = 500, 96  # urgent and other tasks are counted separately
URGENT_HEAD_START = 4.0  # seconds of usage that are deducted for an urgent task
TIME_SLICE = 0.7  # seconds after which an analysis or a review can be preempted
SCHEDULE_INTERVAL = 0.1  # seconds between scheduler runs while tasks wait
REVIEW_DELAY = 3.0  # seconds that a review has to wait longer than an analysis
OTHER_PROCESS_DELAY = 2 * TIME_SLICE  # additional seconds that a task waits before it changes to another process
MAX_URGENT_SLICE = 5.0  # seconds after which an urgent task can be stopped for an urgent task of another client network
KILL_CHARGE_SECONDS = 3.0  # seconds that a client network is charged for a killed process
ANALYSIS_INTERVAL = 0.125  # seconds between two analyses sent to a client
CANCEL_TIMEOUT, PAUSE_TIMEOUT = 0.5, 5.0  # seconds within which a process must cancel or pause a task
RESTART_DELAY = 1.0  # seconds before another attempt to start a process
# Consecutive failed starts after which waiting tasks are refused; one can fail because a worker has just been lost.
MAX_FAILED_STARTS = 2

QUEUE_FULL = error_response("queue_full", "too many searches are waiting: try again in a minute")
SHUTTING_DOWN = error_response("shutting_down", "the server is shutting down: try again later")
ENGINE_UNAVAILABLE = error_response("engine_unavailable", "no engine process can be started: see the server's log")
CHOOSE_LESS = "choose a smaller depth or a time limit such as @1s"

Slot = LocalSlot | ClusterSlot  # both have the same methods


@dataclass(eq=False)
class EngineJob:
    """A task with its progress, and a queue of responses for the client."""

    task: Task
    waiting_since: float
    """When the job started to wait."""
    client_network: str = ""
    """The client network that sent the task."""
    progress: TaskProgress = field(default_factory=TaskProgress)
    last_process: "EngineProcess | None" = None
    """The process that worked on the job last."""
    has_client: bool = True
    """Whether a client still waits for the responses."""
    responses: deque[TaskResponse] = field(default_factory=deque)
    response_posted: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def urgent(self) -> bool:
        """Whether the job has only one response, for which a player or the page is waiting.

        Urgent jobs have a head start and are never paused.
        """
        return isinstance(self.task, ChooseTask | CallTask)

    def post(self, response: TaskResponse) -> None:
        """Queue a response; an analysis replaces an older one that has not been fetched."""
        if response["type"] == "analysis" and self.responses and self.responses[-1]["type"] == "analysis":
            self.responses.pop()
        self.responses.append(response)
        self.response_posted.set()

    async def fetch(self) -> TaskResponse:
        """Wait for the next response, and return it."""
        while not self.responses:
            self.response_posted.clear()
            await self.response_posted.wait()
        return self.responses.popleft()

    def due_time(self, process: "EngineProcess", since: float | None = None) -> float:
        """Return the time when the job is due; of a client network's jobs, a process takes the one that is due first.

        If `since` is given, it is used instead of `waiting_since`.
        """
        later = REVIEW_DELAY if isinstance(self.task, ReviewTask) else 0.0
        later += OTHER_PROCESS_DELAY if self.last_process not in (None, process) else 0.0
        return (self.waiting_since if since is None else since) + later


class EngineProcess:
    """An engine process and its current job."""

    def __init__(self, slot: Slot | None = None) -> None:
        self._slot = slot or LocalSlot()
        self.ready = False
        """Whether the process has started and accepts tasks."""
        self.stopping = False
        """Whether the process has been asked to stop its job."""
        self.job: EngineJob | None = None
        self.started = 0.0
        self.final_response: TaskResponse | None = None
        """The response for the client of the job if the process is being killed, else None."""
        self._number = 0
        self._deadline: asyncio.TimerHandle | None = None

    async def start(self) -> None:
        """Start the process; its first message is `ready`."""
        await self._slot.start()

    async def receive(self) -> tuple[str, Any]:
        """Return the next message of the process; raise `EOFError` if the process has ended."""
        type, content = pickle.loads(await self._slot.receive())  # nosec B301 # noqa: S301 - our process
        return type, content

    @property
    def idle(self) -> bool:
        """Whether the process is ready for a job."""
        return self.ready and self.job is None and self.final_response is None

    def start_job(self, job: EngineJob) -> None:
        """Start or resume a job."""
        self.job, job.last_process, self.started = job, self, asyncio.get_running_loop().time()
        self._number += 1
        self._send(self._number, job.task, job.progress)

    def stop(self, timeout: float, final_response: TaskResponse | None = None) -> None:
        """Ask the process to stop its job; kill the process if the job has not stopped after `timeout` seconds."""
        self.stopping = True
        self._send(self._number)
        self.set_deadline(timeout, final_response or crash_error(self.job))

    def set_deadline(self, seconds: float, final_response: TaskResponse) -> None:
        """If the job has not ended within `seconds`, kill the process and send `final_response` to the client."""
        self._cancel_deadline()
        self._deadline = asyncio.get_running_loop().call_later(seconds, self.kill, final_response)

    def release_job(self) -> EngineJob:
        """Detach the current job and return it."""
        assert self.job is not None
        self._cancel_deadline()
        job, self.job, self.stopping = self.job, None, False
        return job

    def kill(self, final_response: TaskResponse) -> None:
        """Kill the process; the client receives `final_response`."""
        self.final_response = final_response
        self._slot.kill()

    async def close(self) -> None:
        """Kill the process if it is alive, and release its resources."""
        self._cancel_deadline()
        await self._slot.close()

    def _send(self, *message: Any) -> None:
        self._slot.send(pickle.dumps(message))

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()


def crash_error(job: EngineJob | None) -> TaskResponse:
    """Return the response for a job whose process has died."""
    if job is not None and isinstance(job.task, ChooseTask):
        spec = job.task.spec
        message = f"{spec} crashed and is being restarted: try again, or choose another player"
        return error_response("player_crashed", message, player=spec)
    return error_response("search_crashed", "the search crashed and its process is being restarted: try again")


def interrupted_error(task: Task) -> TaskResponse:
    """Return the response for a task that is interrupted because other users are waiting."""
    if isinstance(task, ChooseTask):
        message = f"{task.spec} was interrupted because other users are waiting: {CHOOSE_LESS}"
        return error_response("player_interrupted", message, player=task.spec)
    message = "the request was interrupted because other users are waiting: try again"
    return error_response("task_interrupted", message)


def timeout_error(task: Task, seconds: float) -> TaskResponse:
    """Return the response for a task that exceeds its time limit."""
    if isinstance(task, ChooseTask):
        message = f"{task.spec} took longer than {seconds:g} s: {CHOOSE_LESS}"
        return error_response("player_timeout", message, player=task.spec, seconds=seconds)
    return error_response("task_timeout", f"the request took longer than {seconds:g} s: try again", seconds=seconds)


class EnginePool:
    """Engine processes and a queue of jobs; an urgent job can take up to `max_seconds`.

    If `compiled` is given, the processes start when that future is done.
    """

    def __init__(
        self,
        count: int,
        max_seconds: float = MAX_SEARCH_SECONDS,
        new_slot: Callable[[], Slot] = LocalSlot,
        compiled: asyncio.Future[bool] | None = None,
    ) -> None:
        self.count, self.max_seconds, self._new_slot, self._compiled = count, max_seconds, new_slot, compiled
        self._start_error = ENGINE_UNAVAILABLE
        self._supervisors: list[asyncio.Task[None]] = []
        self._processes: list[EngineProcess] = []
        self._waiting: list[EngineJob] = []
        self._usage = RecentUsage()
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def ready(self) -> bool:
        """Whether at least one process is ready."""
        return any(process.ready for process in self._processes)

    async def start(self) -> None:
        """Start the processes if they have not been started; tasks can be added before a process is ready."""
        self._supervisors = self._supervisors or [asyncio.create_task(self._supervise()) for _ in range(self.count)]

    async def close(self) -> None:
        """Stop all processes, and end all jobs with an error."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        for supervisor in self._supervisors:
            supervisor.cancel()
        await asyncio.gather(*self._supervisors, return_exceptions=True)
        self._refuse_waiting(SHUTTING_DOWN)

    async def run(self, task: Task, client_network: str = "") -> AsyncGenerator[TaskResponse, None]:
        """Run a task and yield its responses, the last of type `done` or `error`.

        Closing the generator cancels the task, unless it is a function call that is already running.
        """
        if responses := respond_immediately(task):
            for response in responses:
                yield response
            return
        job = EngineJob(task, asyncio.get_running_loop().time(), client_network)
        if error := self._quota_error(job):
            yield error
            return
        self._waiting.append(job)
        try:
            self._schedule()
            while True:
                response = await job.fetch()
                yield response
                if response["type"] in ("done", "error"):
                    return
                if response["type"] == "analysis":
                    await asyncio.sleep(ANALYSIS_INTERVAL)
        finally:
            self._abandon(job)

    # --- the queue ----------------------------------------------------------------------------------------------------
    def _quota_error(self, job: EngineJob) -> TaskResponse | None:
        """Return an error if the pool is closed or too many jobs wait; urgent and other jobs are counted separately."""
        if self._closed:
            return SHUTTING_DOWN
        ahead = [other.client_network for other in self._waiting if other.urgent == job.urgent]
        full = len(ahead) >= MAX_WAITING_JOBS or ahead.count(job.client_network) >= MAX_WAITING_JOBS_PER_NETWORK
        return QUEUE_FULL if full else None

    def _refuse_waiting(self, response: TaskResponse) -> None:
        for job in self._waiting:
            job.post(response)
        self._waiting.clear()

    def _abandon(self, job: EngineJob) -> None:
        """Cancel a job whose client no longer waits for responses, but let a running function call end."""
        job.has_client = False
        if job in self._waiting:
            self._waiting.remove(job)
        for process in self._processes:
            if process.job is job and not isinstance(job.task, CallTask):  # calls are short: let them end
                process.stop(CANCEL_TIMEOUT)

    def _schedule(self) -> None:
        """Assign waiting jobs to idle processes; if there are not enough idle processes, preempt running jobs."""
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
        """Return a function that computes the sort key of a job; the lowest key comes first.

        The key is the recent usage of the job's client network, minus `URGENT_HEAD_START` if the job is urgent.
        """
        now = asyncio.get_running_loop().time()
        busy = [(process.job, process.started) for process in self._processes if process.job is not None]
        running = [(job.client_network, now - started) for job, started in busy]
        networks = {job.client_network for job in self._waiting} | {network for network, _ in running}
        used = {network: self._usage.get(network, now) for network in networks}
        for network, seconds in running:
            used[network] += seconds
        return lambda job: used[job.client_network] - (URGENT_HEAD_START if job.urgent else 0.0)

    def _begin(self, job: EngineJob, process: EngineProcess) -> None:
        process.start_job(job)
        if job.urgent:
            process.set_deadline(self.max_seconds, timeout_error(job.task, self.max_seconds))

    def _preempt(self) -> None:
        """Preempt running jobs, the longest-running first, in favour of waiting jobs with a higher priority."""
        busy = sorted(
            (process for process in self._processes if process.job is not None), key=lambda each: each.started
        )
        rank, waiting = self._ranking(), list(self._waiting)
        for process in busy:
            if not waiting:
                return
            first = min(waiting, key=lambda job: (rank(job), job.due_time(process)))
            if process.stopping:  # this process is already stopping for a waiting job
                waiting.remove(first)
            elif self._must_yield(process, first, rank):
                assert process.job is not None
                if process.job.urgent:
                    process.stop(CANCEL_TIMEOUT, interrupted_error(process.job.task))
                else:
                    process.stop(PAUSE_TIMEOUT)
                waiting.remove(first)

    def _must_yield(self, process: EngineProcess, job: EngineJob, rank: Callable[[EngineJob], float]) -> bool:
        """Return whether a process must stop its job for another job."""
        current, now = process.job, asyncio.get_running_loop().time()
        assert current is not None
        ran = now - process.started
        if job.urgent and not current.urgent:
            return rank(job) < rank(current)
        elsewhere = job.client_network != current.client_network
        if current.urgent and not (job.urgent and elsewhere and ran >= MAX_URGENT_SLICE):
            return False
        return ran >= TIME_SLICE and (rank(job), job.due_time(process)) < (
            rank(current),
            current.due_time(process, now),
        )

    # --- the processes ------------------------------------------------------------------------------------------------
    async def _supervise(self) -> None:
        """Keep one process running: if it dies for any reason, its job fails and a new process is started."""
        if self._compiled:
            await asyncio.shield(self._compiled)
        failed_starts = 0
        while True:
            process = EngineProcess(self._new_slot())
            self._processes.append(process)
            try:
                await process.start()
                await self._handle_messages(process)
            except (EOFError, OSError):
                self._start_error = ENGINE_UNAVAILABLE
            except ConfigError as error:
                self._start_error = error_response("engine_not_started", str(error), detail=str(error))
            except Exception:
                logging.getLogger("awello").exception("an engine process is restarted after an unexpected error")
            finally:
                self._processes.remove(process)
                if process.job is not None:
                    response = SHUTTING_DOWN if self._closed else process.final_response or crash_error(process.job)
                    self._release(process, KILL_CHARGE_SECONDS).post(response)
                with suppress(OSError):
                    await process.close()
            failed_starts = 0 if process.ready else failed_starts + 1
            if failed_starts:
                if failed_starts >= MAX_FAILED_STARTS and not self.ready:
                    self._refuse_waiting(self._start_error)
                await asyncio.sleep(RESTART_DELAY)

    async def _handle_messages(self, process: EngineProcess) -> None:
        """Handle the messages of a process until it ends."""
        while True:
            type, content = await process.receive()
            if type == "ready":
                process.ready = True
            elif type == "response" and process.job is not None:
                process.job.post(content)
                continue
            elif type == "ended":
                self._release(process).post(content)
            elif type == "paused":
                self._requeue(process, content)
            elif type == "lost":
                process.kill(content)
            self._schedule()

    def _requeue(self, process: EngineProcess, progress: TaskProgress) -> None:
        """Queue a paused job again; its waiting time starts anew if it has used its time slice."""
        job, now = self._release(process), asyncio.get_running_loop().time()
        if job.has_client:
            job.progress = progress
            job.waiting_since = now if now - process.started >= TIME_SLICE else job.waiting_since
            self._waiting.append(job)

    def _release(self, process: EngineProcess, extra: float = 0.0) -> EngineJob:
        """Detach the job of a process, and charge the job's client network for the time used plus `extra` seconds."""
        job, now = process.release_job(), asyncio.get_running_loop().time()
        self._usage.add(job.client_network, now - process.started + extra, now)
        return job
