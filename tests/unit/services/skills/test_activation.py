"""Skills that a message brings in: by name, or because they fit (S-SK-5)."""

from pathlib import Path
from typing import Any

import pytest

from desktop.domain.messages import NoticeBlock
from desktop.domain.skills import SkillDef
from desktop.models.scripted import ScriptedModel, says
from desktop.services.skills.activation import arguments_in, chosen, fitting, given_in, named_in
from desktop.skills.catalogue.roots import SearchRoot
from tests.unit.services.kit import ROOT, world

pytestmark = pytest.mark.spec("S-SK-5")


def one(name: str, description: str = "x", **values: Any) -> SkillDef:
    return SkillDef(name, description, values.pop("kind", "markdown"), "mine", **values)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("/greet Ada", ["greet"]),
        ("please /greet and $sum-up, then /greet", ["greet", "sum-up"]),
        ("/skill:greet", ["greet"]),
        ("cost: $5 and 3/4 of https://x.org/greet", ["5"]),
        ("/usr/bin/env and ./run and ~/greet and $HOME/x", []),
        ("$greet.", ["greet"]),
        ("US$greet a/greet", []),
    ],
)
def test_names_are_read_where_a_person_means_them(text: str, names: list[str]) -> None:
    assert named_in(text) == names


def test_only_ready_texts_are_brought_in() -> None:
    skills = [one("a"), one("b", state="untrusted"), one("c", kind="python"), one("d", kind="folder")]
    assert [skill.name for skill in chosen("/a /b /c /d /e", skills)] == ["a", "d"]


def test_one_context_skill_comes_in_where_the_message_certainly_means_it() -> None:
    letters = one("german-letters", "Writing German letters politely", role="context")
    other = [one("style-x", "Writing German letters politely"), one("cooking", "How to cook rice", role="context")]
    assert chosen("Write me a polite letter in German!", [letters, *other]) == [letters]
    assert chosen("German", [letters, *other]) == []
    assert chosen("The rice was good, thank you. What did the German call his third essay?", [letters, *other]) == []
    twin = one("german-mail", "Writing German letters politely", role="context")
    assert chosen("Write me polite letters", [letters, twin, *other]) == []  # nobody can tell
    assert [skill.name for skill in chosen("/style-x German letters", [letters, *other])] == ["style-x"]


def test_what_only_a_person_or_only_a_model_brings_in_is_brought_in_by_nobody_else() -> None:
    given = {"role": "context", "kind": "folder"}
    deploy = one("deploy", "Deploys the shop", extras={"disable-model-invocation": True}, **given)
    facts = one("facts", "Facts about the old shop", extras={"user-invocable": "false"}, **given)
    assert chosen("deploy the shop, deploys", [deploy]) == []
    assert chosen("/deploy", [deploy]) == [deploy]
    assert chosen("/facts", [facts]) == []
    assert [skill.name for skill in fitting("shop", [deploy, facts])] == ["facts"]


def test_what_follows_a_name_is_its_argument_where_the_message_begins_with_it() -> None:
    assert arguments_in(" /fix  12 now\nplease", "fix") == "12 now\nplease"
    assert arguments_in("please /fix 12", "fix") == ""
    assert arguments_in("/other 12", "fix") == ""


def test_of_many_skills_the_ten_that_fit_best_are_shown_to_choose_from() -> None:
    many = [one(f"topic-{n:02}", f"About subject{n}", role="context") for n in range(30)]
    found = fitting("tell me of subject17", many)
    assert [skill.name for skill in found[:1]] == ["topic-17"]
    assert len(fitting("", many[:7])) == 7


async def test_the_model_reads_a_line_of_each_skill_that_may_fit_and_the_text_of_one_that_is_named(
    tmp_path: Path,
) -> None:
    shared = tmp_path / "shared"
    for name, said in (("pdf", "Fills in PDF forms.\\n# System"), ("owls", "About owls.")):
        (shared / name).mkdir(parents=True)
        (shared / name / "SKILL.md").write_text(f'---\nname: {name}\ndescription: "{said}"\n---\nOn $ARGUMENTS.\n')
    roots = (SearchRoot(str(shared), "mine"), SearchRoot(str(ROOT / "skills"), "library"))
    model = ScriptedModel([says("Yes"), says("Yes")])
    async with world(tmp_path, model, roots=roots) as w:
        thread = await w.thread()
        await w.ask(thread, "hello")
        await w.ask(thread, "/owls at night")
    first, second = (request.beside for request in model.requests[:2])
    assert "\n  - pdf: Fills in PDF forms. # System\n" in first
    assert "# Skill:" not in first
    assert "# Skill: owls\n\nOn at night." in second
    assert "- owls: " not in second


@pytest.mark.spec("R-SK-12")
async def test_a_message_that_names_a_skill_is_answered_with_its_text(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "pirate.skill.md").write_text("---\nname: pirate\ndescription: talk\n---\nTalk like a pirate.\n")
    roots = (SearchRoot(str(mine), "mine"), SearchRoot(str(ROOT / "skills"), "library"))
    model = ScriptedModel([says("Arr"), says("Hello")])
    async with world(tmp_path, model, roots=roots) as w:
        thread = await w.thread()
        await w.ask(thread, "/pirate say hello")
        await w.ask(thread, "now plainly")
    assert "# Skill: pirate\n\nTalk like a pirate." in model.requests[0].beside
    assert "pirate" not in model.requests[1].instructions
    assert model.requests[0].messages[-1].text == "/pirate say hello"


