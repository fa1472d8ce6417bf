"""When Python looks for garbage. A full look goes through all objects there are and keeps the window that long: 10 ms
for what a start makes, more with a long thread open."""

from __future__ import annotations

import gc

RARELY = 1000
"""Looks at newer objects before a full one is due: some 7 million objects made and kept, in place of 70,000. Rings of
old objects, of which there are hardly any, are garbage for longer."""


def settle() -> None:
    """Once the window has painted, until when nothing is looked for, and again when the start is over: what is there by
    then is here to stay, and is never looked through."""
    gc.freeze()
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, RARELY)
    gc.enable()
