"""The flat tree of the reach explorer: every row in its place, whatever is opened, closed and filled in which order."""

import random

import pytest
from PySide6.QtTest import QAbstractItemModelTester

from desktop.domain.approval.reach import Level, Reached, ReachRow
from desktop.presenter.settings.reach_tree import ROW, Folder, ReachTree, RowPlace, spoken, why

FOUND = Reached("passes", "category", "It is inside.")


def row(path: str, words: str = "reads, writes ask", **fields: object) -> ReachRow:
    return ReachRow(path, "dir", "asks", words, FOUND, FOUND, path, **fields)  # type: ignore[arg-type]


def level(path: str, *folders: str, files: tuple[str, ...] = (), **fields: object) -> Level:
    kinds = ("dir",) * len(folders) + ("file",) * len(files)
    return Level(path, (*folders, *files), kinds, len(folders), **fields)  # type: ignore[arg-type]


def made(*roots: str, tested: bool = True) -> ReachTree:
    """Under the eyes of Qt's own tester, which looks at every row after each change."""
    tree = ReachTree()
    if tested:
        QAbstractItemModelTester(tree, QAbstractItemModelTester.FailureReportingMode.Fatal, tree)
    tree.set_roots(roots or ("/home/ida", "/"))
    return tree


def names(tree: ReachTree) -> list[str]:
    return [("  " * shown.depth) + (shown.note or shown.name) for shown in map(tree.shown, range(tree.rowCount()))]


def naive(tree: ReachTree) -> list[tuple[Folder, int]]:
    """All rows by walking everything."""
    found: list[tuple[Folder, int]] = []

    def walk(folder: Folder) -> None:
        for at in range(folder.own()):
            found.append((folder, at))
            if at in folder.opened:
                walk(folder.opened[at])

    walk(tree.root)
    return found


def test_a_folder_opens_says_that_it_is_being_read_is_filled_and_closes() -> None:
    tree = made()
    folder = tree.open(tree.place(0))
    assert folder is not None
    assert names(tree) == ["/home/ida", "  Reading…", "/"]
    assert tree.open(tree.place(0)) is None
    tree.fill(folder, level("/home/ida", "docs", files=("a.md",)))
    assert names(tree) == ["/home/ida", "  docs", "  a.md", "/"]
    assert [tree.shown(at).path for at in range(4)] == ["/home/ida", "/home/ida/docs", "/home/ida/a.md", "/"]
    assert [tree.shown(at).opened for at in range(4)] == [True, False, None, False]
    tree.close(tree.place(0))
    assert names(tree) == ["/home/ida", "/"]
    tree.fill(folder, level("/home/ida", "late"))
    assert names(tree) == ["/home/ida", "/"], "it was closed meanwhile"


def test_a_folder_that_is_empty_or_cannot_be_read_or_is_too_large_says_so() -> None:
    tree = made("/")
    folder = tree.open(tree.place(0))
    assert folder is not None
    for found, note in (
        (level("/"), "Empty"),
        (level("/", problem="Permission denied"), "Cannot be read: Permission denied"),
        (level("/", "a", left_out=1200), "1,200 more are not listed"),
    ):
        tree.fill(folder, found)
        assert tree.shown(tree.rowCount() - 1).note == note
        assert spoken(tree.shown(tree.rowCount() - 1)) == note
    assert names(tree) == ["/", "  a", "  1,200 more are not listed"]


def test_whatever_is_opened_filled_and_closed_each_row_is_in_its_place() -> None:
    """Against a walk through everything, 150 steps of each of 4 games."""
    for seed in range(4):
        chance, tree = random.Random(seed), made("/a", "/b", "/c")
        waiting: list[Folder] = []
        for _ in range(150):
            move = chance.random()
            if waiting and move < 0.4:
                folder = waiting.pop(chance.randrange(len(waiting)))
                count = chance.randrange(6)
                tree.fill(folder, level(folder.path, *(f"d{at}" for at in range(count)), files=("f",) * (count % 2)))
            elif tree.rowCount() and (move < 0.8 or tree.rowCount() > 60):
                place = tree.place(chance.randrange(tree.rowCount()))
                if move < 0.7 and tree.rowCount() < 60:
                    opened = tree.open(place)
                    waiting += [opened] if opened is not None else []
                else:
                    tree.close(place)
            expected = naive(tree)
            assert tree.rowCount() == len(expected)
            for at in chance.sample(range(len(expected)), min(5, len(expected))):
                assert tree.place(at) == expected[at]
                assert tree.row_of(tree.place(at)) == at


