"""``desktop.domain.loading.lazy_pattern``: a pattern that is not compiled before it is used, and then as any other."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from desktop.domain.loading.lazy_pattern import lazy_pattern

ROOT = Path(__file__).resolve().parents[3]


def test_it_finds_what_the_compiled_one_finds() -> None:
    for flags in (0, re.IGNORECASE, re.IGNORECASE | re.VERBOSE):
        lazy, real = lazy_pattern(r"(?P<first>a) | b", flags), re.compile(r"(?P<first>a) | b", flags)
        for text in ("a b", "A", "xay | b", ""):
            assert [m.span() for m in lazy.finditer(text)] == [m.span() for m in real.finditer(text)]
            assert lazy.sub("-", text) == real.sub("-", text)
        assert (lazy.pattern, lazy.flags, lazy.groupindex) == (real.pattern, real.flags, real.groupindex)


def test_it_is_compiled_with_its_first_use_and_once() -> None:
    broken = lazy_pattern("(")
    with pytest.raises(re.error):
        broken.match("x")
    word = lazy_pattern(r"\w+")
    match = word.match
    assert word.match is match


def test_the_store_and_the_settings_load_nothing_that_few_starts_use() -> None:
    code = (
        "import sys, asyncio, desktop.store, desktop.settings\n"
        "print([name for name in ('shutil', 'tempfile', 'yaml', 'desktop.store.audit_export')"
        " if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
