"""Code of ours that is imported with its first use, and yet checked: what most starts never need is not loaded."""

from __future__ import annotations

from importlib import import_module
from typing import Generic, TypeVar, cast

T = TypeVar("T")


class Lazy(Generic[T]):
    """A name of a module that is imported by ``get``. Made as a constant whose annotation says what it is::

        READER: Lazy[type[BashReader]] = Lazy("desktop.safety.shell.reader", "BashReader")

    tests/architecture holds that module and name are there.
    """

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name
        self.ready = False
        """Whether ``get`` has nothing to import any more."""

    def get(self) -> T:
        """It. Blocks while the module is imported."""
        found = cast(T, getattr(import_module(self._module), self._name))
        self.ready = True
        return found
