"""From a file to its skill: every key, every source, and what is wrong with it at its place."""

import json
import os
import threading
from pathlib import Path

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import KnownError, NotFound
from desktop.domain.skills import SkillDef, SkillSource
from desktop.domain.tools import ToolSpec
from desktop.skills.formats import effective_category, load_skills_from_file, read_body, skill_kind
from desktop.skills.formats.loader import MAX_BYTES
from tests.harness.timeouts import WAIT_S
from tests.unit.skills.formats.kit import load, markdown, place, problem, skill

LIBRARY = Path(__file__).resolve().parents[4] / "skills"


def saved(path: Path, text: str | bytes) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return str(path)


def read(path: str, source: SkillSource = "mine") -> SkillDef:
    (found,) = load_skills_from_file(path, source=source, root=os.path.dirname(path)).definitions
    return found


# -- what a file becomes ----------------------------------------------------------------------------------------------


@pytest.mark.spec("R-SK-1", "R-SK-11")
def test_a_markdown_skill_has_all_that_its_file_says(tmp_path: Path) -> None:
    head = (
        "name: pay-bill\ndescription: >-\n  Pays a\n  bill.\nallowed-tools: file-read bash\nlicense: MIT\n"
        "metadata:\n  tags: [Money, 'e mail']\n  visibility: hidden\n  category: write\n  author: blue\n"
        "  params:\n    type: object\n    properties:\n      sum: {type: number}\n  returns:\n    type: string\n"
    )
    path = saved(tmp_path / "pay.skill.md", f"---\n{head}---\n# Pay\n\nÜber :arg[sum].\n")
    loaded = load_skills_from_file(path, source="project", root=str(tmp_path))
    (found,) = loaded.definitions
    status = os.stat(path)
    assert loaded.problems == ()
    assert found.stamp == loaded.stamp == f"{status.st_size}:{status.st_mtime_ns}:{status.st_ino}"
    assert (found.name, found.description) == ("pay-bill", "Pays a bill.")
    assert (found.kind, found.source) == ("markdown", "project")
    assert (found.path, found.src, found.root, found.entry) == (path, f"file://{path}", str(tmp_path), "")
    assert (found.allowed_tools, found.tags, found.role) == ("file-read bash", ("money", "e-mail"), "")
    assert (found.visibility, found.category, found.state) == ("hidden", "write", "ready")
    assert found.params == {"type": "object", "properties": {"sum": {"type": "number"}}}
    assert found.returns == {"type": "string"}
    assert found.extras == {"license": "MIT"}
    assert found.metadata["author"] == "blue"
    assert read_body(found) == "# Pay\n\nÜber :arg[sum].\n"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("SKILL.md", "folder"),
        ("skill.md", "folder"),
        ("x.skill.md", "markdown"),
        ("notes.md", "markdown"),
        ("x.skill.py", "python"),
        ("x.skill.js", "javascript"),
        ("x.skill.ts", "foreign"),
        ("x.py", None),
        ("x.skill.txt", None),
        ("", None),
    ],
)
def test_the_name_of_a_file_says_its_kind(name: str, kind: str | None) -> None:
    assert skill_kind(f"/a.skill.py/{name}") == kind


def test_what_is_no_skill_file_is_a_problem() -> None:
    assert problem(load("x", "x.txt")).code == "file.kind"


@pytest.mark.spec("R-SK-5")
def test_a_skill_without_params_is_ready_and_takes_nothing() -> None:
    found = skill(markdown("metadata:\n  params:\n"))
    assert found.params is None
    assert found.state == "ready"


@pytest.mark.spec("R-RES-2")
@pytest.mark.parametrize("name", ["a b.skill.md", "50%.skill.md", "x#y.skill.md", "ü?.skill.md", "a\udcff.skill.md"])
def test_the_uri_of_a_skill_escapes_what_a_uri_cannot_hold(name: str) -> None:
    src = skill(markdown(""), name).src
    assert src is not None
    assert src.startswith("file:///skills/")
    assert not set(" #?\udcffü") & set(src)


# -- name and description ---------------------------------------------------------------------------------------------


@pytest.mark.spec("R-SK-2", "R-RES-3")
@pytest.mark.parametrize(
    "name", ["Bad", "a_b", "-a", "a-", "a--b", "a" * 65, "a b", "'a\\n'", "true", "[a]", "'a '", "{a: b}", "1.5", "é"]
)
def test_without_a_bare_name_there_is_no_skill_but_a_problem_at_the_name(name: str) -> None:
    loaded = load(f"---\ndescription: d\nname: {name}\n---\n")
    assert loaded.definitions == ()
    assert place(loaded) == ("name.invalid", 3, 7 + name.startswith("'"), "error")


