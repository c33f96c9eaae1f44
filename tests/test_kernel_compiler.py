"""The kernel compiler: the order of modules, workers that die, Ctrl-C, and lazy kernels."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from browser import run_server_process
from conftest import ROOT, fresh_awello, restore_interrupts, run
from waiting import TIMEOUT, wait_until

from awello import kernel_compiler
from awello.kernel_compiler import KernelCompiler, Worker, collect_imports, find_kernel_imports, plan_order
from awello.web.child_processes import ENGINE_KERNEL_MODULES, SERVER_KERNEL_MODULES
from awello.web.engine_pool import EnginePool
from awello.web.engine_slots import LocalSlot

WORKER = """
import os, sys
for line in sys.stdin:
    module, *priority = line.split()
    if module == sys.argv[1]:
        os._exit(1)
    print(f"kernel of {module}", module, sep="\\n", flush=True)
"""
IMPORT = "import sys; from awello.kernel import notice; import awello.learn.ridge; print(notice.done)"
USE_LAZY_KERNELS = """
from awello import Position, kernel
position = Position.start()
assert kernel.notice.done == 0, "importing compiles nothing"
print(len(position.legal_moves()))
assert isinstance(vars(kernel.import_module("awello.search.negamax"))["search"], kernel.LazyKernel)
kernel.load_kernels(["awello.search.negamax"])
print(kernel.import_module("awello.search.negamax").search.load().signatures != [])
"""


def fake_worker(deadly: str = "") -> Worker:
    """Start a worker that compiles nothing and exits when it receives the module `deadly`."""
    return subprocess.Popen([sys.executable, "-c", WORKER, deadly], stdin=-1, stdout=-1, text=True)


def list_session_processes(session: int) -> list[str]:
    """List the states of the running processes of a session."""
    states = [file.read_text().rpartition(")")[2].split() for file in Path("/proc").glob("[0-9]*/stat")]
    return [state[0] for state in states if int(state[3]) == session and state[0] != "Z"]


def test_modules_are_planned_after_stages() -> None:
    imports = find_kernel_imports()
    planned = plan_order(imports, [SERVER_KERNEL_MODULES, ENGINE_KERNEL_MODULES])
    assert sorted(planned) == sorted(imports)
    server, engines = (collect_imports(stage, imports) for stage in (SERVER_KERNEL_MODULES, ENGINE_KERNEL_MODULES))
    assert set(planned[: len(server)]) == server
    assert set(planned[: len(server | engines)]) == server | engines
    assert "awello.learn.pattern_kernels" not in engines and "awello.rules.awale" in server


def test_modules_are_compiled_after_their_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_compiler, "_start_worker", fake_worker)
    started: list[str] = []
    ready: list[set[str]] = []
    compile = KernelCompiler._compile

    def record_start(self: KernelCompiler, module: str, worker: Worker) -> None:
        started.append(module)
        ready.append(set(self._ready))
        compile(self, module, worker)

    monkeypatch.setattr(KernelCompiler, "_compile", record_start)
    with KernelCompiler(workers=2) as compiler:
        compiler.wait()
    imports = find_kernel_imports()
    assert sorted(started) == sorted(imports)
    assert all(imports[module] <= done for module, done in zip(started, ready, strict=True))


def test_another_worker_compiles_the_module_of_a_dead_one(monkeypatch: pytest.MonkeyPatch) -> None:
    deadly = iter(("awello.memory", ""))
    monkeypatch.setattr(kernel_compiler, "_start_worker", lambda: fake_worker(next(deadly)))
    with KernelCompiler(workers=2) as compiler:
        assert compiler.wait()


def test_wait_returns_if_all_workers_are_dead_or_none_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_compiler, "_start_worker", lambda: fake_worker("awello.kernel"))
    with KernelCompiler(workers=2) as compiler:
        assert not compiler.wait()

    def refuse() -> Worker:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(kernel_compiler, "_start_worker", refuse)
    with KernelCompiler() as compiler:
        assert not compiler.wait()


def test_no_kernel_is_compiled_by_two_processes(tmp_path: Path) -> None:
    environment = os.environ | {"AWELLO_CACHE": str(tmp_path)}
    command = [sys.executable, "-c", IMPORT]
    both = [subprocess.Popen(command, cwd=ROOT, env=environment, stdout=-1, stderr=-1, text=True) for _ in range(2)]
    compiled = [int(process.communicate()[0]) for process in both]
    assert sum(compiled) == 2, "each of the two kernels of learn.ridge is compiled once"


def test_lazy_kernels_are_compiled_when_they_are_called(tmp_path: Path) -> None:
    done = run("-c", USE_LAZY_KERNELS, AWELLO_CACHE=str(tmp_path), AWELLO_LAZY_KERNELS="1")
    assert (done.returncode, done.stdout.split()) == (0, ["4", "True"]), done.stderr


def test_engine_processes_start_when_their_kernels_are_compiled() -> None:
    async def check() -> None:
        compiled, started = asyncio.get_running_loop().create_future(), asyncio.Event()

        class Slot(LocalSlot):
            async def start(self) -> None:
                started.set()
                raise EOFError

        pool = EnginePool(1, new_slot=Slot, compiled=compiled)
        await pool.start()
        for _ in range(10):
            await asyncio.sleep(0)
        assert not started.is_set()
        compiled.set_result(True)
        await asyncio.wait_for(started.wait(), TIMEOUT)
        await pool.close()

    asyncio.run(check())


@pytest.mark.skipif(sys.platform != "linux", reason="processes are counted in /proc")
def test_an_interrupted_warmup_leaves_nothing_behind(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "awello", "warmup"],
        cwd=ROOT,
        env=os.environ | {"AWELLO_CACHE": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=restore_interrupts,
    )
    assert process.stderr and "compiling" in process.stderr.readline()
    os.killpg(process.pid, signal.SIGINT)
    assert process.communicate()[1] == "awello: interrupted\n"
    assert process.returncode == 130
    wait_until(lambda: not list_session_processes(process.pid))


@pytest.mark.slow
def test_a_warmup_compiles_everything_once(tmp_path: Path) -> None:
    cold, warm = (fresh_awello("warmup", "--json", AWELLO_CACHE=str(tmp_path)) for _ in range(2))
    assert '"compiled": 0' in warm.stdout
    assert '"compiled": 0' not in cold.stdout and cold.returncode == 0, cold.stderr


@pytest.mark.slow
@pytest.mark.parametrize("player", ["champion@4", "uct@50n"])
def test_a_server_answers_before_everything_is_compiled(tmp_path: Path, player: str) -> None:
    with run_server_process(AWELLO_CACHE=str(tmp_path)) as address:
        for game, move in (("othello", "f5"), ("abapa", "C")):
            body = json.dumps({"game": game, "moves": [move], "player": player}).encode()
            with urlopen(Request(f"{address}api/choose", body, {"content-type": "application/json"})) as answer:
                assert json.load(answer)["move"]
