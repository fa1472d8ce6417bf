"""A pytest plugin (`-p tests.harness.mutation`) that says which faults the collected tests notice.

All is imported once. Each fault is put into a forked copy of this process, and into the file for what that starts; of
the tests only those are run that run its line. `ASSENT_MUTANTS` names the files of the faults and of the answers.
"""

import ast
import gc
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest
from devlib.changed import touched
from devlib.mutants import Mutant, code_of, mutants, mutated

MOST_S = 25.0
"""How long the tests of one fault may take, by what they took before: the fastest are run."""
PATIENCE, LEAST_S = 6.0, 30.0
"""A fault that makes tests so many times slower is noticed, though not before ``LEAST_S``."""
Tell = Callable[[object], None]


class Watch:
    """Sees which lines of some functions a test runs, and whether it fails."""

    def __init__(self, functions: Sequence[FunctionType]) -> None:
        self._codes = {id(code) for function in functions for code in _nested(function.__code__)}
        self.lines: set[tuple[str, int]] = set()
        self.failed = False

    def trace(self, frame: FrameType, event: str, _: object) -> Callable[..., Any] | None:
        return self._line if id(frame.f_code) in self._codes else None

    def _line(self, frame: FrameType, event: str, _: object) -> Callable[..., Any]:
        if event == "line":
            self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.failed


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    asked, told = (Path(name) for name in json.loads(os.environ["ASSENT_MUTANTS"]))
    chosen = [(Path(path).resolve(), index) for path, index in json.loads(asked.read_text("utf-8"))]
    faults = [mutants(ast.parse(path.read_text("utf-8")))[index] for path, index in chosen]
    tests = _recorded(session, [one for at, fault in zip(chosen, faults, strict=True) for one in _loaded(at[0], fault)])
    with told.open("w", encoding="utf-8") as answers:
        for (path, index), fault in zip(chosen, faults, strict=True):
            row = {"path": path.relative_to(Path.cwd()).as_posix(), "index": index, "line": fault.line}
            row |= {"function": fault.function, "what": fault.what} | _try(session, path, index, fault, tests)
            print(json.dumps(row), file=answers, flush=True)
    return True


def _recorded(session: pytest.Session, functions: Sequence[FunctionType]) -> list[tuple[str, float, list[Any]]]:
    """Of each test that passes without faults: its id, what it took, the lines it ran."""

    def work(tell: Tell) -> None:
        watch = Watch(functions)
        threading.settrace(watch.trace)
        sys.settrace(watch.trace)
        begun = time.monotonic()
        for name in _run(session, [item.nodeid for item in session.items], watch):
            if not watch.failed:
                tell((name, time.monotonic() - begun, sorted(watch.lines)))
            watch.failed, begun = False, time.monotonic()
            watch.lines.clear()

    return _forked(work, float("inf"))[0]


def _try(session: pytest.Session, path: Path, index: int, fault: Mutant, tests: Sequence[Any]) -> dict[str, Any]:
    """What became of a fault: ``noticed`` names the test that failed, None is that nothing did."""
    before = path.read_bytes()
    tree = mutated(before.decode(), index)
    code = code_of(compile(tree, str(path), "exec"), fault)
    near = [test for test in tests if any([str(path), at] in test[2] for at in range(fault.line, fault.end + 1))]
    ran = bool(near)
    if not ran:
        beside = touched([path.relative_to(Path.cwd()).as_posix()], Path.cwd())
        near = [test for test in tests if test[0].partition("::")[0] in beside]
    names, expected = [], 0.0
    for name, seconds, _ in sorted(near, key=lambda test: test[1]):
        if expected + seconds < MOST_S:
            names.append(name)
            expected += seconds

    def work(tell: Tell) -> None:
        for function in _loaded(path, fault):
            function.__code__ = code
        watch = Watch([])
        for name in _run(session, names, watch):
            if watch.failed:
                tell(name)
                return

    try:
        path.write_text(ast.unparse(tree), "utf-8")
        os.utime(path, (index, index))  # or Python would not read it again
        answers, ended = _forked(work, LEAST_S + PATIENCE * expected)
    finally:
        path.write_bytes(before)
    noticed = answers[0] if answers else None if ended else "took too long, or ended the process"
    return {"noticed": noticed, "ran": ran, "tests": len(names), "of": len(near)}


def _run(session: pytest.Session, names: Sequence[str], watch: Watch) -> Iterator[str]:
    """Runs tests one after the other; each name comes when its test has ended."""
    session.config.pluginmanager.register(watch)
    items = {item.nodeid: item for item in session.items}
    for name, after in zip(names, [*names[1:], ""], strict=False):
        items[name].config.hook.pytest_runtest_protocol(item=items[name], nextitem=items.get(after))
        yield name


def _forked(work: Callable[[Tell], None], limit: float) -> tuple[list[Any], bool]:
    """What a copy of this process told, and whether it came to its end in time. What it started ends with it."""
    folder = tempfile.mkdtemp(prefix="mu-")
    told = Path(folder, "told")
    told.touch()
    child = os.fork()
    if not child:
        os.setsid()
        os.environ["PYTEST_DEBUG_TEMPROOT"] = folder
        code = 1
        try:
            with told.open("a", encoding="utf-8") as lines:
                work(lambda what: print(json.dumps(what), file=lines, flush=True))
            code = 0
        finally:
            os._exit(code)
    begun, done, status = time.monotonic(), 0, 1
    while not done and time.monotonic() - begun < limit:
        done, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.02)
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it left nothing behind
    if not done:
        os.waitpid(child, 0)
    answers = [json.loads(line) for line in told.read_text("utf-8").splitlines()]
    shutil.rmtree(folder, ignore_errors=True)
    return answers, bool(done) and status == 0


def _loaded(path: Path, fault: Mutant) -> list[FunctionType]:
    """The functions of this process in which a fault is."""
    found = [(one, one.__code__) for one in gc.get_objects() if isinstance(one, FunctionType)]
    key = (str(path), fault.begins, fault.function)
    return [one for one, code in found if (code.co_filename, code.co_firstlineno, code.co_qualname) == key]


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _nested(one)
