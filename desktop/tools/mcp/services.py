"""What servers of mcp.yaml are made with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

from desktop.domain.files.documents import DocumentOpener
from desktop.domain.files.pictures import PictureOpener
from desktop.domain.keyring import KeyPlace
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.processes import Child
from desktop.domain.safety import Confinement, EnvironmentBuilder, PathPolicy, ProcessSpec, Redactor, SettingsProvider
from desktop.tools.mcp.pins import McpPins, McpPinStore

if TYPE_CHECKING:
    from desktop.tools.mcp.asking.questions import PersonQuestions
    from desktop.tools.mcp.offered import SchemaCheck
    from desktop.tools.mcp.questions import Spawn
    from desktop.tools.mcp.reading.answer import CheckValue

CACHE = "mcp-"
"""How the names of servers' caches begin."""


class SignInSecrets(Protocol):
    """Where what is kept of sign-ins lies: the system's keyring."""

    def lookup(self, service: str, user: str) -> Awaitable[str | None]:
        """The value. Raises SecretsUnavailable."""
        ...

    def keep(self, service: str, user: str, value: str) -> Awaitable[bool]:
        """Keep a value; False: for this session only."""
        ...

    def drop(self, service: str, user: str) -> Awaitable[None]:
        """Forget a value. Raises SecretsUnavailable."""
        ...

    def place(self, service: str, user: str) -> KeyPlace:
        """Where it lies."""
        ...


@dataclass(frozen=True, slots=True)
class McpServices:
    """What servers need of other rooms."""

    child: Child
    """The MCP host."""
    policy: PathPolicy
    """Judges paths."""
    confinement: Confinement
    """Confines the server."""
    environment: EnvironmentBuilder
    """Makes its environment."""
    settings: SettingsProvider
    """Reads the settings."""
    hold: Callable[[ProcessSpec], ProcessSpec]
    """Adds what ends a process with its parent where nothing else does."""
    check_schema: SchemaCheck
    """Checks the schemas of tools."""
    check_value: CheckValue
    """Checks structured results."""
    pins: McpPins
    """What a person has seen of tools."""
    spawn: Spawn
    """Starts an owned task."""
    redactor: Redactor
    """Takes secrets out of what servers say of themselves and their tools."""
    clean: Callable[[str], str]
    """Takes what steers a terminal, and turns text round, out of what they answer."""
    questions: PersonQuestions
    """Brings what a server asks to a person."""
    secrets: SignInSecrets
    """Keeps what is kept of sign-ins."""
    remember: Callable[[str], None]
    """From now on no text shows this value."""
    notes: McpPinStore
    """Keeps to whom a person is signed in, without any secret."""
    elicitation: tuple[str, ...] = ("form", "url")
    """The kinds of questions that servers may ask a person."""
    first_pause_s: float = 1.0
    """Seconds before a second start, doubled for each one after."""
    documents: DocumentOpener | None = None
    """Reads what servers give as documents; None: they are named alone."""
    pictures: PictureOpener | None = None
    """Opens what servers give as pictures; None: a person sees none."""
    idle_s: float = 90.0
    """How long after the start leftovers are looked for, in seconds."""
