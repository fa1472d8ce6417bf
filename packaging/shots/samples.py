"""Sample data for the pictures of ``dev.py shots``: stand-ins with the view-models' signals. Never in the app."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from PySide6.QtCore import QObject, Signal

from desktop.domain.approval.judgement import Category, Judgement
from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.approval.reach import ProofLine
from desktop.domain.keyring import KeyPlace
from desktop.domain.model_settings import ModelTraits
from desktop.domain.models import Connection, LocalServer, ModelInfo, ModelRef, ProviderInfo
from desktop.domain.safety import Access, ConfinementReport, EntryFacts, PathVerdict
from desktop.presenter.settings.page import RISKS, SettingSpec, SettingsViewModel
from desktop.presenter.shell.window import PaletteRow, ShellViewModel
from desktop.presenter.transcript.last_answer import LastAnswer
from shots.approvals_activity import sample_activity

HOME = "/home/ida/work/harbour-sensors"
TITLES = {
    "t1": "Gaps in the March tide data",
    "t2": "Tide gauges: March clean-up",
    "t3": "Why does the nightly job double rows?",
}
BEFORE = (
    """# Nightly job

The job starts at 02:00 and appends every new row to `levels`.

## When it fails

Run it again by hand.
The log is in `logs/nightly.log`, one file a week.
"""
    + "\n".join(f"Step {n}: look at the log." for n in range(1, 31))
    + """
## Checking by hand

