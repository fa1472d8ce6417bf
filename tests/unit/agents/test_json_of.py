"""A text that is a value in JSON, as a model writes it."""

from typing import Any

import pytest

from desktop.agents.skill.result_contract import json_of


@pytest.mark.spec("R-RET-3")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"n": 1}', (True, {"n": 1})),
        (" null\n", (True, None)),
        ('```json\n{"n": 1}\n```', (True, {"n": 1})),
        ("```\n[1]\n```\n", (True, [1])),
        ("It is 1.", (False, None)),
        ("", (False, None)),
        ("```json\n[1]   ", (False, None)),
        ("abc\n[1]\n```", (False, None)),
        ("[" * 100_000, (False, None)),
    ],
)
def test_a_value_stands_alone_or_in_one_whole_block(text: str, found: tuple[bool, Any]) -> None:
    assert json_of(text) == found
