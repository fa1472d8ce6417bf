"""What is prepared in the engine before any of a model's code runs: ``ctx``, ``console``, timers, and the way out.

Everything that ``realm.js`` needs later it takes from the realm first, so that code which changes ``JSON``, ``Promise``
or a prototype afterwards changes nothing in it. Only its own functions hold ``send``, and the code never gets hold of
them. It is put on one line, and so has the first line of its source: hence no ``//`` in that file.

A person is shown the line that asks. The engine knows sources by no name, only by their lines; so every way to make
code at work (``eval`` and the four constructors of functions) is taken behind ``short``, which keeps such code above
the lines of all pieces, and pieces never share one. ``here`` then judges the frame that called, and no other: natives
aside, it has to be this piece's. Thereby ``eval`` is always the indirect one, which sees no local names.
"""

from __future__ import annotations

import os  # not pathlib: it takes longer to load than the engine, and each piece of code may have a new worker


def realm() -> str:
    """An expression: a function of ``send`` and ``limits`` that prepares the realm and returns its handles."""
    with open(os.path.join(os.path.dirname(__file__), "realm.js"), encoding="utf-8") as file:
        text = file.read()
    return " ".join(line.strip() for line in text.splitlines())