@pytest.mark.spec("R-SK-2")
@pytest.mark.parametrize("head", ["", "name:\n", "name: ~\n", "nmae: a\n"])
def test_a_missing_name_is_a_problem(head: str) -> None:
    assert load(f"---\ndescription: d\n{head}---\n").definitions == ()
    assert problem(load(f"---\ndescription: d\n{head}---\n")).code == "name.missing"


@pytest.mark.spec("R-SK-3")
@pytest.mark.parametrize(
    ("head", "code", "line"),
    [
        ("", "description.missing", 1),
        ("description:\n", "description.missing", 3),
        ("description: ' '\n", "description.missing", 3),
        ("description: 42\n", "description.invalid", 3),
        ("description: [a]\n", "description.invalid", 3),
    ],
)
def test_without_a_description_a_skill_is_listed_as_broken(head: str, code: str, line: int) -> None:
    loaded = load(markdown(head, described=False))
    assert (loaded.definitions[0].state, loaded.definitions[0].description) == ("broken", "")
    assert loaded.definitions[0].problems == loaded.problems
    assert place(loaded)[:2] == (code, line)


def test_a_description_is_one_line_and_of_bounded_length() -> None:
    loaded = load(markdown(f"description: {'word ' * 300}\n", described=False))
    assert len(loaded.definitions[0].description) == 1024
    assert place(loaded) == ("description.long", 3, 14, "warning")
    assert loaded.definitions[0].state == "ready"
    assert skill(markdown("description: |\n  a\n  b\n", described=False)).description == "a b"


# -- allowed-tools ----------------------------------------------------------------------------------------------------


@pytest.mark.spec("R-SK-9", "R-PAT-5", "R-PAT-6")
@pytest.mark.parametrize(
    ("head", "allowed"),
    [
        ("", None),
        ("allowed-tools: ''\n", ""),
        ("allowed-tools: []\n", ""),
        ("allowed-tools: a b-*\n", "a b-*"),
        ("allowed-tools: [a, b]\n", "a b"),
        ("allowed-tools:\n  - a\n  - bash(cmd=git *)\n", "a bash(cmd=git *)"),
        ("allowed-tools:\n- '*'\n- '#x($deny)'\n", "* #x($deny)"),
        ("allowed-tools: '*'\n", "*"),
    ],
)
def test_allowed_tools_as_text_and_as_a_list(head: str, allowed: str | None) -> None:
    loaded = load(markdown(head))
    assert loaded.definitions[0].allowed_tools == allowed
    assert loaded.problems == ()


@pytest.mark.spec("R-PAT-14")
@pytest.mark.parametrize(
    ("head", "line", "column"),
    [
        ("allowed-tools: ok bad(\n", 4, 22),
        ("allowed-tools: 'ok bad('\n", 4, 23),
        ("allowed-tools:\n- ok\n- bad(\n", 6, 6),
        ("allowed-tools: [ok, 7]\n", 4, 21),
        ('allowed-tools: ["ok", "x("]\n', 4, 25),
        ("allowed-tools: [&a ok, bad(]\n", 4, 27),
        ("allowed-tools: 7\n", 4, 16),
        ("allowed-tools: {a: b}\n", 4, 16),
        ("allowed-tools:\n  - ok\n  - [x]\n", 6, 5),
        ("allowed-tools: x($nope)\n", 4, 18),
    ],
)
def test_a_list_that_cannot_be_read_allows_nothing_and_names_its_column(head: str, line: int, column: int) -> None:
    loaded = load(markdown(head))
    assert loaded.definitions[0].allowed_tools == ""
    assert loaded.definitions[0].state == "ready"
    assert place(loaded) == ("patterns.invalid", line, column, "warning")


@pytest.mark.spec("R-PAT-6")
@pytest.mark.parametrize(
    ("head", "allowed", "code"),
    [
        ("allowed-tools:\n", "", "patterns.empty"),
        ("allowedTools: a\n", "a", "key.alias"),
        ("allowed_tools: [a, b]\n", "a b", "key.alias"),
        ("metadata:\n  allowed-tools: a\n", "a", "key.nested"),
    ],
)
def test_a_limit_that_is_written_wrongly_still_limits(head: str, allowed: str, code: str) -> None:
    loaded = load(markdown(head))
    assert loaded.definitions[0].allowed_tools == allowed
    assert place(loaded)[0] == code
    assert place(loaded)[3] == "warning"


# -- metadata ---------------------------------------------------------------------------------------------------------


