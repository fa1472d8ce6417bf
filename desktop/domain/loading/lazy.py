"""Code that is imported with its first use, and yet checked: what most starts never need is not loaded."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


class LazyModule(ModuleType):
    """Stands for a module until something of it is used, and imports it then; from there on it is as quick as it."""

    def __getattr__(self, name: str) -> object:
        found: object = getattr(import_module(self.__name__), name)
        setattr(self, name, found)
        return found


def lazy_module(name: str) -> LazyModule:
    """A module that is imported with its first use. For types it is imported at once, so that mypy knows it::

        if TYPE_CHECKING:
            import yaml
        else:
            yaml = lazy_module("yaml")

    tests/architecture holds that both say the same.
    """
    return LazyModule(name)


def load(module: ModuleType) -> None:
    """Import what a lazy module stands for, unless it is there. Blocks: use a thread."""
    import_module(module.__name__)
