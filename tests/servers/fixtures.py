"""Fixtures over the fake provider: ``provider`` is a fresh space of one server process that lives for the whole run.

Import what you use into your conftest.py: ``from tests.servers.fixtures import provider, provider_process``.
"""

import contextlib
import json
import subprocess
import sys
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.harness.timeouts import WAIT_S

ROOT = Path(__file__).resolve().parents[2]


class ProviderSpace:
    """One test's corner of the server: ``base_url`` is what a connection is given (``/v1`` added for OpenAI)."""

    def __init__(self, port: int) -> None:
        self.base_url = f"http://127.0.0.1:{port}/s/{uuid.uuid4().hex[:8]}"

    @property
    def openai_url(self) -> str:
        return self.base_url + "/v1"

    def _call(self, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base_url + path, data, {"Content-Type": "application/json"})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=WAIT_S) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def rounds(self, *rounds: dict[str, Any]) -> None:
        """Each model request takes the next round; the last one stays."""
        self._call("/control/rounds", list(rounds))

    def steps(self, *steps: dict[str, Any]) -> None:
        """One round of these steps."""
        self.rounds({"steps": list(steps)})

    def refuse(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        """Every request is answered with this status and JSON body."""
        self.rounds({"status": status, "body": body, "headers": headers or {}})

    def strict(self) -> None:
        """From now on refuse tool rounds whose thinking is missing or altered, as the real ones do."""
        self._call("/control/strict", True)

    def caches(self) -> None:
        """From now on count tokens as providers with a cache do, see ``tests/harness/prefix_cache.py``."""
        self._call("/control/cache", True)

    def local(self, **servers: Any) -> None:
        """What discovery and model lists find."""
        self._call("/control/local", servers)

    def requests(self) -> list[dict[str, Any]]:
        """What came in so far."""
        found: list[dict[str, Any]] = self._call("/control/requests")
        return found

    def wait_for(self, true: Callable[[list[dict[str, Any]]], bool], timeout: float = WAIT_S) -> list[dict[str, Any]]:
        """Polls the log until it satisfies ``true``; blocks, so call it from a thread in coroutines."""
        deadline = time.monotonic() + timeout
        while True:
            log = self.requests()
            if true(log):
                return log
            if time.monotonic() > deadline:
                raise AssertionError(f"the server's log never became what was expected: {log}")
            time.sleep(0.01)


@contextlib.contextmanager
def running_provider() -> Iterator[int]:
    """A server process; yields its port. Ends with its stdin."""
    command = [sys.executable, "-m", "tests.servers.provider"]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line:
            pytest.fail("the fake provider did not start")
        yield int(json.loads(line)["port"])
    finally:
        process.stdin.close()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(5)
        process.stdout.close()


@pytest.fixture(scope="session")
def provider_process() -> Iterator[int]:
    with running_provider() as port:
        yield port


@pytest.fixture
def provider(provider_process: int) -> ProviderSpace:
    return ProviderSpace(provider_process)
