"""Model servers that are installed on this computer and can be started for a person: which, how, and how that goes."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from desktop.domain.loading.lazy_dataclass import dataclass

StartKind = Literal["llamacpp", "ollama"]
STARTABLE: tuple[StartKind, ...] = ("llamacpp", "ollama")
TITLES: Mapping[StartKind, str] = {"llamacpp": "llama.cpp", "ollama": "Ollama"}
PROGRAMS: Mapping[StartKind, str] = {"llamacpp": "llama-server", "ollama": "ollama"}
Phase = Literal["idle", "starting", "running", "ending", "failed"]

CONTEXTS = (4096, 8192, 16384, 32768, 65536, 131072)
USUAL_CONTEXT = 16384
"""Room for the tools and a few rounds, on a computer that has memory for a small model."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A GGUF file, as its own head describes it: nothing in it is proven."""

    path: str
    title: str
    size: int
    trained: int | None = None
    """The longest context that the model was trained for."""
    sees_with: str = ""
    """The file beside it that lets it see images, or ""."""


@dataclass(frozen=True, slots=True)
class StartChoice:
    """What a person chose for a server that is to be started."""

    kind: StartKind
    file: str = ""
    """The model's file; only for llama.cpp, for Ollama has its own."""
    context: int = USUAL_CONTEXT
    """In tokens. 0: what the server takes by itself."""
    leave_running: bool = False
    """It goes on when Assent ends."""
    with_app: bool = False
    """Each later start of Assent starts it, too."""
    sees_with: str = ""
    """The file in the command that lets the model see images, or ""."""


@dataclass(frozen=True, slots=True)
class StartPlan:
    """What would be run, exactly."""

    choice: StartChoice
    argv: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    """What is set for it beside what it gets of the environment."""
    port: int = 0
    note: str = ""
    """What a person should know of it, as that its usual port is taken."""

    @property
    def command(self) -> str:
        """As a person would type it."""
        named = [f"{name}={shlex.quote(value)}" for name, value in self.variables.items()]
        return " ".join((*named, shlex.join(self.argv)))

    @property
    def base_url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"


@dataclass(frozen=True, slots=True)
class ServerState:
    """How a server goes that was started from here."""

    kind: StartKind
    """Which server it is."""
    phase: Phase = "idle"
    """What it does now."""
    program: str = ""
    """Where its program is; "" where none was found."""
    command: str = ""
    """What runs, as it was shown."""
    base_url: str = ""
    """Where it answers."""
    problem: str = ""
    """Why it could not be started or ended by itself, with the next step."""
    last_words: str = ""
    """The end of what it wrote, where it failed."""
    leave_running: bool = False
    """Whether it goes on when the app ends."""
