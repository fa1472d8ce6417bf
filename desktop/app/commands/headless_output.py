"""What ``assent run`` prints: answers and events to stdout as long as somebody reads it, everything else to stderr.

Whatever is wrong with a stream (closed, a full disk, a reader that left) is no reason for a traceback: a stdout that
takes nothing more is told to ``on_unheard``, once.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, TextIO

from desktop.domain.safety import Redactor


class Output:
    """``redactor`` takes out what the keyring holds (R-SEC-4); ``on_unheard`` stops what nobody hears any more."""

    def __init__(self, redactor: Redactor, on_unheard: Callable[[], None]) -> None:
        self._redactor = redactor
        self._on_unheard = on_unheard
        self._line_open = False
        self.unheard = ""

    def event(self, event: Mapping[str, Any]) -> None:
        """Write an event as one line of JSON."""
        self._write(json.dumps(self._redactor.mask_data(event), ensure_ascii=False, default=str) + "\n")

    def text(self, text: str) -> None:
        """Write a piece of an answer."""
        self._line_open = not text.endswith("\n") if text else self._line_open
        self._write(text)

    def newline(self) -> None:
        """End the line that was begun."""
        if self._line_open:
            self._line_open = False
            self._write("\n")

    def _write(self, text: str) -> None:
        if self.unheard:
            return
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except OSError as error:
            self.unheard = (
                "nobody reads what it says"
                if isinstance(error, BrokenPipeError)
                else f"what it says cannot be written: {error.strerror}"
            )
            _give_up(sys.stdout)
            self._on_unheard()


def say_error(line: str) -> None:
    """Write a line of an error to stderr; a closed or missing stderr is no error."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
    except OSError:
        _give_up(sys.stderr)


def _give_up(stream: TextIO) -> None:
    """What is still buffered is written at the end of the process: let that lead nowhere."""
    with contextlib.suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