@pytest.mark.spec("C-2")
def test_flat_keys_are_read_as_metadata_with_a_warning_each() -> None:
    head = "params:\n  type: object\nrole: middleware\ntags: [x]\nvisibility: hidden\nmodel:\n  maxTurns: 3\nos: 1\n"
    loaded = load(markdown(head))
    (found,) = loaded.definitions
    assert (found.role, found.tags, found.visibility) == ("middleware", ("x",), "hidden")
    assert found.params == {"type": "object"}
    assert found.metadata["model"] == {"maxTurns": 3}
    assert found.extras == {"os": 1}
    assert {problem.code for problem in loaded.problems} == {"key.flat"}
    assert [problem.line for problem in loaded.problems] == [4, 6, 7, 8, 9]
    assert found.state == "ready"


def test_of_a_key_in_both_places_the_one_in_metadata_counts() -> None:
    loaded = load(markdown("category: read\nmetadata:\n  category: admin\n"))
    assert loaded.definitions[0].category == "admin"
    assert place(loaded) == ("key.flat", 4, 11, "warning")


def test_a_model_that_is_only_a_name_stays_what_it_is_in_other_apps() -> None:
    found = skill(markdown("model: sonnet\n"))
    assert found.extras == {"model": "sonnet"}
    assert "model" not in found.metadata


@pytest.mark.parametrize("value", ["7", "text", "[a]"])
def test_metadata_that_is_no_mapping_is_an_error_at_its_place(value: str) -> None:
    loaded = load(markdown(f"metadata: {value}\n"))
    assert loaded.definitions[0].state == "broken"
    assert place(loaded) == ("metadata.invalid", 4, 11, "error")


@pytest.mark.spec("R-VIS-3")
@pytest.mark.parametrize(
    ("value", "tags", "code"),
    [
        ("[Big Data, big--data, ' !x! ', '', B]", ("big-data", "x", "b"), None),
        ("a, b c", ("a", "b", "c"), "tags.text"),
        ("[1, {a: b}, x]", ("1", "x"), None),
        ("7", (), "tags.invalid"),
        ("", (), None),
    ],
)
def test_tags_are_normalised(value: str, tags: tuple[str, ...], code: str | None) -> None:
    loaded = load(markdown(f"metadata:\n  tags: {value}\n"))
    assert loaded.definitions[0].tags == tags
    assert [problem.code for problem in loaded.problems] == ([code] if code else [])


@pytest.mark.spec("R-SK-10", "R-VIS-5")
@pytest.mark.parametrize("tag", ["meta-internal", "Meta_Internal", "META internal!", "meta--action"])
def test_only_the_library_carries_reserved_tags(tag: str) -> None:
    text = markdown(f"metadata:\n  category: read\n  tags: [a, '{tag}']\n")
    for source in ("mine", "shared", "project", "mcp"):
        loaded = load(text, source=source)  # type: ignore[arg-type]
        assert loaded.definitions[0].tags == ("a",)
        assert loaded.definitions[0].metadata["tags"] == ["a"]
        assert place(loaded) == ("tags.reserved", 6, 9, "warning")
    assert load(text, source="library").problems == ()
    assert any(tag.startswith("meta-") for tag in skill(text, source="library").tags)


@pytest.mark.spec("R-SK-10")
@pytest.mark.parametrize(
    "head", ["metadata:\n  role: main\n", "metadata:\n  main: true\n", "role: main\n", "main: true\n"]
)
def test_role_main_counts_in_a_project_and_in_the_library_only(head: str) -> None:
    assert skill(markdown(head), source="project").role == "main"
    assert skill(markdown(head), source="library").role == "main"
    for source in ("mine", "shared"):
        loaded = load(markdown(head), source=source)  # type: ignore[arg-type]
        (found,) = loaded.definitions
        assert found.role == ""
        assert not {"role", "main"} & found.metadata.keys()
        assert "role.main" in {problem.code for problem in loaded.problems}


def test_a_folder_skill_is_context_unless_it_says_otherwise_or_is_the_librarys() -> None:
    assert skill(markdown(""), "a/SKILL.md").role == "context"
    assert skill(markdown("metadata:\n  role:\n"), "a/SKILL.md").role == ""
    assert skill(markdown("metadata:\n  role: middleware\n"), "a/SKILL.md").role == "middleware"
    assert skill(markdown(""), "a/SKILL.md", source="library").role == ""
    assert skill(markdown("")).role == ""


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("role: boss", "role.invalid"),
        ("visibility: private", "visibility.invalid"),
        ("category: Read", "category.invalid"),
        ("activatable: often", "activatable.invalid"),
        ("activatable: true", "activatable.useless"),
    ],
)
def test_a_word_that_is_none_of_the_known_ones_is_a_warning_at_its_place(line: str, code: str) -> None:
    loaded = load(markdown(f"metadata:\n  author: y\n  {line}\n"))
    assert place(loaded) == (code, 6, line.index(":") + 5, "warning")
    assert loaded.definitions[0].state == "ready"