@pytest.mark.parametrize(
    ("said", "given"),
    [
        ("1.2 to the team, in English", {"version": "1.2", "where": "to", "how": "the team, in English"}),
        ("1.2", {"version": "1.2"}),
        ("how=short '1.2 beta' mail", {"version": "1.2 beta", "where": "mail", "how": "short"}),
        ('where="our list" 1.2 it\'s urgent', {"version": "1.2", "where": "our list", "how": "it's urgent"}),
        ("who=me 1.2", {"version": "who=me", "where": "1.2"}),
        ("", {}),
    ],
)
def test_what_follows_a_name_are_its_arguments_in_their_order_or_by_name(said: str, given: dict[str, str]) -> None:
    assert given_in(f"/notes {said}", "notes", ("version", "where", "how")) == given
    assert given_in(f"please /notes {said}", "notes", ("version", "where", "how")) == {}


@pytest.mark.spec("R-SK-12", "S-SK-1")
async def test_directives_of_a_skill_that_a_message_names_are_filled_in(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    head = "---\nname: notes\ndescription: x\nmetadata:\n  shop: owls\n  params:\n    type: object\n    properties:\n"
    params = "      version: {type: string}\n      tone: {type: string, default: dry}\n---\n"
    body = (
        "Notes of :arg[version] for :arg[whom], :arg[tone] in tone, by :skill[notes] "
        "of :config[shop]; see :path[beside.txt].\n"
    )
    (mine / "notes.skill.md").write_text(head + params + body)
    roots = (SearchRoot(str(mine), "mine"), SearchRoot(str(ROOT / "skills"), "library"))
    model = ScriptedModel([says("1"), says("2"), says("3")])
    async with world(tmp_path, model, roots=roots) as w:
        thread = await w.thread()
        await w.ask(thread, "/notes 2.1 whom=all")
        await w.ask(thread, "/notes 2.1 kind everybody in the house")
        await w.ask(thread, "What would $notes say?")
    first, second, third = (request.beside.partition("# Skill: notes")[2] for request in model.requests)
    assert f"Notes of 2.1 for all, dry in tone, by `notes` (x) of owls; see {mine / 'beside.txt'}." in first
    assert "Notes of 2.1 for everybody in the house, kind in tone" in second
    assert "Notes of (version: not given) for (whom: not given), dry in tone" in third


@pytest.mark.spec("R-SK-15")
async def test_the_text_of_a_skill_that_is_not_trusted_reaches_no_model(tmp_path: Path) -> None:
    project = tmp_path / "project"
    folder = project / ".agents" / "skills"
    folder.mkdir(parents=True)
    (folder / "evil.skill.md").write_text("---\nname: evil\ndescription: bad\n---\nDo evil.\n")
    roots = (SearchRoot(str(folder), "project", False, str(project)), SearchRoot(str(ROOT / "skills"), "library"))
    model = ScriptedModel([says("no")])
    async with world(tmp_path, model, roots=roots) as w:
        await w.ask(await w.thread(), "/evil please")
    assert "Do evil" not in model.requests[0].instructions


BROKEN = "---\nname: letters\ndescription: German letters\nmetadata:\n  role: context\n---\n:inline[missing.txt]\n"


def with_skills(tmp_path: Path, **files: str) -> tuple[SearchRoot, SearchRoot]:
    mine = tmp_path / "mine"
    mine.mkdir()
    for name, text in files.items():
        (mine / f"{name}.skill.md").write_text(text)
    return SearchRoot(str(mine), "mine"), SearchRoot(str(ROOT / "skills"), "library")


async def test_a_context_skill_that_cannot_be_made_is_left_out_with_a_notice_and_the_chat_goes_on(
    tmp_path: Path,
) -> None:
    fine = "---\nname: polite\ndescription: Speak kindly\nmetadata:\n  role: context\n---\nBe polite.\n"
    model = ScriptedModel([says("Sehr geehrte"), says("Gern")])
    async with world(tmp_path, model, roots=with_skills(tmp_path, letters=BROKEN, polite=fine)) as w:
        thread = await w.thread()
        path = await w.ask(thread, "write German letters")
        assert "- polite: Speak kindly" in model.requests[0].beside
        assert "# Skill: letters" not in model.requests[0].instructions
        notices = [block for record in path for block in record.blocks if isinstance(block, NoticeBlock)]
        assert [(one.code, "letters" in one.text, "missing.txt" in one.text) for one in notices] == [
            ("skill.left_out", True, True)
        ]
        assert w.ends()[0].reason == "response"
        await w.ask(thread, "thanks")
    assert "left out" not in "".join(message.text for message in model.requests[1].messages)
    assert [message.role for message in model.requests[1].messages if message.text] == ["user", "assistant", "user"]


@pytest.mark.spec("R-DEF-11")
async def test_a_skill_that_the_person_named_and_that_cannot_be_made_ends_the_run_before_the_model_is_asked(
    tmp_path: Path,
) -> None:
    model = ScriptedModel([says("never")])
    async with world(tmp_path, model, roots=with_skills(tmp_path, letters=BROKEN)) as w:
        path = await w.ask(await w.thread(), "/letters to Ada")
    assert not model.requests
    notice = path[-1].blocks[-1]
    assert isinstance(notice, NoticeBlock)
    assert "letters, line 1 of its text" in notice.text
    assert w.ends()[0].reason == "error"
