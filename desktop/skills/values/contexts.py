"""What a skill or middleware asks of its context (S-RES-1): whom it serves, folders, hooks.

The protocols say what these helpers need of a context; the pipeline's own class fits them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any, Protocol

from desktop.domain.errors import ConfigurationError
from desktop.skills.values.path_entries import PathEntry


class EnvelopeView(Protocol):
    """What ties a context to others. ``target`` is the context a middleware serves, otherwise the context itself."""

    @property
    def id(self) -> str: ...
    @property
    def target(self) -> Any: ...
    @property
    def parent(self) -> Any: ...


class ContextView(Protocol):
    """One call as a skill sees it (R-INV-7).

    ``locals`` are its own, ``nonlocals`` are copied into children, ``globals`` shared by all. In a hook ``trigger`` is
    ``$next`` or ``$invoke`` and ``wraps`` the name of what it wraps; elsewhere both are empty.
    """

    @property
    def envelope(self) -> EnvelopeView: ...
    @property
    def args(self) -> Mapping[str, Any]: ...
    @property
    def run(self) -> Any: ...
    @property
    def locals(self) -> MutableMapping[str, Any]: ...
    @property
    def nonlocals(self) -> MutableMapping[str, Any]: ...
    @property
    def globals(self) -> MutableMapping[str, Any]: ...
    @property
    def manager(self) -> Any: ...
    @property
    def trigger(self) -> str: ...
    @property
    def wraps(self) -> str: ...


def ctx_target(ctx: ContextView) -> Any:
    """The context that a middleware serves. Raises ConfigurationError in one that serves none (R-INV-6)."""
    target = ctx.envelope.target
    if target is ctx:
        raise ConfigurationError(
            "This skill was called on its own, but it is a middleware.",
            code="skill.not_middleware",
            next_step="Name it in the metadata of the skill it should serve.",
        )
    return target


def ctx_paths(ctx: ContextView) -> Sequence[PathEntry]:
    """The search path of this call, else the process's; () where neither says."""
    found = _configured(ctx, "paths")
    return () if found is None else found


def ctx_cwd(ctx: ContextView) -> str:
    """The working folder of this call, else the configured one, else the process's."""
    found = _configured(ctx, "cwd")
    return str(found) if found else os.getcwd()


def ctx_hook_trigger(ctx: ContextView) -> str | None:
    """What made this hook run, ``$next`` or ``$invoke``; None where no hook runs (R-INV-11)."""
    return ctx.trigger or None


def ctx_hook_target(ctx: ContextView) -> str | None:
    """The name of the real entry that this hook wraps; None where no hook runs (R-INV-11)."""
    return ctx.wraps or None


def _configured(ctx: ContextView, key: str) -> Any:
    """``locals["config"]``, then ``globals["config"]``: a mapping, or of the latter a record."""
    own = ctx.locals.get("config")
    found = own.get(key) if isinstance(own, Mapping) else None
    if found is not None:
        return found
    shared = ctx.globals.get("config")
    return shared.get(key) if isinstance(shared, Mapping) else getattr(shared, key, None)