Count the rows of one day.
"""
)
_CHANGES = (
    ("02:00 and appends every new row to `levels`.", "02:10 and merges new rows into `levels` by station and time."),
    (
        "by hand.\nThe",
        "by hand: a second run no longer doubles rows, because the\nmerge replaces a row that is already there.\nThe",
    ),
    (
        "by hand\n\nCount",
        "by hand\n\n    select station, time, count(*) from levels\n    group by 1, 2 having count(*) > 1;\n\nCount",
    ),
)
AFTER = BEFORE
for _old, _new in _CHANGES:
    AFTER = AFTER.replace(_old, _new)
COMMAND = """cd ~/work/harbour-sensors && git fetch origin &&
python scripts/clean.py data/gauge-07/*.csv > out/clean.csv;
curl -s https://api.tides.example/stations.json | jq '.stations | length'
&& find out -name '*.tmp' -delete"""


def write_request() -> PermissionRequest:
    """A write of a file that exists."""
    return PermissionRequest(
        request_id="r3",
        run_id="run3",
        thread_id="t3",
        call_id="c3",
        tool="write-file",
        description="Write a text file, replacing what is there",
        category=Category.WRITE,
        raised_because="",
        chain=("Writer", "nightly-runbook"),
        arguments={"path": "docs/runbook/nightly.md", "content": AFTER},
        paths=(f"{HOME}/docs/runbook/nightly.md",),
        judgements=(),
        preview={"kind": "diff", "path": "docs/runbook/nightly.md", "before": BEFORE, "after": AFTER, "new": False},
        digest="d3",
        asked_at=time.time() - 9,
    )


def changed_request() -> PermissionRequest:
    """The same write once more, because the file has changed."""
    before = BEFORE.replace("Count", "Somebody added this line.\n\nCount", 1)
    preview = {**write_request().preview, "before": before}
    return replace(write_request(), request_id="r9", digest="d9", stale=True, preview=preview)


UNREPEATABLE = "It cannot be made again: There is no tool named 'write-file'."


def unknown_request(unrepeatable: str = "") -> PermissionRequest:
    """The same write, which had begun when Assent ended."""
    unknown = "This had begun when Assent ended, and nobody knows whether it was done."
    return replace(write_request(), request_id="r9", digest="d9", unknown=unknown, unrepeatable=unrepeatable)


def new_file_request() -> PermissionRequest:
    """A write of a new file."""
    text = "time,level_m,flag\n" + "\n".join(f"2026-03-{d:02d}T00:00Z,{1 + d / 10:.2f},ok" for d in range(1, 29)) + "\n"
    return PermissionRequest(
        request_id="r1",
        run_id="run1",
        thread_id="t1",
        call_id="c1",
        tool="write-file",
        description="Write a text file",
        category=Category.WRITE,
        raised_because="",
        chain=("Workbench",),
        arguments={"path": "data/gauge-07/2026-03.clean.csv", "content": text},
        paths=(f"{HOME}/data/gauge-07/2026-03.clean.csv",),
        judgements=(),
        preview={"kind": "diff", "path": "2026-03.clean.csv", "before": "", "after": text, "new": True},
        digest="d1",
        asked_at=time.time() - 134,
    )


def shell_request() -> PermissionRequest:
    """A shell command of several parts, raised to admin."""
    parts = (
        Judgement("cd ~/work/harbour-sensors", "reads", "", (), "changes the folder, inside the boundary"),
        Judgement("git fetch origin", "network", "&&", ("github.com", ".git/"), ""),
        Judgement(
            "python scripts/clean.py data/gauge-07/*.csv > out/clean.csv",
            "unknown",
            "&&",
            ("out/clean.csv",),
            "runs a program; the file exists, 238 KB",
        ),
        Judgement("curl -s https://api.tides.example/stations.json", "network", ";", ("api.tides.example",), ""),
        Judgement("jq '.stations | length'", "reads", "|", (), "only what comes through the pipe"),
        Judgement("find out -name '*.tmp' -delete", "deletes", "&&", (), "find -delete removes everything it finds"),
    )
    return PermissionRequest(
        request_id="r2",
        run_id="run1",
        thread_id="t2",
        call_id="c2",
        tool="bash",
        description="Run a shell command",
        category=Category.ADMIN,
        raised_because="it replaces a file that exists, and it deletes",
        chain=("Workbench", "march-cleanup"),
        arguments={"command": COMMAND, "timeout_s": 120},
        paths=(),
        judgements=parts,
        preview={
            "kind": "command",
            "command": COMMAND,
            "cwd": HOME,
            "confinement": "Confined by Landlock: writes only below ~/work/harbour-sensors and /tmp/agent. "
            "Network is not confined on this machine.",
        },
        digest="d2",
        asked_at=time.time() - 48,
    )


CONNECTIONS = (
    Connection("mistral", "mistral", "Mistral", "", "connection/mistral"),
    Connection("lab", "openai_compatible", "Lab server", "http://lab.example:8000/v1"),
)
"""What is connected on the page of models."""


THINKS = ModelTraits({}, ("low", "medium", "high"))
LISTED = (
    ModelInfo(
        ModelRef("mistral", "mistral-large"), "mistral-large", 131_072, None, 2, 6, None, True, True, takes=THINKS
    ),
    ModelInfo(ModelRef("mistral", "mistral-small"), "mistral-small", 131_072, None, 0.1, 0.3, None, True, True),
    ModelInfo(ModelRef("work", "claude-sonnet"), "claude-sonnet", 200_000, None, 3, 15, None, True, True, takes=THINKS),
)
"""Models of what is connected."""


class SampleApprovals(QObject):
    """Answers close the request; nothing runs."""

    changed = Signal()
    asked = Signal(object)
    closed = Signal(str)
    refused = Signal(str)

    def __init__(self, requests: tuple[PermissionRequest, ...] = ()) -> None:
        super().__init__()
        self.requests = requests
        self.titles: Mapping[str, str] = {}
        self.grants: Any = None
        self.activity = sample_activity(parent=self)
        self.last_answer = LastAnswer(self)
        self.given: list[tuple[str, str, dict[str, Any]]] = []
        self.denied_runs: list[str] = []

    @property
    def pending_count(self) -> int:
        """How many wait."""
        return len(self.requests)

    def request(self, request_id: str) -> PermissionRequest | None:
        """One that waits."""
        return next((request for request in self.requests if request.request_id == request_id), None)

    def put(self, *requests: PermissionRequest) -> None:
        """Let these wait instead."""
        self.requests = requests
        self.changed.emit()

    def answer(self, request_id: str, choice: str, **more: Any) -> None:
        """Remember the answer and close."""
        self.given.append((request_id, choice, more))
        self.put(*(r for r in self.requests if r.request_id != request_id))

    def voided(self, request: PermissionRequest) -> PermissionRequest | None:
        """What was allowed before the file changed: the usual write."""
        return write_request() if request.stale else None

    def deny_all(self, run_id: str) -> None:
        """Close all of a run."""
        self.denied_runs.append(run_id)
        self.put(*(r for r in self.requests if r.run_id != run_id))


def _model(connection: str, name: str, context: int | None, size: int | None = None) -> ModelInfo:
    free = (0.0, 0.0)
    return ModelInfo(ModelRef(connection, name), name, context, None, *free, size, tools=True, locality="local")


OLLAMA = LocalServer(
    "ollama",
    "Ollama",
    "http://127.0.0.1:11434",
    True,
    (
        _model("ollama", "qwen3:30b", 32_768, 18_000_000_000),
        _model("ollama", "mistral-small:24b", 32_768, 14_000_000_000),
        _model("ollama", "gemma3:12b", 8192, 8_000_000_000),
    ),
)
ABSENT = (
    LocalServer("lmstudio", "LM Studio", "http://127.0.0.1:1234", False),
    LocalServer("llamacpp", "llama.cpp", "http://127.0.0.1:8080", False),
    LocalServer("vllm", "vLLM", "http://127.0.0.1:8000", False),
)
LM_STUDIO = LocalServer(
    "lmstudio",
    "LM Studio",
    "http://127.0.0.1:1234",
    True,
    tuple(_model("lmstudio", f"a-model-with-a-rather-long-name-{n}-instruct-q4_k_m", None) for n in range(8)),
)
PROVIDERS = (
    ProviderInfo("mistral", "Mistral", ("key",), "console.mistral.ai/api-keys"),
    ProviderInfo("openai", "OpenAI", ("key",), "platform.openai.com/api-keys"),
    ProviderInfo("azure", "Azure OpenAI", ("key", "base_url", "api_version", "deployment"), "portal.azure.com"),
    ProviderInfo("openai_compatible", "Other server that speaks OpenAI's format", ("base_url", "key?")),
    ProviderInfo("ollama", "Ollama", ("base_url",), locality="local"),
)


class SampleSetup(QObject):
    """A machine with Ollama, and a provider that does not know the key."""

    changed = Signal()
    tested = Signal(str, bool, str)
    chosen = Signal(str)
    keys_moved = Signal()
    keyring_waiting = False
    instead_of_demo: ModelInfo | None = None

    wrong_field = ""

    def place(self, connection_id: str) -> str:
        """The name of a connection."""
        named: dict[str, str] = {s.kind: f"{s.title} on this machine" for s in self.servers}
        return next((c.title for c in self.connections if c.connection_id == connection_id), "") or named.get(
            connection_id, connection_id
        )

    def __init__(self, servers: tuple[LocalServer, ...] = (OLLAMA, *ABSENT)) -> None:
        super().__init__()
        self.servers = servers
        self.looking = False
        self.testing = False
        self.connections: tuple[Connection, ...] = ()
        self.providers: tuple[ProviderInfo, ...] = PROVIDERS
        self.keyring_note = ""
        self.look_for_keyring = lambda: None
        self.default_model = "ollama/qwen3:30b"
        self.fallbacks: tuple[str, ...] = ()
        self.more: tuple[ModelInfo, ...] = ()
        self.calls: list[tuple[Any, ...]] = []

    @property
    def models(self) -> tuple[ModelInfo, ...]:
        """Of what is connected, and of all servers."""
        return (*self.more, *(model for server in self.servers for model in server.models))

    def model(self, ref: str) -> ModelInfo | None:
        """One of them."""
        return next((model for model in self.models if str(model.ref) == ref), None)

    def describe(self, ref: str) -> tuple[str, int | None]:
        """Its name and window."""
        model = self.model(ref)
        return (model.title, model.context_window) if model is not None else (ref.partition("/")[2] or ref, None)

    def traits(self, ref: str) -> ModelTraits:
        """What it takes."""
        model = self.model(ref)
        return model.takes if model is not None else ModelTraits()

    def correction(self, ref: str) -> ModelTraits:
        """Nothing is known better."""
        return ModelTraits()

    def correct(self, ref: str, known: ModelTraits) -> str:
        """Remembered."""
        self.calls.append(("correct", ref, known))
        return ""

    @property
    def can_stand_in(self) -> tuple[ModelInfo, ...]:
        """All of them."""
        return self.models

    def set_fallbacks(self, refs: Sequence[str]) -> None:
        """Taken."""
        self.set(fallbacks=tuple(refs))

    def key_place(self, connection: Connection) -> KeyPlace:
        """As the keyring is."""
        return "session" if self.keyring_note else "kept"

    def found(self, connection_id: str) -> str:
        """Of what is connected."""
        return "13 models" if connection_id == "mistral" else ""

    def problem(self, connection_id: str) -> str:
        """Of the lab's server."""
        return "The server at lab.example does not answer. Is it switched on?" if connection_id == "lab" else ""

    def set(self, **values: Any) -> None:
        """Change what is shown."""
        for name, value in values.items():
            setattr(self, name, value)
        self.changed.emit()

    def look(self) -> None:
        """Remembered."""
        self.calls.append(("look",))

    def test_and_keep(self, provider: str, fields: Mapping[str, str]) -> None:
        """Remembered."""
        self.calls.append(("test_and_keep", provider, dict(fields)))

    def info(self, connection: Connection) -> ProviderInfo:
        """Of the known kinds, or one with a key."""
        known = (info for info in self.providers if info.provider == connection.provider)
        return next(known, ProviderInfo(connection.provider, connection.provider))

    def replace_key(self, connection_id: str, secrets: Mapping[str, str]) -> None:
        """Remembered."""
        self.calls.append(("replace_key", connection_id, dict(secrets)))

    def edit_connection(self, connection_id: str, fields: Mapping[str, str]) -> None:
        """Remembered."""
        self.calls.append(("edit_connection", connection_id, dict(fields)))

    def test_connection(self, connection_id: str) -> None:
        """Remembered."""
        self.calls.append(("test_connection", connection_id))

    def delete_connection(self, connection_id: str) -> None:
        """Remembered."""
        self.calls.append(("delete_connection", connection_id))

    def cancel_test(self) -> None:
        """Remembered."""
        self.calls.append(("cancel_test",))

    def use(self, ref: str) -> None:
        """Remembered."""
        self.calls.append(("use", ref))

    def start_demo(self) -> None:
        """Remembered."""
        self.calls.append(("start_demo",))


class SampleBoundaries(QObject):
    """Two folders, one of them a link; answers come at once."""

    described = Signal(str, object)
    considered = Signal(str, object)
    judged = Signal(str, object, object, str)
    commands: tuple[bool, bool] | None = (False, False)

    def describe(self, key: str, entries: Sequence[str]) -> None:
        """As if looked at."""
        self.described.emit(key, tuple(self._facts(key, entry) for entry in entries))

    def consider(self, key: str, entry: str) -> None:
        """As if looked at."""
        self.considered.emit(key, self._facts(key, entry))

    def judge(self, path: str) -> None:
        """The home is read, the rest is outside."""
        inside = path.startswith(("~", "/tmp"))
        rule, words = ("allowed ~/.agent/workspace", f"{path} is inside the allowed folder ~/.agent/workspace.")
        if not inside:
            rule, words = "outside", f"Permission denied: {path} is outside the allowed folders (~/.agent/workspace)."
        if "/keys/" in path:
            inside, rule, words = False, "denied ~/.ssh", f"Permission denied: {path} is inside the denied path ~/.ssh."
        link = "keys" if "/keys/" in path else ""
        leads = "/home/ida/.ssh/config" if link else path.replace("~", "/home/ida")
        self.judged.emit(path, *(PathVerdict(inside, path, leads, rule, words, a) for a in (READ, WRITE)), link)

    @staticmethod
    def _facts(key: str, entry: str) -> EntryFacts:
        leads = entry.replace("~", "/home/ida")
        if key == "security.denied_paths":
            missing = entry not in ("~/.ssh", "/etc/passwd", "/etc/shadow")
            removing = f"{entry} holds keys. Commands could then read it."
            return EntryFacts(entry, leads, (), missing, removing=removing, marks=(MISSING,) if missing else ())
        if entry in ("/", "~"):
            opens = f"{entry} is the whole computer. Agents could read everything in it without asking."
            return EntryFacts(entry, leads, ("is the whole computer",), adding=opens, marks=(WHOLE,))
        if entry.endswith("harbour-sensors"):
            return EntryFacts(entry, leads, (f"holds {entry}/secrets, which stays denied",), marks=(HOLDS,))
        if entry == "~/data":
            words = ("is a link, or lies behind one", "holds ~/.ssh, which stays denied")
            return EntryFacts(entry, "/mnt/disk/data", words, marks=(HOLDS, A_LINK))
        return EntryFacts(entry, leads)


MISSING, WHOLE = ("", "missing"), ("warning", "the whole computer")
HOLDS, A_LINK = ("warning", "holds a denied child"), ("info", "a link")
READ, WRITE = Access.READ, Access.WRITE
CONFINED = ConfinementReport(
    "landlock",
    "Confined by Landlock: commands write only in allowed folders and cannot open the denied ones.",
    ("writes outside the allowed folders",),
    ("folders that hold a denied path cannot be listed", "they see other processes by name"),
)


OPEN = ConfinementReport(
    "none",
    "Not confined: nothing on this computer holds commands in the allowed folders; they can do what you can. "
    "Installing bubblewrap would change that.",
    (),
    ("the network", "denied paths"),
)
ALARM = (
    ProofLine(
        "command",
        "read",
        "opened",
        "opened",
        "bug",
        "The boundary refuses it, and yet it was opened. This is a mistake of Assent: please report it.",
    ),
    ProofLine("command", "write", "refused", "refused by the kernel (EACCES)"),
    ProofLine("file tool", "read", "refused", "refused by Assent"),
    ProofLine("file tool", "write", "refused", "refused by Assent"),
)


class SampleSettings(QObject):
    """The real schema over a dictionary."""

    changed = Signal(str)
    problems_changed = Signal()
    refused = Signal(str, str)
    path = "~/.agent/config.yaml"

    def __init__(self) -> None:
        super().__init__()
        self.problems: tuple[str, ...] = ()
        self._values: dict[str, Any] = {}
        self.calls: list[tuple[Any, ...]] = []

    def schema(self) -> tuple[SettingSpec, ...]:
        """As in the app."""
        return SettingsViewModel.schema(cast(Any, self))

    def default(self, key: str) -> Any:
        """With the home filled in."""
        value = next(spec.default for spec in self.schema() if spec.key == key)
        if isinstance(value, tuple):
            return tuple(v.replace("{home}", "~/.agent") if isinstance(v, str) else v for v in value)
        return value

    def get(self, key: str) -> Any:
        """What is in force."""
        return self._values.get(key, self.default(key))

    def set(self, key: str, value: Any) -> None:
        """Keep and tell."""
        self.calls.append(("set", key, value))
        self._values[key] = value
        self.changed.emit(key)

    def warning(self, key: str) -> str:
        """Of a flag that opens something."""
        return RISKS.get(key, "") if self.get(key) is True else ""

    def reset(self, key: str) -> None:
        """Forget and tell."""
        self.calls.append(("reset", key))
        self._values.pop(key, None)
        self.changed.emit(key)


def sample_shell() -> ShellViewModel:
    """The real one, keeping nothing."""
    shell = ShellViewModel(lambda _key, _value: None)
    shell.add_source(
        lambda: (
            PaletteRow("thread:t1", "Gaps in the March tide data", "today", "Chats", "chats"),
            PaletteRow("thread:t2", "Tide gauges: March clean-up", "pinned", "Chats", "chats"),
            PaletteRow("skill:gauge-plot", "gauge-plot", "Plots gauges over time", "Skills", "skills", mono=True),
            PaletteRow("agent:gauge", "New chat with Gauge watch", "gauge_watch_agent", "Agents and settings", "agent"),
        )
    )
    return shell


class SampleGrants(QObject):
    """Folders opened for this session."""

    changed = Signal()
    opened = Signal(str)
    refused = Signal(str)

    def __init__(self, *folders: str) -> None:
        super().__init__()
        self.folders = folders

    def open(self, folder: str) -> None:
        """Open and tell."""
        self.folders = (*self.folders, folder)
        self.changed.emit()
        self.opened.emit(folder)

    def close(self, folder: str) -> None:
        """Close and tell."""
        self.folders = tuple(one for one in self.folders if one != folder)
        self.changed.emit()
