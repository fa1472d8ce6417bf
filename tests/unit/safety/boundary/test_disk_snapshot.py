"""One look at each name says what a new look at every name says."""

import os
import random
from pathlib import Path

import pytest

from desktop.safety.boundary import paths
from desktop.safety.boundary.disk_snapshot import StatCache
from desktop.safety.boundary.paths import PathProblem
from desktop.safety.boundary.policy import BoundaryPolicy, BoundaryRule
from desktop.safety.shell.paths import Disk
from tests.unit.safety.world import World


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = Path(os.path.realpath(tmp_path))
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "f").write_text("x")
    (root / "out").symlink_to("a")
    (root / "a" / "up").symlink_to("..")
    (root / "a" / "loop").symlink_to("loop")
    (root / "a" / "gone").symlink_to("nowhere/at/all")
    return root


def resolved(resolve, path: str, base: str) -> str:
    try:
        return resolve(path, base)
    except PathProblem as problem:
        return f"! {problem}"


@pytest.mark.spec("R-FS-2", "R-FS-4")
def test_paths_lead_where_they_lead_without_remembering(tree: Path) -> None:
    chance, moment = random.Random(5), StatCache()
    names = ["a", "b", "f", "out", "up", "loop", "gone", "..", ".", "", "new", "~", "é", "x" * 300, "\0"]
    bases = [
        str(tree),
        f"{tree}/a",
        f"{tree}/out",
        f"{tree}/a/..",
        f"{tree}//a/.",
        f"{tree}/a/up/out/b",
        f"{tree}/",
        "/",
    ]
    for _ in range(4000):
        path = "/".join(chance.choice(names) for _ in range(chance.randint(1, 6)))
        if chance.random() < 0.2:
            path = f"{tree}/{path}"
        base = chance.choice(bases)
        assert resolved(moment.resolve, path, base) == resolved(paths.resolve, path, base), (path, base)


@pytest.mark.spec("R-FS-2")
@pytest.mark.parametrize("path", ["a/" * 2000, "new/" * 1000 + "x", "a/b/" + "../" * 900, "/" + "a/" * 1500])
def test_very_deep_paths_are_no_problem(world: World, tree: Path, path: str) -> None:
    assert resolved(StatCache().resolve, path, str(tree)) == resolved(paths.resolve, path, str(tree))
    deep = f"{tree}/{path}".rstrip("/")[:4000]
    assert StatCache().line(deep) == paths.existing_identities(deep)
    assert Disk(world.policy.lists().denied, StatCache()).covering(deep) is None


@pytest.mark.spec("R-FS-3", "R-FS-6")
@pytest.mark.parametrize("names", [("a/b", "Not/There", "é", "a/f"), ("a/b", "Not/There", "Gone")])
@pytest.mark.parametrize("looked", [False, True])
def test_what_is_denied_is_found_as_by_comparing_with_every_entry(
    tree: Path, names: tuple[str, ...], looked: bool
) -> None:
    """Also in a folder of which the disk said before that it is not there."""
    denied = tuple(str(tree / name) for name in names)
    home = tree / "home"
    (home / "workspace").mkdir(parents=True)
    world = World(tree / "world")
    world.change(denied=denied)
    policy = BoundaryPolicy(str(home), lambda: world.settings)
    rules = (*policy.lists().denied, *policy.lists().secret)
    disk = Disk(rules, StatCache())
    tails = ["", "/x", "/x/y", "x", "/../x"]
    starts = [
        *denied,
        str(tree),
        str(tree / "not" / "there"),
        str(tree / "Not"),
        str(tree / "not"),
        str(tree / "Not" / "ThÉre"),
        str(tree / "a"),
        "/",
        str(home / "data"),
        str(home / "DATA"),
    ]
    for path in (os.path.normpath(start + tail) for start in starts for tail in tails):
        if looked:
            disk.resolve(path + "/new/file", "/")
        line = paths.existing_identities(path)
        expected = any(rule.covers(path, line) for rule in rules)
        assert (disk.covering(path) is not None) == expected, path


@pytest.mark.spec("R-FS-3")
def test_what_is_new_in_a_denied_folder_is_found_by_another_name_of_the_folder(tree: Path) -> None:
    rule = BoundaryRule("~/elsewhere", str(tree / "elsewhere"), paths.identity_of((tree / "a").lstat()))
    disk = Disk((rule,), StatCache())
    found = [disk.resolve(name, str(tree)) for name in ("a/new/file", "a/new/other")]
    assert [disk.covering(path) for path in found] == [rule, rule]


@pytest.mark.spec("R-FS-3")
def test_a_folder_whose_name_is_a_pattern_is_looked_through_also_where_no_such_folder_is(world: World) -> None:
    room = world.workspace / "room1"
    room.mkdir()
    (room / "same").hardlink_to(world.ssh / "id_rsa")
    assert "denied" in world.reader.read_now("cat 'room*/new' 'room*/same'").raised_because


@pytest.mark.spec("R-FS-3")
def test_a_folder_that_a_variable_names_may_be_a_denied_one_though_none_is_called_so(world: World) -> None:
    world.change(denied=(str(world.workspace / "keys"),))
    assert "denied" in world.reader.read_now("cat $X/new $X/other").raised_because
