"""A copy of folders as far as whoever confines a command has to know it: what is laid over which folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from desktop.domain.loading.lazy_dataclass import dataclass

CopyKind = Literal["overlay", "copy"]
"""How a copy is made: what is written is caught by the file system, or each file was copied before."""


@dataclass(frozen=True, slots=True)
class CopyLayer:
    """One folder of which a command gets a copy."""

    real: str
    """The folder, resolved."""
    made: str
    """Where what the command writes there is caught, or the copy itself."""
    work: str = ""
    """The scratch folder of an overlay; "" where ``made`` is a whole copy."""
    counts: bool = True
    """Whether what is written there is looked at; a cache of the command's own is thrown away."""


class LaidCopy(Protocol):
    """What is laid over folders before a command starts."""

    @property
    def layers(self) -> Sequence[CopyLayer]:
        """The folders, outer ones first."""
        ...

    @property
    def mark(self) -> str:
        """The file that is made when all layers are in place."""
        ...

    @property
    def largest(self) -> int:
        """How large one file may grow, in bytes."""
        ...

    @property
    def report(self) -> int:
        """The descriptor on which whoever confines the command tells how it ended; -1: nobody listens."""
        ...

    def is_full(self) -> bool:
        """Whether the command wrote more than a copy may hold, or the disk has no room left. Blocks."""
        ...
