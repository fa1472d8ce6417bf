"""Tells packaging/dev.py how far a run is, and what each file of tests costs."""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

COSTS = "assent/seconds"
"""In pytest's cache: seconds of processor time by file, its child processes included."""


class Progress:
    """Keeps in a file how many tests are done, of how many."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._done = self._total = 0

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._total = len(session.items)
        self._tell()

    def pytest_runtest_logfinish(self) -> None:
        self._done += 1
        self._tell()

    def _tell(self) -> None:
        if self._file.parent.is_dir():  # it goes with whoever asked
            self._file.write_text(f"{self._done} {self._total}\n")


class Costs:
    """Adds up what the tests of each file use, and remembers it where whole files have run."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._seconds: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        before = sum(os.times()[:4])
        result = yield
        self._seconds[item.nodeid.partition("::")[0]] += sum(os.times()[:4]) - before  # type: ignore[assignment]
        return result

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        in_parts = self._config.option.keyword or any("::" in one for one in self._config.args)
        if self._seconds and not in_parts and not session.shouldfail and not session.shouldstop:
            cache = self._config.cache
            assert cache is not None
            rounded = {file: round(seconds, 2) for file, seconds in self._seconds.items()}
            cache.set(COSTS, {**cache.get(COSTS, {}), **rounded})
