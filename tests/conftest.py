"""What holds for every test: no reach into the person's own home, keyring or screen, and nothing left behind.

The fixtures and guards live in tests/harness; this file only binds them to pytest.
"""

import gc
import os
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, find, settings
from hypothesis.strategies import none

# A busy machine is no finding: how long an example takes to be made says nothing about the code.
settings.register_profile("assent", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("assent")

# Before anything of Qt or of the app is imported. A test that wants a real home, bus or screen asks for a fixture.
os.environ["QT_QPA_PLATFORM"] = "offscreen"
os.environ["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nonexistent/assent-tests-have-no-bus"
os.environ["AGENT_HOME"] = "/nonexistent/assent-tests-have-no-home"
for _name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_STYLE_OVERRIDE", "QT_SCALE_FACTOR", "PYTHONDONTWRITEBYTECODE"):
    os.environ.pop(_name, None)

# Reading hundreds of modules and making thousands of tests makes no garbage, but at the collector's own pace it looks
# through all of them over and over: two thirds of the time of parsing our sources went there.
gc.set_threshold(50_000, 20, 50)

from tests.harness.leaks import _qt_guard, _thread_guard  # noqa: E402
from tests.harness.logs import _log_guard  # noqa: E402
from tests.harness.loops import LoopFactory, _function_scoped_runner, factories  # noqa: E402
from tests.harness.progress import Costs, Progress  # noqa: E402
from tests.harness.services import keyring_daemon, keyring_session, x_display  # noqa: E402

__all__ = [
    "_function_scoped_runner",
    "_log_guard",
    "_qt_guard",
    "_thread_guard",
    "keyring_daemon",
    "keyring_session",
    "x_display",
]


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Where pytest-qt is switched off (Qt hidden), its settings in pyproject.toml must still be known."""
    if not pluginmanager.has_plugin("pytest-qt"):
        for name in ("qt_api", "qt_log_level_fail", "qt_default_raising"):
            parser.addini(name, "a setting of pytest-qt, unused while Qt is hidden", default="")


def pytest_configure(config: pytest.Config) -> None:
    progress = os.environ.pop("ASSENT_TEST_PROGRESS", "")  # popped: a pytest that a test starts is not the one asked
    if progress:
        config.pluginmanager.register(Progress(Path(progress)))
    if config.pluginmanager.hasplugin("cacheprovider"):
        config.pluginmanager.register(Costs(config))


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Mapping[str, LoopFactory]:
    return factories(item)


@cache
def _meet_hypothesis() -> None:
    """Hypothesis looks for who holds its source of chance when it first works, and from Python 3.14 on finds nobody
    where that was frozen before: it says so in a warning, which is an error here."""
    find(none(), lambda _: True)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """After each file of tests what is left is here to stay: modules, reports, caches. The guards collect garbage
    after many tests, and would look through all of it again each time: a second a test towards the end."""
    if nextitem is None or nextitem.path != item.path:
        _meet_hypothesis()
        gc.collect()
        gc.freeze()


@pytest.fixture
def agent_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home of the app (AGENT_HOME), gone after the test."""
    home = tmp_path / "agent-home"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("AGENT_HOME", str(home))
    return home


@pytest.fixture
def short_tmp() -> Iterator[Path]:
    """A folder with a short path, for Unix sockets, whose paths end at 107 bytes."""
    with tempfile.TemporaryDirectory(prefix="as-") as name:
        yield Path(name)
