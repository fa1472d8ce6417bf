"""What a process may take at most: memory, time, files. Not every system has each of them."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from desktop.systems.windows.limits import bound, bound_memory, free_memory_of, no_core_files, physical_memory
else:
    from desktop.systems.posix.limits import bound, bound_memory, free_memory_of, no_core_files, physical_memory

__all__ = ["bound", "bound_memory", "free_memory_of", "no_core_files", "physical_memory"]
