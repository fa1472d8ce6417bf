"""Results of threads come back to a window, and a window that goes away under them takes nothing along."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QObject
from shiboken6 import isValid

from desktop.ui.approvals.request.background import Background
from desktop.ui.transcript.pieces.pooled import Pool
from desktop.ui.widgets.pool_jobs import PoolJobs
from tests.harness.timeouts import until

on_the_loop = pytest.mark.asyncio(loop_scope="function")
ROOT = Path(__file__).resolve().parents[3]
DESTROYED = """
import random, sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QWidget
from desktop.ui.approvals.request.background import Background
from desktop.ui.widgets.pool_jobs import PoolJobs

application = QApplication([])
sys.setswitchinterval(1e-6)
left = 150

def turn():
    global left
    for _ in range(60):
        window = QWidget()
        for one in [Background(window, lambda result: None) for _ in range(4)]:
            one.start(lambda: sum(range(random.randrange(4000))))
        window.deleteLater()
    left -= 1
    QTimer.singleShot(0, turn if left else wait)

def wait():
    if any(isinstance(one, PoolJobs) for one in application.children()):
        QTimer.singleShot(10, wait)
    else:
        application.quit()

QTimer.singleShot(0, turn)
application.exec()
print("all gone")
"""


def test_windows_that_are_destroyed_while_threads_hand_over_do_not_end_the_process() -> None:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT)}
    ended = subprocess.run([sys.executable, "-c", DESTROYED], env=environment, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout.strip()) == (0, "all gone"), ended.stderr[-2000:]


@on_the_loop
async def test_only_the_newest_result_is_delivered(theme: object) -> None:
    owner, seen = QObject(), list[object]()
    background = Background(owner, seen.append)
    for number in range(20):
        background.start(lambda number=number: number)  # type: ignore[misc]
    await until(lambda: seen == [19])
    background.start(lambda: 20)
    background.cancel()
    background.start(lambda: 21)
    await until(lambda: seen[-1] == 21)
    assert seen == [19, 21]


@on_the_loop
async def test_work_of_a_pool_that_fails_gives_none(theme: object) -> None:
    owner, seen = QObject(), list[object]()
    pool = Pool(owner)
    works: list[Callable[[], object]] = [lambda: 1 / 0, lambda: 2]
    for work in works:
        pool.run(work, seen.append)
    await until(lambda: sorted(map(str, seen)) == ["2", "None"])


@on_the_loop
async def test_what_carries_the_results_ends_after_its_owner_and_the_last_job(theme: object) -> None:
    owner, seen = QObject(), list[int]()
    jobs = PoolJobs(owner, lambda number, _result: seen.append(number))
    jobs.start(0, lambda: None)
    await until(lambda: seen == [0])
    assert jobs.parent() is QCoreApplication.instance()
    jobs.start(1, lambda: None)
    owner.deleteLater()
    del owner
    await until(lambda: not isValid(jobs))
    assert seen in ([0], [0, 1])
