"""When garbage is looked for once the start is over. In a process of its own: it is about all of one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def _told(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


MAKES_MANY = "kept = [[number] for number in range(300_000)]; full = gc.get_stats()[2]['collections'] - before"


def test_what_a_long_thread_makes_is_not_looked_through_again_and_again() -> None:
    head = "import gc; from desktop.app.lifecycle.garbage import settle"
    without = f"{head}; before = gc.get_stats()[2]['collections']; {MAKES_MANY}; print(full)"
    assert int(_told(without)) > 0
    settled = f"{head}; settle(); before = gc.get_stats()[2]['collections']; {MAKES_MANY}; print(full)"
    assert int(_told(settled)) == 0


def test_what_the_start_made_is_set_aside_and_later_garbage_still_goes() -> None:
    code = """
import gc, weakref
gc.disable()
from desktop.app.lifecycle.garbage import settle
settle()
assert gc.isenabled() and gc.get_freeze_count() > 1000
class Ring: pass
ring = Ring(); ring.itself = ring
gone = weakref.ref(ring)
del ring
young = [[number] for number in range(20_000)]
print(gone() is None)
"""
    assert _told(code) == "True"
