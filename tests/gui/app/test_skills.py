"""Skills in the whole app: found, called, gated, brought into a chat, and off until they are trusted."""

from pathlib import Path

import pytest

from tests.gui.app.kit import call

COUNT = """\
frontmatter = {
    "name": "word-count",
    "description": "Counts the words of a file.",
    "metadata": {
        "category": "read",
        "params": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
}


async def run(ctx, args):
    text = await ctx.manager.invoke("read-file", {"path": args["path"]})
    await ctx.manager.invoke("write-file", {"path": "count.txt", "content": str(len(text.split()))})
    return {"words": len(text.split())}
"""


def skills_of(tmp_path: Path, **files: str) -> Path:
    folder = tmp_path / "home" / "skills"
    folder.mkdir(parents=True, mode=0o700)
    (tmp_path / "home").chmod(0o700)
    for name, text in files.items():
        (folder / name.replace("__", ".").replace("_", "-")).write_text(text)
    return folder


@pytest.mark.spec("R-SK-14", "R-INV-2", "R-DSC-9", "R-PRM-1")
async def test_a_skill_in_code_runs_apart_and_its_write_is_asked_about_with_the_whole_chain(start, tmp_path):
    skills_of(tmp_path, word_count__skill__py=COUNT)
    app = await start(
        call("skill_list", query="words"),
        call("skill_invoke", ref="word-count", args={"path": "text.txt"}),
        [{"text": "Counted."}],
    )
    (app.home.path / "workspace" / "text.txt").write_text("one two three")
    app.say("count it")
    request = await app.asked()
    assert request.tool == "write-file"
    assert "word-count" in request.chain
    assert request.preview["after"] == "3"
    app.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)
    await app.answered("Counted.")
    assert (app.home.path / "workspace" / "count.txt").read_text() == "3"
    assert '"words": 3' in "".join(part.result for part in app.calls)


@pytest.mark.spec("R-SK-12", "R-SK-13")
async def test_a_skill_named_in_a_message_is_known_to_the_model_as_soon_as_it_is_saved(start, tmp_path):
    skills_of(tmp_path)
    app = await start([{"text": "Arr."}], [{"text": "Hello."}], [{"text": "Bye."}])
    services = app.startup._services
    seen = services.models.client._special["scripted"].requests
    path = await services.skill_service.create("pirate", "markdown")
    for said, text in (("Arr.", "Talk like a pirate."), ("Hello.", "Talk like a parrot.")):
        opened = await services.skill_service.open(path)
        before = opened.text.partition("---\n")[2].partition("---\n")[0]
        await services.skill_service.save(opened, f"---\n{before}---\n{text}\n")
        app.say("/pirate hello")
        await app.answered(said)
        assert f"# Skill: pirate\n\n{text}" in seen[-1].beside
    app.say("and without")
    await app.answered("Bye.")
    assert (len(seen), "pirate" in seen[-1].instructions) == (3, False)


@pytest.mark.spec("R-SK-15")
async def test_a_project_that_is_not_trusted_is_listed_and_neither_offered_nor_run(start, tmp_path):
    project = tmp_path / "project"
    (project / ".agents" / "skills").mkdir(parents=True)
    (project / ".agents" / "skills" / "evil.skill.md").write_text("---\nname: evil\ndescription: words\n---\nEvil.\n")
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    settings = f"models:\n  default: scripted/scripted\nskills:\n  projects: [{project}]\n"
    (home / "config.yaml").write_text(settings)
    app = await start(call("skill_list", query="evil"), call("skill_invoke", ref="evil"), [{"text": "Nothing."}])
    service = app.startup._services.skill_service
    path = str(project / ".agents" / "skills" / "evil.skill.md")
    await app.until(lambda: service.catalog().find((path, "evil")) is not None, "listed")
    app.say("go")
    await app.answered("Nothing.")
    assert app.calls[0].result.strip() == "[]"
    assert app.calls[1].state in ("failed", "denied")
    assert not app.models.approvals.requests


@pytest.mark.spec("R-RES-10", "R-UI-2")
async def test_the_apps_own_tools_are_listed_beside_the_skills(start):
    app = await start([{"text": "Hello."}])
    service = app.startup._services.skill_service
    catalog = service.catalog()
    rows = {catalog.row(row).name for row in catalog.filter()}
    assert {"read-file", "write-file", "list-directory", "bash", "skill-list"} <= rows
    detail = await service.detail(("", "bash"))
    assert detail.spec is not None
    assert detail.category.value == "write"
    assert any(one.allowed for one in detail.may_call)
