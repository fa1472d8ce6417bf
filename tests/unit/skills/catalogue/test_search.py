"""The catalogue: filters, facets, and the skill that lists by the same functions."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from desktop.skills.catalogue.masks import flags_of, mask_of, mask_of_flags, rows_in
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.catalogue.search import SkillCatalog, SkillFilter, needed_in
from desktop.skills.patterns.globs import compile_glob
from desktop.skills.resolution.fabric import SkillFabric
from desktop.skills.resolution.find import find_tool
from desktop.skills.resolution.programmatic import RegisterToolOptions
from tests.unit.skills.resolution.kit import opened, skill, text, write

PLAIN = SkillFilter()


def names(catalog: SkillCatalog, wanted: SkillFilter = PLAIN) -> list[str]:
    return [catalog.row(row).name for row in catalog.filter(wanted)]


@pytest.fixture
def fabric(tmp_path: Path) -> SkillFabric:
    mine, library = tmp_path / "mine", tmp_path / "library"
    project, foreign = tmp_path / "project", tmp_path / "foreign"
    skill(mine, "mail-send", "Sends a letter.", tags=["Net Work", "slow"], params="{type: object}")
    skill(mine, "mail-read", "Reads letters.", tags=["net-work"])
    skill(mine, "shared-name", "Mine.", tags=["slow"])
    skill(mine, "secret", "Not listed.", visibility="hidden", tags=["slow"])
    (mine / "broken.skill.md").write_text("nothing")
    skill(library, "shared-name", "The library's.", category="read", tags=["meta-internal"])
    skill(library, "table", "Draws a table of mail.", category="read", tags=["meta-internal"])
    skill(project, "shared-name", "The project's.")
    skill(foreign, "stranger", "Of nobody we trust.")
    skill(foreign, "table", "Pretends.")
    fabric = opened(
        SearchRoot(str(foreign), "project", False, str(foreign)),
        SearchRoot(str(project), "project"),
        SearchRoot(str(mine), "mine"),
        SearchRoot(str(library), "library"),
    )
    fabric.refresh()
    fabric.register_tool(RegisterToolOptions("by-code", description="A function.", tags=["slow"]))
    return fabric


ALL = [
    "broken",
    "by-code",
    "mail-read",
    "mail-send",
    "secret",
    "shared-name",
    "shared-name",
    "shared-name",
    "stranger",
    "table",
    "table",
]


def test_a_key_of_metadata_that_no_middleware_handles_is_listed_as_a_problem(tmp_path: Path) -> None:
    skill(tmp_path, "sums", "Sums up.", stopwatch="{unit: s}")
    fabric = opened(SearchRoot(str(tmp_path), "mine"))
    fabric.refresh()
    catalog = fabric.catalog()
    (row,) = catalog.named("sums")
    assert catalog.row(row).has_problems
    assert [one.message for one in catalog.problems(row)] == [
        "nothing acts on stopwatch: there is no key and no middleware of that name"
    ]
    skill(tmp_path, "stopwatch", "Takes the time.", role="middleware")
    fabric.refresh()
    catalog = fabric.catalog()
    (row,) = catalog.named("sums")
    assert (catalog.row(row).has_problems, catalog.problems(row)) == (False, [])
    found = catalog.definition(row)
    assert found is not None
    assert found.problems == ()


@pytest.mark.spec("R-VIS-2", "R-VIS-7", "R-SK-5")
def test_every_row_is_listed_by_name_with_or_without_params(fabric: SkillFabric) -> None:
    catalog = fabric.catalog()
    assert names(catalog, SkillFilter(visibility="all")) == ALL
    assert names(catalog) == [name for name in ALL if name != "secret"]
    assert names(catalog, SkillFilter(visibility="hidden")) == ["secret"]


@pytest.mark.spec("R-VIS-3", "R-VIS-4", "R-VIS-7")
@pytest.mark.parametrize(
    ("tags", "found"),
    [
        (("slow",), ["by-code", "mail-send", "shared-name"]),
        (("slow", "net-work"), ["mail-send"]),
        (("NET WORK",), ["mail-read", "mail-send"]),
        (("slow", "none"), []),
        (("meta-internal",), ["shared-name", "table"]),
    ],
)
def test_tags_are_joined_by_and_and_compared_normalised(
    fabric: SkillFabric, tags: tuple[str, ...], found: list[str]
) -> None:
    assert names(fabric.catalog(), SkillFilter(tags=tags)) == found


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("mail", ["mail-read", "mail-send", "table"]),
        ("MAIL table", ["table"]),
        ("letter", ["mail-read", "mail-send"]),
        ("table", ["table", "table"]),
        ("#slow mail", ["mail-send"]),
        ("mail-*", ["mail-read", "mail-send"]),
        ("{t", []),
        ("*-{read,send}", ["mail-read", "mail-send"]),
        ("send", ["mail-send"]),
        ("zzz", []),
        ("#none", []),
        ("function", ["by-code"]),
    ],
)
def test_each_word_of_a_query_narrows_and_names_come_first(fabric: SkillFabric, query: str, found: list[str]) -> None:
    assert names(fabric.catalog(), SkillFilter(query)) == found


def test_the_best_name_comes_first(tmp_path: Path) -> None:
    for name in ("table-old", "table", "a-table", "stable"):
        skill(tmp_path, name)
    skill(tmp_path, "a-first", "Has a table.")
    fabric = opened(SearchRoot(str(tmp_path), "mine"))
    fabric.refresh()
    assert names(fabric.catalog(), SkillFilter("table")) == ["table", "table-old", "a-table", "stable", "a-first"]


@pytest.mark.spec("R-VIS-7")
def test_sources_kinds_and_problems_are_facets(fabric: SkillFabric) -> None:
    catalog = fabric.catalog()
    assert names(catalog, SkillFilter(sources=frozenset({"library"}))) == ["shared-name", "table"]
    assert names(catalog, SkillFilter(sources=frozenset({"mine", "library"}), query="draws")) == ["table"]
    assert names(catalog, SkillFilter(kinds=frozenset({"program"}))) == ["by-code"]
    assert names(catalog, SkillFilter(problems_only=True, query="broken")) == ["broken"]


def test_counts_agree_with_what_each_choice_would_show(tmp_path: Path) -> None:
    rng = random.Random(3)
    roots = []
    for folder, source in (("a", "mine"), ("b", "shared"), ("c", "library")):
        for number in range(40):
            metadata = {"tags": rng.sample(["red", "green", "blue", "grey"], rng.randint(0, 3)), "category": "read"}
            if rng.random() < 0.3:
                metadata["visibility"] = "hidden"
            skill(tmp_path / folder, f"{rng.choice('pqrs')}-{number}", rng.choice(["one", "two"]), **metadata)
        roots.append(SearchRoot(str(tmp_path / folder), source))
    fabric = opened(*roots)
    fabric.refresh()
    catalog = fabric.catalog()
    for _ in range(60):
        wanted = SkillFilter(
            rng.choice(["", "p", "one", "q two", "#red"]),
            tuple(rng.sample(["red", "blue"], rng.randint(0, 2))),
            rng.choice(["all", "shown", "hidden"]),
            frozenset(rng.sample(["mine", "shared"], rng.randint(0, 2))),
            frozenset(rng.sample(["markdown"], rng.randint(0, 1))),
            rng.random() < 0.2,
        )
        counts = catalog.counts(wanted)
        fields = {name: getattr(wanted, name) for name in SkillFilter.__dataclass_fields__}

        def shown(fields: dict[str, object] = fields, **changed: object) -> int:
            return len(catalog.filter(SkillFilter(**{**fields, **changed})))

        assert counts.total == shown()
        for tag in ("red", "green", "blue", "grey"):
            assert counts.tags.get(tag, 0) == shown(tags=(*wanted.tags, tag))
        for source in ("mine", "shared", "library"):
            assert counts.sources.get(source, 0) == shown(sources=frozenset({source}))
        for visibility in ("all", "shown", "hidden"):
            assert counts.visibility.get(visibility, 0) == shown(visibility=visibility)
        assert counts.kinds.get("markdown", 0) == shown(kinds=frozenset({"markdown"}))
        assert counts.problems == shown(problems_only=True)


@pytest.mark.spec("R-VIS-4", "R-VIS-7")
def test_skill_list_is_the_same_filter_over_what_may_be_called(fabric: SkillFabric) -> None:
    catalog = fabric.catalog()
    listed = catalog.skill_list()
    assert [one["name"] for one in listed] == ["by-code", "mail-read", "mail-send", "shared-name", "table"]
    assert [one["name"] for one in catalog.skill_list(include_hidden=True)][3] == "secret"
    assert [one["name"] for one in catalog.skill_list(tags=["slow", "Net-Work"])] == ["mail-send"]
    assert [one["name"] for one in catalog.skill_list(query="mail table")] == ["table"]
    assert listed[2] == {
        "name": "mail-send",
        "description": "Sends a letter.",
        "tags": ["net-work", "slow"],
        "source": "mine",
    }
    assert {one["name"]: one["description"] for one in listed}["shared-name"] == "The project's."


@pytest.mark.spec("R-RES-5", "R-RES-10")
def test_what_wins_and_what_it_shadows_is_what_find_tool_finds(fabric: SkillFabric) -> None:
    fabric.register_tool(RegisterToolOptions("mail-read"))
    catalog = fabric.catalog()
    for row in range(len(catalog)):
        shown, definition = catalog.row(row), catalog.definition(row)
        if definition is None:
            continue
        means = find_tool(shown.name, fabric.globals)
        shadowing = catalog.shadowing(row)
        if means is None:
            assert shadowing.wins == -1
        else:
            assert catalog.row(shadowing.wins).path == means.path
            assert shown.shadowed == (means.path != shown.path)
    rows = [row for row in range(len(catalog)) if catalog.row(row).name == "shared-name"]
    shadowing = catalog.shadowing(rows[0])
    assert [catalog.row(row).source for row in (shadowing.wins, *shadowing.others)] == ["project", "mine", "library"]


@pytest.mark.spec("R-SK-15")
def test_a_skill_that_is_not_trusted_is_listed_and_wins_nothing(fabric: SkillFabric) -> None:
    catalog = fabric.catalog()
    rows = {(row.name, row.source): row for row in map(catalog.row, range(len(catalog)))}
    assert rows[("stranger", "project")].state == "untrusted"
    assert catalog.shadowing(catalog.find(rows[("stranger", "project")].key)).wins == -1
    pretender = catalog.find(rows[("table", "project")].key)
    assert catalog.row(catalog.shadowing(pretender).wins).source == "library"
    assert catalog.shadowing(pretender).unsearched == (pretender,)
    assert catalog.definition(pretender).state == "untrusted"
    assert fabric.find_tool("stranger") is None


@pytest.mark.spec("R-RES-19", "R-SK-2")
def test_a_broken_file_and_a_taken_name_show_their_problems(tmp_path: Path) -> None:
    write(tmp_path / "a" / "SKILL.md", "twin")
    write(tmp_path / "b" / "SKILL.md", "twin")
    write(tmp_path / "c" / "SKILL.md", "Not_A_Name")
    (tmp_path / "d.skill.md").write_text(text("fine") + text("Nor_This"))
    fabric = opened(SearchRoot(str(tmp_path), "mine"))
    fabric.refresh()
    catalog = fabric.catalog()
    shown = [(row.name, row.state, row.has_problems) for row in map(catalog.row, catalog.filter())]
    assert shown == [
        ("c", "broken", True),
        ("d", "broken", True),
        ("fine", "ready", False),
        ("twin", "ready", True),
        ("twin", "broken", True),
    ]
    codes = [{problem.code for problem in catalog.problems(row)} for row in catalog.filter()]
    assert "name.invalid" in codes[0]
    assert "name.duplicate" in codes[4]
    assert catalog.definition(0) is None
    assert catalog.shadowing(0).wins == -1
    twins = catalog.shadowing(4)
    assert (twins.wins, twins.unsearched) == (3, (4,))


def test_rows_keep_their_key_when_the_catalogue_is_made_anew(fabric: SkillFabric, tmp_path: Path) -> None:
    before = fabric.catalog()
    key = before.row(before.filter(SkillFilter("mail-send"))[0]).key
    fabric.register_tool(RegisterToolOptions("aaa"))
    skill(tmp_path / "mine", "aab")
    fabric.invalidate_file(str(tmp_path / "mine" / "aab.skill.md"))
    after = fabric.catalog()
    assert after is not before
    assert after is fabric.catalog()
    assert after.row(after.find(key)).name == "mail-send"
    assert after.find(("/none", "none")) is None


def test_an_empty_catalogue_answers() -> None:
    catalog = SkillCatalog()
    assert (len(catalog), catalog.filter(SkillFilter("x")), catalog.counts().total) == (0, [], 0)
    assert catalog.skill_list() == []


def test_masks_are_sets_of_rows() -> None:
    rng = random.Random(1)
    for count in (0, 1, 7, 8, 9, 200):
        rows = sorted(rng.sample(range(count), rng.randint(0, count)))
        mask = mask_of(rows, count)
        assert rows_in(mask, count) == rows
        assert mask.bit_count() == len(rows)
        assert mask_of_flags(flags_of(mask, count)) == mask


@pytest.mark.parametrize(
    ("glob", "needed"),
    [
        ("mail-*", "mail-"),
        ("*-{read,send}", "-"),
        ("a*longer?b", "longer"),
        ("*", ""),
        ("[ab]-x", ""),
        ("a\\*b", ""),
        ("{a,{b,c}}-x", ""),
        ("{a-x", "{a-x"),
        ("x-{a,b}-yy-*", "-yy-"),
    ],
)
def test_what_a_glob_needs_is_in_everything_that_it_fits(glob: str, needed: str) -> None:
    assert needed_in(glob) == needed
    compiled = compile_glob(glob)
    for name in ("mail-x", "a-send", "-read", "axlongeryb", "a-x", "a*b", "{a-x", "x-b-yy-z", "b-x"):
        if compiled.matches(name):
            assert needed in name
