"""What the settings say of an entry of the boundary before it is added or removed."""

import os
from pathlib import Path

import pytest

from desktop.domain.safety import DEFAULT_DENIED, SUGGESTED_DENIED
from desktop.safety.boundary.entries import describe
from tests.unit.safety.world import World


@pytest.mark.spec("R-FS-11")
def test_an_allowed_entry_tells_where_it_leads_and_what_is_odd_about_it(world: World) -> None:
    world.change(allowed=(str(world.workspace),), denied=(str(world.workspace / "secret"), "~/.ssh"))
    (world.person / "link").symlink_to(world.outside)
    facts = describe("allowed", "~/link", world.settings)
    assert (facts.resolved, facts.warnings, facts.adding) == (
        str(world.outside),
        ("is a link, or lies behind one",),
        "",
    )
    assert describe("allowed", str(world.workspace / "gone"), world.settings).warnings == ("does not exist",)
    (holds,) = describe("allowed", str(world.workspace), world.settings).warnings
    assert holds == f"holds {world.workspace}/secret, which stays denied"
    assert describe("allowed", str(world.outside), world.settings).warnings == ()
    assert "NUL" in describe("allowed", "a\0b", world.settings).warnings[0]


@pytest.mark.spec("R-FS-11")
@pytest.mark.parametrize(("entry", "says"), [("/", "whole computer"), ("~", "whole home"), ("..", "whole home")])
def test_the_root_and_the_home_have_to_be_confirmed_with_what_they_open(world: World, entry: str, says: str) -> None:
    given = str(world.person.parent) if entry == ".." else entry
    facts = describe("allowed", given, world.settings)
    assert says in facts.adding
    assert "without asking" in facts.adding
    assert any(says in warning for warning in facts.warnings)
    (world.root / "to-root").symlink_to("/")
    assert "whole computer" in describe("allowed", str(world.root / "to-root"), world.settings).adding


@pytest.mark.spec("R-FS-14")
@pytest.mark.parametrize("entry", [*DEFAULT_DENIED, *SUGGESTED_DENIED])
def test_removing_a_denied_entry_names_the_risk(world: World, entry: str) -> None:
    facts = describe("denied", entry, world.settings)
    assert facts.removing.startswith(f"{entry} holds ")
    assert "could then read it" in facts.removing
    assert facts.adding == ""


@pytest.mark.spec("R-FS-14", "R-FS-11")
def test_an_own_denial_also_says_what_removing_it_opens_and_that_it_closes_an_allowed_folder(world: World) -> None:
    facts = describe("denied", str(world.home), world.settings)
    assert "no longer be closed" in facts.removing
    assert facts.warnings == (f"holds the allowed {world.workspace}, which is denied with it",)
    spelled = Path(os.path.expanduser("~")) / ".ssh" / ".." / ".ssh"
    assert "log in to other computers" in describe("denied", str(spelled), world.settings).removing
