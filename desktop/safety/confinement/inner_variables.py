"""Variables that would act on what confines a process before it is confined: what starts inside sets them.

A tool's declaration may name ``LD_PRELOAD``, and a person may want that for its program. The shell and bubblewrap that
build its sandbox are started with the same environment, and would load the library outside. So such a variable travels
under another name, and gets its own back behind the last step (``bubblewrap.py``, ``launcher.py``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

PREFIX = "ASSENT_INSIDE_"
"""What stands before the name on the way."""
_ACTING = re.compile(
    "LD_[A-Za-z0-9_]+|GCONV_PATH|GETCONF_DIR|GLIBC_TUNABLES|LOCPATH|NLSPATH|MALLOC_[A-Za-z0-9_]+|"
    "ENV|BASH_ENV|BASH_LOADABLES_PATH|BASH_XTRACEFD|SHELLOPTS|BASHOPTS|PS4|IFS"
)
"""Read by the loader, by the C library and by shells, whatever program it is."""


def on_the_way(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for what builds the sandbox."""
    return {f"{PREFIX}{name}" if _ACTING.fullmatch(name) else name: value for name, value in environment.items()}


def set_again(environment: Mapping[str, str]) -> str:
    """What a shell inside runs, so that they have their names again; the values stand in no argument. ``command``: of
    a variable that the shell does not let change, the rest is set all the same."""
    found = sorted(name for name in environment if _ACTING.fullmatch(name))
    return "".join(f'command export {name}="${PREFIX}{name}"; unset {PREFIX}{name}; ' for name in found)
