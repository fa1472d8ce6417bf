"""Skills in Python are read in several threads at once, and none of them is lost for it."""

import gc
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop.skills.formats.python import read

TEXT = (Path(__file__).resolve().parents[3] / "skills" / "agent" / "agent-demo.skill.py").read_text("utf-8")


@pytest.fixture
def busy_collector() -> Iterator[None]:
    """Garbage is collected all the time, and each time other threads get their turn, as they may on any machine."""

    def pause(*_: object) -> None:
        time.sleep(0.0001)

    before = gc.get_threshold()
    gc.callbacks.append(pause)
    gc.set_threshold(50)
    yield
    gc.callbacks.remove(pause)
    gc.set_threshold(*before)


@pytest.mark.spec("R-SK-6")
def test_a_skill_is_read_whatever_other_threads_read(busy_collector: None) -> None:
    failures: list[BaseException] = []
    until = time.monotonic() + 4
    alone = read(TEXT)
    assert alone.frontmatter is not None
    assert alone.frontmatter.value["name"] == "agent-demo"

    def work() -> None:
        while time.monotonic() < until and not failures:
            try:
                found = read(TEXT)
                assert found.frontmatter is not None
                assert (found.frontmatter.value, found.functions) == (alone.frontmatter.value, alone.functions)
            except BaseException as error:
                failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
