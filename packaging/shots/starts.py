"""Model servers that are installed and can be started: none, one, one that runs, one that failed."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, cast

from desktop.domain.errors import KnownError
from desktop.domain.servers.starting import ModelFile, ServerState, StartChoice, StartKind, StartPlan
from desktop.presenter.settings.local_starts import LocalStartsViewModel

PROGRAM = "/usr/local/bin/llama-server"
FILE = ModelFile("/home/ida/models/tide-7b-q4_k_m.gguf", "Tide 7B Instruct", 4_368_000_000, 32_768)
LLAMACPP = ServerState("llamacpp", program=PROGRAM)
RUNNING = replace(LLAMACPP, phase="running", command="llama-server …", base_url="http://127.0.0.1:8080")
FAILED = replace(
    LLAMACPP,
    phase="failed",
    problem="There is not enough memory. Choose a smaller context or a smaller model.",
    last_words="llama_kv_cache: size = 16384.00 MiB\nggml_aligned_malloc: failed to allocate\nexiting: model error\n",
)


class _Now:
    """Runs what never waits, at once."""

    def spawn(self, work: Coroutine[Any, Any, Any], **_more: Any) -> None:
        try:
            work.send(None)
        except StopIteration:
            return
        raise AssertionError("a sample waits for nothing")


class SampleStarts:
    """The service, without any process."""

    def __init__(self, *states: ServerState, file: str = "") -> None:
        self.states, self.file = states, file
        self.calls: list[tuple[Any, ...]] = []
        self.listeners: list[Callable[[], object]] = []
        self.wrote = "main: loading model\nmain: model loaded\nmain: server is listening on http://127.0.0.1:8080\n"

    def on_change(self, listener: Callable[[], object]) -> None:
        """Kept."""
        self.listeners.append(listener)

    def set(self, *states: ServerState) -> None:
        """Other states."""
        self.states = states
        for listener in self.listeners:
            listener()

    def choice(self, kind: StartKind) -> StartChoice:
        """The usual one."""
        return StartChoice(kind, self.file)

    async def look(self) -> None:
        """Remembered."""
        self.calls.append(("look",))

    async def describe(self, path: str) -> ModelFile:
        """The sample file."""
        return replace(FILE, path=path)

    async def plan(self, choice: StartChoice) -> StartPlan:
        """As the real one would."""
        if choice.kind == "ollama":
            return StartPlan(choice, ("/usr/local/bin/ollama", "serve"), {"OLLAMA_HOST": "127.0.0.1:11434"}, 11434)
        if not choice.file:
            raise KnownError("Choose the file of a model first: one that ends in .gguf.")
        where = ("--host", "127.0.0.1", "--port", "8081", "--jinja")
        argv = (PROGRAM, "--model", choice.file, "--ctx-size", str(choice.context), *where)
        note = "Another program has port 8080, so it gets port 8081."
        return StartPlan(choice, argv, {"LLAMA_ARG_OFFLINE": "1", "LLAMA_ARG_CORS_ORIGINS": "localhost"}, 8081, note)

    async def start(self, plan: StartPlan) -> None:
        """Remembered."""
        self.calls.append(("start", plan.command))

    async def stop(self, kind: StartKind) -> None:
        """Remembered."""
        self.calls.append(("stop", kind))

    async def log(self, kind: StartKind) -> str:
        """A few lines."""
        return self.wrote


def sample_starts(*states: ServerState, file: str = "") -> tuple[LocalStartsViewModel, SampleStarts]:
    """The view-model over a sample service, and that."""
    service = SampleStarts(*states, file=file)
    return LocalStartsViewModel(service, cast(Any, _Now())), service
