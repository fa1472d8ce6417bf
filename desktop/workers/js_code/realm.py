"""What is prepared in the engine before any of a model's code runs: ``ctx``, ``console``, timers, and the way out.

Everything that ``realm.js`` needs later it takes from the realm first, so that code which changes ``JSON``, ``Promise``
or a prototype afterwards changes nothing in it. Only its own functions hold ``send``, and the code never gets hold of
them. It is put on one line, so that all other lines in a stack are those of the code; an engine puts two before the
body of a function made from text. Hence no ``//`` in that file.
"""

from __future__ import annotations

from pathlib import Path


def realm() -> str:
    """An expression: a function of ``send`` and ``limits`` that prepares the realm and returns its handles."""
    text = Path(__file__).with_name("realm.js").read_text("utf-8")
    return " ".join(line.strip() for line in text.splitlines())
