"""Folders that are closed to every tool, of which a tool of tools.yaml names one that it needs (D-4)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal, Protocol

from desktop.domain.loading.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Opening:
    """What an entry of ``reads`` comes to now: it ``opens`` the path ``resolved`` for reading, opens ``nothing``, or is
    ``refused``. ``sentence`` says why it does not open, as half a sentence."""

    text: str
    resolved: str
    comes_to: Literal["opens", "nothing", "refused"]
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Consent:
    """A person's consent that a tool reads these resolved paths. ``version`` is the digest of the tool's definition: a
    changed definition needs a new consent."""

    tool: str
    version: str
    paths: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """What a person agrees to, as half a sentence."""
        are = "which is" if len(self.paths) == 1 else "which are"
        return f"reads {', '.join(self.paths)}, {are} closed to every other tool"


class ClosedPlaces(Protocol):
    """What is closed, and who agreed that a tool reads there."""

    def judge(self, entry: str) -> Opening:
        """What an entry of ``reads`` comes to at this moment. Blocks for some system calls; never raises."""
        ...

    def agreed(self, consent: Consent) -> bool:
        """Whether a person agreed to all that a consent opens."""
        ...

    def known(self, tool: str, version: str) -> tuple[str, ...]:
        """The paths to which a person agreed for this definition; cheap."""
        ...

    def on_change(self, listener: Callable[[], None]) -> None:
        """Called after each change."""
        ...

    def agree(self, consent: Consent) -> Awaitable[None]:
        """A person was asked and agreed; it holds once it is on the disk."""
        ...

    def take_back(self, tool: str) -> Awaitable[None]:
        """The tool reads nothing closed any more; its next call asks again."""
        ...
