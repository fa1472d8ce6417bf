"""Starts a skill worker: ``python -I -S /path/to/desktop/workers/python_skill/__main__.py``.

``-I -S`` keep the environment, the current folder and installed packages out. Of our own code it may see the protocol
alone, so the packages above that are named here: an ordinary import would list folders that it may not look into.
"""

import importlib.util
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

PACKAGES = ("desktop", "desktop.workers", "desktop.domain", "desktop.systems")


def known(root: Path, name: str) -> None:
    """Make a package of ours importable without listing the folder above it. Raises OSError."""
    folder = root.joinpath(*name.split("."))
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    above, _, last = name.rpartition(".")
    if above:
        setattr(sys.modules[above], last, module)


class Helpers:
    """Finds ``assent``, the module of helpers for a skill's code, when it is first imported."""

    @staticmethod
    def find_spec(name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        """The standard way of sys.meta_path."""
        if name != "assent":
            return None
        root = Path(__file__).resolve().parents[3]
        for package in ("desktop.skills", "desktop.skills.values"):
            known(root, package)
        return importlib.util.spec_from_file_location(name, root / "desktop/skills/values/for_skills.py")


if __name__ == "__main__":
    sys.meta_path.insert(0, Helpers())  # before any file of that name
    for package in PACKAGES:
        known(Path(__file__).resolve().parents[3], package)
    from desktop.workers.python_skill.host import main

    main()