def test_middleware_with_params_may_be_opened_to_calls() -> None:
    opened = "metadata:\n  role: middleware\n  activatable: true\n"
    assert load(markdown(opened + "  params: {type: object}\n")).problems == ()
    assert [problem.code for problem in load(markdown(opened)).problems] == ["activatable.useless"]
    assert load(markdown("metadata:\n  activatable: false\n")).problems == ()


@pytest.mark.spec("Q-2")
def test_categories_are_as_declared_or_follow_from_the_kind() -> None:
    python = 'frontmatter = {"name": "a", "description": "d"%s}\ndef run(ctx, args): ...\n'
    assert effective_category(skill(markdown(""))) is Category.READ
    assert effective_category(skill(markdown(""), "a/SKILL.md")) is Category.READ
    assert effective_category(skill(markdown("metadata:\n  category: write\n"))) is Category.WRITE
    assert effective_category(skill(markdown("metadata:\n  category: none\n"))) is Category.ADMIN
    assert effective_category(skill(python % "", "a.skill.py")) is Category.ADMIN
    assert effective_category(skill(python % ', "metadata": {"category": "read"}', "a.skill.py")) is Category.READ
    assert effective_category(SkillDef("a", "d", "program", "program")) is Category.ADMIN
    assert effective_category(SkillDef("a", "d", "markdown", "mcp")) is Category.ADMIN
    assert place(load(markdown(""), source="library"))[0] == "category.missing"
    assert effective_category(skill(markdown(""), source="library")) is Category.ADMIN


def test_a_programmatic_tool_has_its_own_category() -> None:
    class Tool:
        spec = ToolSpec("t", "d", {}, Category.WRITE)

    assert effective_category(SkillDef("t", "d", "program", "program", tool=Tool())) is Category.WRITE  # type: ignore[arg-type]


def test_a_folder_skill_with_another_name_than_its_folder_is_warned_about() -> None:
    loaded = load(markdown("license: MIT\ncompatibility: Needs git\n"), "other/SKILL.md")
    assert place(loaded) == ("name.folder", 2, 7, "warning")
    assert loaded.definitions[0].extras == {"license": "MIT", "compatibility": "Needs git"}
    assert load(markdown(""), "a/SKILL.md").problems == ()
    assert load(markdown("", name="2048"), "2048/SKILL.md").problems == ()


# -- files that cannot be read ----------------------------------------------------------------------------------------


@pytest.mark.spec("R-SK-2")
@pytest.mark.parametrize(
    ("data", "code", "line", "column"),
    [
        (b"---\nname: a\ndescription: \xc3\xa9 \xff\n---\n", "file.encoding", 3, 16),
        (b"---\nname: a\ndescription: d\n---\n\xe2\x82", "file.encoding", 5, 1),
        ("---\nname: a\n---\n".encode("utf-16"), "file.encoding", 1, 1),
        (b"", "frontmatter.missing", 1, 1),
        (b"# just text\n", "frontmatter.missing", 1, 1),
        (b"\n---\nname: a\n---\n", "frontmatter.missing", 1, 1),
        (b"---\nname: a\n", "frontmatter.open", 2, 1),
        (b"---\nname: a\n ---\n", "frontmatter.open", 3, 1),
        (b"---", "frontmatter.open", 1, 1),
        (b"---\n" + b"x: y\n" * 20_000 + b"---\n", "frontmatter.too-large", 1, 1),
        (b"---\nname: a\n---\n" + b"x" * MAX_BYTES, "file.too-large", 1, 1),
        (b"---\nname: a\x00\ndescription: d\n---\n", "frontmatter.yaml", 2, 8),
    ],
)
def test_bytes_that_are_no_skill(data: bytes, code: str, line: int, column: int) -> None:
    loaded = load(data)
    assert loaded.definitions == ()
    assert place(loaded) == (code, line, column, "error")


def test_a_file_of_ten_megabytes_is_refused_by_its_size(tmp_path: Path) -> None:
    path = saved(tmp_path / "big.skill.md", b"---\n" + b"a: b\n" * 2_000_000)
    loaded = load_skills_from_file(path, source="mine", root="")
    assert place(loaded) == ("file.too-large", 1, 1, "error")
    assert "10,000,004" in loaded.problems[0].message


