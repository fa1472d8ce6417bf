"""The rules that the page for users shows are rules."""

import pytest

from desktop.services.rules.text import problem_of
from tests.harness.help_pages import samples


@pytest.mark.spec("R-PRM-11")
def test_the_rules_that_the_page_shows_are_ones() -> None:
    (block,) = samples("rules", "text")
    rules = [line.split(maxsplit=1) for line in block.splitlines()]
    assert [decision for decision, _ in rules] == ["allow", "allow", "deny"]
    assert [problem_of(rule, decision) for decision, rule in rules] == [None] * 3  # type: ignore[arg-type]
