"""How calls inside calls are named, so that they are known again after the process has died."""

from __future__ import annotations

import pytest

from desktop.domain.runs.call_keys import inside_key, is_inside, likeness, outermost
from desktop.domain.runs.effects import call_key


@pytest.mark.spec("R-JRN-2")
@pytest.mark.parametrize("call_id", ["call-1", "inside 1", "a b c", "", "x:y z", "\n"])
def test_a_call_inside_names_the_call_of_the_thread_whatever_id_a_model_gave_that(call_id: str) -> None:
    root = call_key("message", call_id)
    once = inside_key(root, likeness("append", {"b": 1, "a": 2}), 1)
    twice = inside_key(once, likeness("append", {"b": 1, "a": 2}), 1)
    assert (is_inside(root), is_inside(once), is_inside(twice)) == (False, True, True)
    assert (outermost(root), outermost(once), outermost(twice)) == (root, root, root)
    assert once == inside_key(root, likeness("append", {"a": 2, "b": 1}), 1), "the order of arguments tells nothing"


@pytest.mark.spec("R-JRN-2")
def test_different_calls_have_different_names() -> None:
    odd = {"half": "\ud800", "set": {1, 2}}
    likes = [
        likeness("append", {"a": 1}),
        likeness("append", {"a": 2}),
        likeness("append", {}),
        likeness("append", None),
        likeness("remove", {"a": 1}),
        likeness("append", odd),
    ]
    keys = {inside_key(above, like, number) for above in ("m:c", "m:d") for like in likes for number in (1, 2)}
    assert len(keys) == 2 * 2 * len(likes)
