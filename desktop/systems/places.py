"""What a system itself says of a place on the disk: the path of what is open, and how names are compared there."""

from __future__ import annotations

import sys

if sys.platform == "linux":
    from desktop.systems.linux.places import IGNORES_CASE, kernel_path, marked_caseless
elif sys.platform == "darwin":
    from desktop.systems.macos.places import IGNORES_CASE, kernel_path, marked_caseless
else:
    from desktop.systems.windows.places import IGNORES_CASE, kernel_path, marked_caseless

__all__ = ["IGNORES_CASE", "kernel_path", "marked_caseless"]
