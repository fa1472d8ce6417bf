"""What a skill says that it may reach, and what of a newer one is more."""

from __future__ import annotations

import pytest

from desktop.skills.formats import load_from_bytes
from desktop.skills.repositories.reach import EVERYTHING, Reach, reach_of


def reach(tools: str | None = "read-file", *scripts: str, more: str = "") -> Reach:
    line = "" if tools is None else f'allowed-tools: "{tools}"\n'
    text = f"---\nname: drift\ndescription: d\n{line}{more}---\nbody\n"
    (definition,) = load_from_bytes(text.encode(), "/x/drift/SKILL.md", source="mine", root="/x").definitions
    return reach_of(definition, scripts)


def test_tools_hosts_writes_and_scripts_are_told_apart() -> None:
    found = reach("read-file write-file(path=data/**) web-fetch(url=https://tides.example/**) bash", "scripts/a.py")
    assert found.parts["Tools"] == ("read-file", "write-file", "web-fetch(url=https://tides.example/**)", "bash")
    assert found.parts["Hosts"] == ("tides.example",)
    assert found.parts["Writes"] == ("data/**",)
    assert found.parts["Scripts"] == ("scripts/a.py",)


def test_without_a_list_it_may_call_every_tool() -> None:
    assert reach(None).parts["Tools"] == (EVERYTHING,)


@pytest.mark.parametrize(
    ("before", "now", "rows"),
    [
        (reach("read-file"), reach("read-file"), set()),
        (reach("read-file write-file"), reach("read-file"), set()),
        (reach("read-file"), reach("read-file web-fetch"), {"Tools", "Hosts"}),
        (reach("write-file(path=data/**)"), reach("write-file(path=**)"), {"Writes"}),
        (reach("write-file(path=data/**)"), reach("write-file"), {"Writes"}),
        (reach("bash(command=git *)"), reach("bash"), {"Tools"}),
        (reach("* bash($deny)"), reach("*"), {"Tools"}),
        (reach("read-file"), reach(None), {"Tools"}),
        (reach(None), reach("read-file"), set()),
        (reach("read-file"), reach("read-file", "scripts/new.sh"), {"Scripts"}),
        (reach("read-file", "scripts/new.sh"), reach("read-file"), set()),
        (reach(), reach(more="metadata:\n  category: read\n"), {"Settings"}),
        (reach(), reach(more="metadata:\n  version: 2\n"), set()),
        (reach(), reach(more="metadata:\n  model: strong\n"), {"Settings"}),
        (reach(more="disable-model-invocation: true\n"), reach(), set()),
    ],
)
def test_only_what_was_not_there_before_or_no_longer_denies_is_more(before: Reach, now: Reach, rows: set[str]) -> None:
    assert now.more_than(before) == rows
