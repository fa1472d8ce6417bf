"""What is in a skill's file, read when it is used; of pinned skills only what the person has seen."""

from __future__ import annotations

import os

from desktop.domain.errors import KnownError, NotFound
from desktop.domain.skills import SkillDef
from desktop.domain.text.places import FormatError
from desktop.skills.catalogue.pins import Pins
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.catalogue.scan import FOLDER_FILES
from desktop.skills.formats import load_from_bytes, read_body
from desktop.skills.formats.loader import decode, read_bytes
from desktop.skills.resolution.folders import owner_of
from desktop.skills.resolution.globals import Globals

MAX_BESIDE = 200_000
"""Bytes of a file beside a skill that are read into it."""


def body(globals: Globals, definition: SkillDef) -> str:
    """The body as it is in the file now: a markdown skill's prompt, all of a code skill's file. Blocks.

    Raises KnownError when the file has gone, when anything but the body is different from the definition, or when the
    skill is pinned and its file is not what the person has seen (``skills.changed``)."""
    if definition.text:
        return definition.text
    if not definition.path:
        raise NotFound(f"{definition.name} is not in a file.")
    root, path = _owner_of(globals, definition)
    if globals.pins is None or not root.pinned:
        return read_body(definition)
    data, stamp = _seen(globals.pins, definition, path)
    loaded = load_from_bytes(data, path, source=root.source, root=root.path, stamp=stamp)
    now = next((one for one in loaded.definitions if one.name == definition.name), None)
    if now is None or now.state == "broken":
        raise NotFound(f"{path} no longer holds the skill {definition.name}.", next_step="Reload the skills.")
    text = decode(data)
    return text if now.body_at < 0 else text[now.body_at : now.body_end if now.body_end >= 0 else None]


def _owner_of(globals: Globals, definition: SkillDef) -> tuple[SearchRoot, str]:
    """The root that owns a skill, and the path under which its content was seen: for a link to a file that is no skill
    by itself, the link's."""
    root, path = owner_of(globals, definition.path)
    pins = globals.pins
    by_link = pins is not None and not pins.knows(path) and pins.knows(definition.path)
    return root, definition.path if by_link else path


def _seen(pins: Pins, definition: SkillDef, path: str) -> tuple[bytes, str]:
    """The bytes and the stamp of a pinned file, if they are those that were seen."""
    try:
        data, stamp = read_bytes(path)
    except FormatError as error:
        raise NotFound(f"{definition.name}: {error}.", next_step="Reload the skills.") from error
    if not pins.allows(path, data):
        raise _unseen(f"{definition.name} has changed since you saw it.")
    return data, stamp


def _unseen(message: str) -> KnownError:
    return KnownError(message, next_step="Look at the difference on the Skills page.", code="skills.changed")


def beside(globals: Globals, definition: SkillDef, rel: str, maximum: int = MAX_BESIDE) -> bytes:
    """A regular file of the skill's own folder, named from there; of a pinned skill only as the person has seen it.

    Blocks. Raises NotFound ``skills.not_beside`` for what does not belong to the skill, be it that the skill is a file
    without a folder of its own, that the path leads out, or that nothing readable is there; KnownError
    ``skills.changed`` for what has not been seen, ``skills.too_large`` beyond ``maximum`` bytes."""
    if not definition.path or os.path.basename(definition.path) not in FOLDER_FILES:
        raise NotFound(f"{definition.name} has no folder of its own.", code="skills.not_beside")
    root, path = _owner_of(globals, definition)
    folder = os.path.realpath(os.path.dirname(definition.path))
    real = os.path.realpath(os.path.join(folder, rel)) if "\0" not in rel else ""
    if not root.trusted or not real.startswith(folder.rstrip(os.sep) + os.sep):
        raise NotFound(f"{rel[:200]} is not in the folder of {definition.name}.", code="skills.not_beside")
    try:
        data, _ = read_bytes(real)
    except FormatError as error:
        raise NotFound(f"{rel[:200]}: {error}.", code="skills.not_beside") from error
    if len(data) > maximum:
        raise KnownError(f"{rel[:200]} has more than {maximum:,} bytes.", code="skills.too_large")
    name = os.path.relpath(real, folder).replace(os.sep, "/")
    if root.pinned and globals.pins is not None and not globals.pins.allows_beside(path, name, data):
        raise _unseen(f"{rel[:200]} of {definition.name} is not as you saw it.")
    return data
