"""A pytest plugin (`-p tests.harness.hide_qt -p no:pytest-qt`) that makes Qt unimportable, as if it were not installed.

The runtime's tests run this way, so that nothing below the presenter can come to need a window system.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

HIDDEN = frozenset({"PySide6", "shiboken6", "qasync", "pytestqt"})


class QtBlocker:
    """A meta-path finder that refuses the hidden packages and leaves every other import alone."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] in HIDDEN:
            raise ModuleNotFoundError(f"{fullname} is hidden from the runtime's tests", name=fullname)
        return None


def hide() -> None:
    """Installs the blocker once. Raises when Qt is already imported, for then it would hide nothing."""
    loaded = HIDDEN & {name.partition(".")[0] for name in sys.modules}
    if loaded:
        raise RuntimeError(f"too late to hide {', '.join(sorted(loaded))}: already imported")
    if not any(isinstance(finder, QtBlocker) for finder in sys.meta_path):
        sys.meta_path.insert(0, QtBlocker())


def is_hidden() -> bool:
    return any(isinstance(finder, QtBlocker) for finder in sys.meta_path)


hide()
