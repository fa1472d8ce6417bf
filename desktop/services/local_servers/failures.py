"""Why a model server ended by itself, as far as its last words tell, and what a person can do."""

from __future__ import annotations

import re

from desktop.domain.servers.starting import PROGRAMS, StartKind
from desktop.systems import processes

KILLED, NOT_FOUND, NOT_CONFINED = processes.KILL, 127, 126

_KNOWN = (
    (
        r"address already in use|couldn't bind|only one usage of each socket",
        "Another program took its port meanwhile. Start it again: it gets another one.",
    ),
    (
        r"unknown model architecture|unknown (pre-)?tokenizer|unsupported (gguf )?version",
        "This {program} is too old for the model. Update it, or choose another file.",
    ),
    (
        r"out of memory|failed to allocate|unable to allocate|cannot allocate memory|bad_alloc|failed to fit",
        "There is not enough memory. Choose a smaller context or a smaller model.",
    ),
    (
        r"error: (invalid|unknown) argument|unknown (flag|command)|unrecognized",
        "This {program} does not know an argument that it was given. Update it.",
    ),
    (
        r"failed to (load|open) model|error loading model|failed to open gguf|invalid magic",
        "It cannot load the model's file. The file may be cut off or damaged: copy it again, or choose another.",
    ),
    (
        r"error while loading shared libraries|cannot open shared object",
        "The program lacks a library of its own. Install it again.",
    ),
)


def failure(kind: StartKind, code: int, said: str) -> str:
    """What happened and the next step. ``code``: its exit code, where the launcher stands in front 128 + signal."""
    program = PROGRAMS[kind]
    for pattern, words in _KNOWN:
        if re.search(pattern, said, re.IGNORECASE):
            return words.format(program=program)
    number = -code if code < 0 else code - 128 if code > 128 else 0
    if number == KILLED:
        return "The system ended it, most likely because memory ran out. Choose a smaller context or a smaller model."
    if code in (NOT_FOUND, NOT_CONFINED):
        return "Its program cannot be run. Install it again."
    if number:
        return f"It ended by itself with signal {number}. Its last lines say more. Start it again."
    if code == 0:
        return "It ended by itself. Start it again when you need it."
    return f"It ended by itself with exit code {code}. Its last lines say why."