def test_only_rows_in_sight_are_asked_about_and_once() -> None:
    tree = made("/", tested=False)
    folder = tree.open(tree.place(0))
    assert folder is not None
    tree.fill(folder, level("/", *(f"n{at:06d}" for at in range(100_000))))
    wanted = tree.wanted(50_000, 50_020)
    assert wanted[0].folder.path_of(wanted[0].at) == "/n049999"
    assert len(wanted) == 21
    tree.judged([(place.folder, place.at, row(place.folder.path_of(place.at))) for place in wanted])
    assert tree.wanted(50_000, 50_020) == []
    assert tree.shown(50_010).judged is not None
    assert len(folder.judged) == 21
    tree.outdate()
    assert len(tree.wanted(50_000, 50_020)) == 21
    assert tree.shown(50_010).judged is not None, "what was known is shown until it is known anew"


def test_an_answer_about_a_row_that_is_gone_or_another_one_now_is_left() -> None:
    tree = made("/")
    folder = tree.open(tree.place(0))
    assert folder is not None
    tree.fill(folder, level("/", "a", "b"))
    tree.judged([(folder, 0, row("/x")), (folder, 7, row("/y"))])
    assert folder.judged == {}
    tree.close(tree.place(0))
    tree.judged([(folder, 0, row("/a"))])
    assert tree.rowCount() == 1


def test_typing_finds_the_next_name_that_begins_so_beside_the_row_first_then_elsewhere() -> None:
    tree = made("/r")
    folder = tree.open(tree.place(0))
    assert folder is not None
    tree.fill(folder, level("/r", "Alpha", "beta", "delta", files=("alto", "Bravo")))
    inner = tree.open(RowPlace(folder, 1))
    assert inner is not None
    tree.fill(inner, level("/r/beta", "gamma", files=("zeta",)))
    rows = {tree.shown(at).name: at for at in range(tree.rowCount())}
    assert tree.begins_with("al", rows["Alpha"], onward=False) == rows["Alpha"]
    assert tree.begins_with("a", rows["Alpha"], onward=True) == rows["alto"]
    assert tree.begins_with("a", rows["alto"], onward=True) == rows["Alpha"], "round again"
    assert tree.begins_with("br", rows["beta"], onward=False) == rows["Bravo"]
    assert tree.begins_with("ga", rows["Alpha"], onward=False) == rows["gamma"]
    assert tree.begins_with("de", rows["zeta"], onward=False) == rows["delta"]
    assert tree.begins_with("nothing", rows["Alpha"], onward=False) == -1


@pytest.mark.spec("R-FS-11")
def test_a_row_is_spoken_with_its_state_and_says_why() -> None:
    tree = made("/r")
    folder = tree.open(tree.place(0))
    assert folder is not None
    tree.fill(folder, Level("/r", ("docs", "keys"), ("dir", "link"), 1))
    assert spoken(tree.shown(1)) == "docs, folder, closed, level 2: being looked at"
    denied = Reached("denied", "boundary", "/r/keys is inside the denied path ~/.ssh.", "denied ~/.ssh")
    link = ReachRow("/r/keys", "link", "denied", "denied", denied, denied, "/home/ida/.ssh", "../.ssh", True)
    tree.judged([(folder, 0, row("/r/docs", opens=True)), (folder, 1, link)])
    assert spoken(tree.shown(1)) == "docs, folder, closed, level 2: reads, writes ask"
    assert spoken(tree.shown(2)) == "keys, link, leads to /home/ida/.ssh, closed, level 2: denied"
    assert why(tree.shown(2)).splitlines() == [
        "/r/keys",
        "leads to /home/ida/.ssh",
        "Reading: /r/keys is inside the denied path ~/.ssh.",
    ]
    assert tree.index(2).data(ROW).path == "/r/keys"
    assert tree.shown(2).opened is False, "a link to a folder can be looked into"