def test_a_file_that_has_gone_a_folder_and_a_name_no_file_can_have(tmp_path: Path) -> None:
    (tmp_path / "dir.skill.md").mkdir()
    cases = {"none.skill.md": "file.gone", "dir.skill.md": "file.unreadable", "nul\0.skill.md": "file.unreadable"}
    for name, code in cases.items():
        loaded = load_skills_from_file(str(tmp_path / name), source="mine", root="")
        assert (loaded.stamp, problem(loaded).code) == ("", code)


def test_a_named_pipe_holds_nobody_up(tmp_path: Path) -> None:
    path = tmp_path / "pipe.skill.md"
    os.mkfifo(path)
    found: list[str] = []
    thread = threading.Thread(
        target=lambda: found.append(problem(load_skills_from_file(str(path), source="mine", root="")).code), daemon=True
    )
    thread.start()
    thread.join(WAIT_S)
    assert found == ["file.unreadable"]


def test_a_file_that_nobody_may_read_is_a_problem(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.skill.md", markdown(""))
    os.chmod(path, 0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    assert problem(load_skills_from_file(path, source="mine", root="")).code == "file.unreadable"


def test_a_byte_order_mark_and_windows_line_ends_are_no_obstacle(tmp_path: Path) -> None:
    text = "\ufeff---\r\nname: a\r\ndescription: 'd'\r\nmetadata:\r\n  tags:\r\n  - x\r\n---\r\nbody\r\n"
    found = read(saved(tmp_path / "a.skill.md", text))
    assert (found.name, found.description, found.tags, found.problems) == ("a", "d", ("x",), ())
    assert read_body(found) == "body\r\n"


def test_what_is_read_can_be_written_as_json() -> None:
    head = (
        "metadata:\n  at: 2020-01-01\n  when: 2020-01-01T10:00:00Z\n  clock: 12:30\n  big: 99999999999999999999999\n"
        "  nan: .nan\n  1: one\n  true: yes\n  list: [1, 2.5, ~, off]\n  octal: 0123\n  under: 1_000\n"
    )
    found = skill(markdown(head))
    assert json.loads(json.dumps(found.metadata, allow_nan=False)) == {
        "at": "2020-01-01",
        "when": "2020-01-01T10:00:00Z",
        "clock": "12:30",
        "big": "99999999999999999999999",
        "nan": ".nan",
        "1": "one",
        "true": True,
        "list": [1, 2.5, None, False],
        "octal": "0123",
        "under": "1_000",
    }


# -- bodies -----------------------------------------------------------------------------------------------------------


@pytest.mark.spec("R-SK-1")
def test_a_body_that_was_edited_is_read_as_it_is_now(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.skill.md", markdown("", "one"))
    found = read(path)
    saved(tmp_path / "a.skill.md", markdown("# a comment\nlicense: MIT\n", "two, and longer"))
    assert read_body(found) == "two, and longer"


@pytest.mark.spec("R-INV-3", "R-RES-20")
def test_a_body_under_other_rules_than_were_listed_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.skill.md", markdown("allowed-tools: file-read\n", "one"))
    found = read(path)
    saved(tmp_path / "a.skill.md", markdown("allowed-tools: file-read bash\n", "two"))
    with pytest.raises(KnownError, match="has changed since it was listed") as caught:
        read_body(found)
    assert caught.value.code == "skill.changed"


@pytest.mark.parametrize("text", [None, "", markdown("", name="b"), b"\xff"])
def test_a_body_of_a_file_that_no_longer_has_the_skill_is_not_found(text: str | bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "a.skill.md"
    found = read(saved(path, markdown("")))
    if text is None:
        path.unlink()
    else:
        saved(path, text)
    with pytest.raises(NotFound):
        read_body(found)


def test_a_code_skills_body_is_its_file_and_a_programs_is_none(tmp_path: Path) -> None:
    text = 'frontmatter = {"name": "a", "description": "d"}\ndef run(ctx, args): ...\n'
    assert read_body(read(saved(tmp_path / "a.skill.py", text))) == text
    with pytest.raises(NotFound):
        read_body(SkillDef("a", "d", "program", "program"))


@pytest.mark.spec("R-VIS-5")
def test_the_library_that_ships_has_no_problem_at_all() -> None:
    paths = [path for path in sorted(LIBRARY.rglob("*")) if path.is_file() and skill_kind(str(path)) is not None]
    assert paths
    for path in paths:
        loaded = load_skills_from_file(str(path), source="library", root=str(LIBRARY))
        assert loaded.problems == ()
        assert all("meta-internal" in found.tags and found.category for found in loaded.definitions)
