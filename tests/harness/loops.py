"""Which event loop a coroutine test runs on: plain asyncio below the presenter, the app's own loop above it."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import pytest

LoopFactory = Callable[[], asyncio.AbstractEventLoop]

TESTS = Path(__file__).resolve().parents[1]
QT_FOLDERS = tuple(TESTS / name for name in ("gui", "unit/presenter", "unit/ui", "unit/app"))
GRACE = 0.3  # seconds a cancelled task or a closing thread has to be gone


def needs_qt(item: pytest.Item) -> bool:
    """Whether the test lives in a Qt folder or carries the marker `qt`."""
    return item.get_closest_marker("qt") is not None or any(item.path.is_relative_to(folder) for folder in QT_FOLDERS)


def app_loop() -> asyncio.AbstractEventLoop:
    """A fresh loop of the app's own class on the one QApplication. Imported late: the runtime's tests never do."""
    widgets = import_module("PySide6.QtWidgets")
    application = widgets.QApplication.instance() or widgets.QApplication(["assent-tests"])
    application.setQuitOnLastWindowClosed(False)
    loop: asyncio.AbstractEventLoop = import_module("desktop.app.loop.event_loop").AssentEventLoop(application)
    return loop


def factories(item: pytest.Item) -> Mapping[str, LoopFactory]:
    return {"assent": app_loop} if needs_qt(item) else {"asyncio": asyncio.new_event_loop}


@contextlib.contextmanager
def threads_ready(count: int = 4) -> Iterator[None]:
    """Starts the threads of the running loop now: on a loop of several tests none is later taken for one that a test
    left behind."""
    with ThreadPoolExecutor(count, "shared loop") as pool:
        started = threading.Barrier(count + 1)
        for _ in range(count):
            pool.submit(started.wait)
        started.wait()
        asyncio.get_running_loop().set_default_executor(pool)
        yield


async def _settled(loop: asyncio.AbstractEventLoop) -> set[asyncio.Task[object]]:
    """The other tasks of `loop` that are still there after the grace time."""
    deadline = loop.time() + GRACE
    while True:
        tasks = asyncio.all_tasks(loop) - {asyncio.current_task()}  # type: ignore[arg-type]
        if not tasks or loop.time() > deadline:
            return tasks
        await asyncio.sleep(0.005)


def leaked_tasks(runner: asyncio.Runner) -> list[str]:
    """A line for each task that outlives its test, while the test's loop still exists."""
    loop = runner.get_loop()
    if loop.is_closed():
        return []
    return sorted(f"{task.get_name()}: {task.get_coro()!r}" for task in runner.run(_settled(loop)))


@pytest.fixture
def _function_scoped_runner(_function_scoped_runner: asyncio.Runner) -> Iterator[asyncio.Runner]:
    """pytest-asyncio's runner of one test, failing the test when tasks are left at its end."""
    yield _function_scoped_runner
    leaked = leaked_tasks(_function_scoped_runner)
    if leaked:
        pytest.fail("tasks left running: " + "; ".join(leaked), pytrace=False)
