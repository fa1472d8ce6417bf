"""What the model has to know of a call that a person changed: it would take what came of it for what it asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from desktop.pipeline.context import CallContext, changed
from desktop.pipeline.validation import as_json

MAX_EDIT_SHOWN = 2000


def edit_note(call: CallContext, mask: Callable[[Any], Any] = lambda value: value) -> str:
    """What the model has to know of a call that a person changed and allowed, or "". ``mask`` takes known secrets out
    of what they wrote, before anything is cut (R-SEC-5)."""
    allowed = call.decision is not None and (call.decision.allowed or bool(call.question))
    if not allowed or not call.edited:
        return ""
    return changed_note(call.original, {**call.shown, **mask(call.changes)})


def changed_note(asked: Mapping[str, Any] | None, made: Mapping[str, Any]) -> str:
    """What a person made of a call's arguments. What the model asked for it knows itself."""
    changes = {key: shown_value(value) for key, value in changed(asked, made).items()}
    gone = [key for key in asked or {} if key not in made]
    without = f", without {', '.join(gone)}" if gone else ""
    return f"[The person changed the arguments before allowing this call to: {as_json(changes)}{without}]\n"


def shown_value(value: Any) -> Any:
    """A long text by its beginning and its length."""
    if isinstance(value, str) and len(value) > MAX_EDIT_SHOWN:
        return f"{value[:MAX_EDIT_SHOWN]}… ({len(value)} characters)"
    return value
