"""A test fails on any log record at WARNING or above that it did not announce with the marker `expects_log`."""

import logging
import re
from collections.abc import Iterator

import pytest


class Recorder(logging.Handler):
    """Keeps the text of every record at WARNING or above."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        line = f"{record.levelname} {record.name}: {record.getMessage()}"
        if record.exc_info and record.exc_info[1] is not None:
            line += f" ({record.exc_info[1]!r})"
        self.lines.append(line)


def complaints(lines: list[str], patterns: tuple[str, ...] | None) -> list[str]:
    """What is wrong with `lines`: `None` allows no line, an empty tuple any, patterns exactly those that match."""
    if patterns is None:
        return [f"unexpected log: {line}" for line in lines]
    if not patterns:
        return []
    unexpected = [line for line in lines if not any(re.search(pattern, line) for pattern in patterns)]
    absent = [pattern for pattern in patterns if not any(re.search(pattern, line) for line in lines)]
    return [f"unexpected log: {line}" for line in unexpected] + [f"log never came: {pattern}" for pattern in absent]


@pytest.fixture(autouse=True)
def _log_guard(request: pytest.FixtureRequest) -> Iterator[None]:
    marker = request.node.get_closest_marker("expects_log")
    recorder = Recorder()
    root = logging.getLogger()
    root.addHandler(recorder)
    try:
        yield
    finally:
        root.removeHandler(recorder)
    found = complaints(recorder.lines, None if marker is None else marker.args)
    if found:
        pytest.fail("\n".join(found), pytrace=False)
