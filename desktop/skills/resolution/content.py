"""What is in a skill's file, read when it is used; of pinned skills only what the person has seen."""

from __future__ import annotations

from desktop.domain.errors import KnownError, NotFound
from desktop.domain.skills import SkillDef
from desktop.skills.formats import load_from_bytes, read_body
from desktop.skills.formats.loader import decode, read_bytes
from desktop.skills.formats.problems import FormatError
from desktop.skills.resolution.folders import owner_of
from desktop.skills.resolution.globals import Globals
from desktop.skills.resolution.pins import Pins


def body(globals: Globals, definition: SkillDef) -> str:
    """The body as it is in the file now: a markdown skill's prompt, all of a code skill's file. Blocks.

    Raises KnownError when the file has gone, when anything but the body is different from the definition, or when the
    skill is pinned and its file is not what the person has seen (``skills.changed``)."""
    if not definition.path:
        raise NotFound(f"{definition.name} is not in a file.")
    root, path = owner_of(globals, definition.path)
    if globals.pins is None or not root.pinned:
        return read_body(definition)
    data, stamp = _seen(globals.pins, definition, path)
    loaded = load_from_bytes(data, path, source=root.source, root=root.path, stamp=stamp)
    now = next((one for one in loaded.definitions if one.name == definition.name), None)
    if now is None or now.state == "broken":
        raise NotFound(f"{path} no longer holds the skill {definition.name}.", next_step="Reload the skills.")
    text = decode(data)
    return text if now.body_at < 0 else text[now.body_at : now.body_end if now.body_end >= 0 else None]


def _seen(pins: Pins, definition: SkillDef, path: str) -> tuple[bytes, str]:
    """The bytes and the stamp of a pinned file, if they are those that were seen."""
    try:
        data, stamp = read_bytes(path)
    except FormatError as error:
        raise NotFound(f"{definition.name}: {error}.", next_step="Reload the skills.") from error
    if not pins.allows(path, data):
        raise KnownError(
            f"{definition.name} has changed since you saw it.",
            next_step="Look at the difference on the Skills page.", code="skills.changed",
        )  # fmt: skip
    return data, stamp
