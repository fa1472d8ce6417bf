"""The counting of the fake provider's cache: it is what the figures of caching rest on."""

from typing import Any

import pytest

from tests.harness.prefix_cache import PrefixCache, blocks_of


def test_the_counting_itself_reads_the_longest_marked_beginning_and_forgets_after_five_minutes() -> None:
    cache, mark = PrefixCache(), {"cache_control": {"type": "ephemeral"}}

    def body(*texts: str, marked: int = -1) -> dict[str, Any]:
        parts = [{"type": "text", "text": text} for text in texts]
        parts[marked] |= mark
        return {"messages": [{"role": "user", "content": parts}]}

    first = cache.count(body("a" * 8_000), 0.0)
    assert (first.read, first.plain) == (0, 0)
    second = cache.count(body("a" * 8_000, "b" * 8_000), 10.0)
    assert (second.read, second.plain) == (first.written, 0)
    changed = cache.count(body("A" * 8_000, "b" * 8_000), 20.0)
    assert changed.read == 0
    assert cache.count(body("a" * 8_000), 305.0).read == first.written
    assert cache.count(body("a" * 8_000, "b" * 8_000), 320.0).read == first.written
    assert cache.count(body("a" * 8_000, "b" * 8_000), 900.0).read == 0
    assert cache.count(body("a" * 800), 0.0).written == 0
    with pytest.raises(ValueError, match="Found 5"):
        cache.count({"tools": [{**mark, "name": str(at)} for at in range(5)], "messages": []}, 0.0)
    assert [marked for _, marked in blocks_of(body("a", "b"))] == [False, True]
