"""What a skill or middleware asks of its context (semantics.md 6, S-RES-1): whom it serves, folders, its place.

The protocols here say what these helpers need of a context; the pipeline's own class fits them. Where the running
middleware stands is in its own ``locals["internals"]``: ``chain``, the entries of the served call from the outermost,
and ``position``, the index of the one that is running.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any, Protocol

from desktop.domain.errors import ConfigurationError
from desktop.skills.values.path_entries import PathEntry


class ChainEntry(Protocol):
    """One middleware of a chain. ``trigger`` is ``$next`` or ``$invoke`` for a hook, and None for a real entry."""

    @property
    def name(self) -> str: ...
    @property
    def trigger(self) -> str | None: ...


class Envelope(Protocol):
    """What ties a context to others. ``target`` is the context a middleware serves, otherwise the context itself."""

    @property
    def id(self) -> str: ...
    @property
    def target(self) -> Any: ...
    @property
    def parent(self) -> Any: ...


class Globals(Protocol):
    """What all contexts of the process share."""

    @property
    def config(self) -> Mapping[str, Any]: ...


class Context(Protocol):
    """One call as a skill sees it (R-INV-7): ``locals`` are its own, ``nonlocals`` copied into children."""

    @property
    def envelope(self) -> Any: ...
    @property
    def args(self) -> Mapping[str, Any]: ...
    @property
    def run(self) -> Any: ...
    @property
    def locals(self) -> MutableMapping[str, Any]: ...
    @property
    def nonlocals(self) -> MutableMapping[str, Any]: ...
    @property
    def globals(self) -> Any: ...
    @property
    def manager(self) -> Any: ...


def ctx_target(ctx: Context) -> Any:
    """The context that a middleware serves. Raises ConfigurationError in one that serves none (R-INV-6)."""
    target = ctx.envelope.target
    if target is ctx:
        raise ConfigurationError(
            "This skill was called on its own, but it is a middleware.",
            code="context.not_middleware",
            next_step="Name it in the metadata of the skill it should serve.",
        )
    return target


def ctx_paths(ctx: Context) -> Sequence[PathEntry]:
    """The search path of this call, else the process's; () where neither says."""
    found = _configured(ctx, "paths")
    return () if found is None else found


def ctx_cwd(ctx: Context) -> str:
    """The working folder of this call, else the configured one, else the process's."""
    found = _configured(ctx, "cwd")
    return os.getcwd() if found is None else str(found)


def ctx_hook_trigger(ctx: Context) -> str | None:
    """What made this hook run, ``$next`` or ``$invoke``; None in a middleware that is no hook (R-INV-11)."""
    chain, position = _place(ctx)
    return chain[position].trigger if 0 <= position < len(chain) else None


def ctx_hook_target(ctx: Context) -> str | None:
    """The name of the real entry that follows: the one a ``$next`` hook wraps. None where there is none (R-INV-11)."""
    chain, position = _place(ctx)
    return next((entry.name for entry in chain[position + 1 :] if entry.trigger is None), None)


def _configured(ctx: Context, key: str) -> Any:
    own = ctx.locals.get("config")
    found = own.get(key) if isinstance(own, Mapping) else None
    return ctx.globals.config.get(key) if found is None else found


def _place(ctx: Context) -> tuple[Sequence[ChainEntry], int]:
    internals = ctx.locals.get("internals")
    if not isinstance(internals, Mapping) or not isinstance(internals.get("position"), int):
        return (), -1
    return internals.get("chain", ()), internals["position"]
