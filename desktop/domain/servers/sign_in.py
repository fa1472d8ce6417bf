"""How a person's sign-in to an MCP server stands. Nothing of it is secret: tokens are in the keyring alone."""

from __future__ import annotations

from typing import Literal

from desktop.domain.loading.lazy_dataclass import dataclass

Stage = Literal["none", "wanted", "looking", "asks", "waiting", "in", "refused"]
"""``none``: nobody asked for one; ``wanted``: it is asked for, and who asks is not known yet; ``asks``: a person may
choose; ``waiting`` for the browser; ``in``; ``refused``: what came of it says ``problem``."""


@dataclass(frozen=True, slots=True)
class SignInScope:
    """One thing that a sign-in may allow, by the server's name for it. ``words``: what that means, or ""."""

    name: str
    words: str = ""
    needed: bool = False
    """Whether the server asks for it by itself."""
    new: bool = False
    """Whether it comes on top of what was granted before."""


@dataclass(frozen=True, slots=True)
class SignInFacts:
    """How it stands, for the page. Nothing in it is secret."""

    stage: Stage = "none"
    """Where it is."""
    host: str = ""
    """Who asks the person in the browser."""
    name: str = ""
    """What the server calls itself there."""
    scopes: tuple[SignInScope, ...] = ()
    """What may be chosen."""
    address: str = ""
    """For the browser, while it is waited for."""
    until: float = 0.0
    """When the waiting ends, or the token does; seconds since the epoch, 0: not known."""
    since: float = 0.0
    """When the person signed in."""
    renewed: float = 0.0
    """When the token was last renewed; 0: never."""
    renews: bool = False
    """Whether it renews by itself."""
    granted: tuple[str, ...] = ()
    """What was allowed."""
    left_out: tuple[str, ...] = ()
    """What was asked for and is not allowed."""
    again: bool = False
    """Whether there was a sign-in, and it is over."""
    problem: str = ""
    """What went wrong, in sentences."""
    session_only: bool = False
    """Whether it is forgotten when Assent ends, or would be, because no keyring takes it."""
    can_revoke: bool = False
    """Whether the sign-in server takes it back."""
