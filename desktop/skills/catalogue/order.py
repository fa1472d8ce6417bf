"""Which of several tools of one name counts: the one place where that is decided (R-RES-5, R-RES-10).

``find_tool`` takes the first holder of a name; the Skills page shows all of them, the first as the one that wins and
the others as shadowed by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

Found_co = TypeVar("Found_co", covariant=True)
Found = TypeVar("Found")


class Layer(Protocol[Found_co]):
    """The programmatic tools, or one folder of the search path."""

    def get(self, name: str) -> Found_co | None:
        """What this layer has under the name."""
        ...


def holders(name: str, layers: Iterable[Layer[Found]]) -> Iterator[Found]:
    """Everything of this name, in search order; a layer is asked only when the ones before it have been taken."""
    for layer in layers:
        found = layer.get(name)
        if found is not None:
            yield found
