"""A world with some files in its workspace, and copies in it, of each kind that this machine has."""

from collections.abc import Iterator

import pytest

from desktop.domain.files.copied_folders import CopyKind
from desktop.safety.confinement.select import Kind
from tests.unit.safety.outcomes.rehearsals import KINDS, Rehearsals, rehearsals
from tests.unit.safety.world import World


def filled(world: World) -> World:
    """Files, folders and links to change."""
    workspace = world.workspace
    (workspace / "existing.txt").write_text("one\ntwo\n")
    (workspace / "empty").write_text("")
    (workspace / "sub" / "deep").mkdir(parents=True)
    (workspace / "sub" / "existing.txt").write_text("three\n")
    (workspace / "sub" / "deep" / "file").write_text("four\n")
    (workspace / "link").symlink_to("existing.txt")
    (workspace / "folder-link").symlink_to("sub")
    return world


@pytest.fixture
def here(world: World) -> Iterator[Rehearsals]:
    """Copies as this machine makes them."""
    with rehearsals(filled(world)) as made:
        if not made.works or made.copies.refusal(grants=True):
            pytest.skip("this machine makes no such copies")
        yield made


@pytest.fixture(params=[(kind, copied) for kind in KINDS for copied in ("overlay", "copy")], ids=" ".join)
def each(world: World, request: pytest.FixtureRequest) -> Iterator[Rehearsals]:
    """Each kind of confinement with each kind of copy."""
    kind: Kind
    copied: CopyKind
    kind, copied = request.param
    with rehearsals(filled(world), kind, copied) as made:
        if not made.works or made.copies.refusal(grants=True):
            pytest.skip("this machine makes no such copies")
        yield made
