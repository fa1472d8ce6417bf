"""A key that this computer keeps, in what a person or a model writes: it reaches neither the disk nor the model."""

from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from desktop.domain.approval.rules import RuleDraft
from desktop.domain.context import Overlay
from desktop.domain.debates import DebateSetup, SideSetup
from desktop.domain.errors import ConfigurationError
from desktop.domain.jobs import Job, JobPolicy
from desktop.domain.messages import FileBlock, NoticeBlock, TextBlock
from desktop.domain.models import Finished, ModelRequest, TextDelta
from desktop.domain.runs.meta import RunMeta
from desktop.safety.secrets.model_filter import MaskedModel
from desktop.safety.secrets.redaction import SecretRedactor
from desktop.services.agents.editing import AgentFileService
from desktop.services.debates.service import DebateService
from desktop.services.definitions.saving import saver
from desktop.services.rules.editing import RuleService
from desktop.services.rules.trust import TrustRules
from desktop.services.schedules.service import JobService, JobSurroundings
from desktop.services.threads.context import ContextService
from desktop.skills.patterns.paths import Where
from desktop.tools.person_file import CannotSaveTools
from tests.unit.services.kit import MODEL, world

KEY = "sk-live-0123456789abcdef"


class Echo:
    """A server that says the key it was sent, a letter at a time, and keeps what it was asked."""

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest, meta: RunMeta):
        self.requests.append(request)
        for letter in f"key {KEY}!":
            yield TextDelta(letter)
        yield Finished("end")


def knowing() -> SecretRedactor:
    redactor = SecretRedactor()
    redactor.remember(KEY)
    return redactor


@pytest.mark.spec("R-SEC-1", "R-SEC-5")
async def test_a_key_that_the_server_repeats_or_the_person_pastes_is_nowhere_on_the_disk(tmp_path: Path) -> None:
    redactor, echo = knowing(), Echo()
    async with world(tmp_path, MaskedModel(echo, redactor), mask=redactor.mask_known) as made:
        thread = await made.thread()
        await made.service.save_draft(thread, f"draft {KEY}", (FileBlock("k.txt", KEY),))
        await made.service.keep_edited(thread, "m", f"edited {KEY}")
        question, answer = await made.ask(thread, f"use {KEY}", FileBlock("keys.txt", f"a={KEY}"))
        await made.service.rename(thread, f"about {KEY}")
        found = await made.service.search("live")
        written = (await made.service.draft(thread), await made.service.edited(thread))
        shown = repr((question, answer, found, made.events, written, echo.requests))
        assert KEY not in shown
        assert answer.blocks == (TextBlock("key [REDACTED]!"),)
        assert question.blocks[0] == TextBlock("use [REDACTED]")
        (notice,) = [block for block in question.blocks if isinstance(block, NoticeBlock)]
        assert "keyring" in notice.text
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert KEY.encode() not in stored
    assert b"key [REDACTED]!" in stored


@pytest.mark.spec("R-SEC-1")
async def test_an_ordinary_message_has_no_notice_and_an_edited_one_loses_its_own(tmp_path: Path) -> None:
    redactor = knowing()
    async with world(tmp_path, MaskedModel(Echo(), redactor), mask=redactor.mask_known) as made:
        thread = await made.thread()
        first, *_ = await made.ask(thread, f"use {KEY}")
        await made.service.edit(first.message_id, "use nothing")
        (question, *_) = await made.settled(thread)
        assert question.blocks == (TextBlock("use nothing"),)


@pytest.mark.spec("R-SEC-1", "R-CRON-2", "R-PRM-11", "R-DEF-1")
async def test_what_is_kept_besides_messages_holds_no_key_and_a_rule_that_holds_one_says_so(tmp_path: Path) -> None:
    redactor = knowing()
    mask = redactor.mask_known
    async with world(tmp_path, MaskedModel(Echo(), redactor), mask=mask) as made:
        around = JobSurroundings(admin_allowed=lambda: False, default_model=lambda: MODEL, where=Where("/w", "/h"))
        jobs = JobService(made.runtime, made.service, around)
        job = Job("", f"Job {KEY}", f"use {KEY}", "0 * * * *", "UTC", model=MODEL)
        kept = await jobs.save(job)
        assert (kept.name, kept.message) == ("Job [REDACTED]", "use [REDACTED]")
        await jobs.restore(replace(job, job_id="another"))
        with pytest.raises(ConfigurationError, match=r"policy.allowed_tools\[0\]: This holds a key") as refused:
            await jobs.save(replace(job, policy=JobPolicy((f"bash(command=curl {KEY})",))))
        await made.service.create_thread(title=f"about {KEY}", model=MODEL)
        thread = await made.thread()
        summary = Overlay(summary=f"They use {KEY}.", upto="m", summarised=4)
        await ContextService(made.store, mask).summarised(thread, summary)
        side = SideSetup("assistant", label=f"with {KEY}", model=MODEL)
        debates = DebateService(made.runtime, made.owner, saver(tmp_path / "agents", mask))
        setup = DebateSetup(f"about {KEY}", side, replace(side, prompt_text=KEY))
        await debates.create(setup)
        saved = Path(await debates.save_as_agent(setup, "a_debate", f"with {KEY}"))
        assert "[REDACTED]" in saved.read_text()
        book = TrustRules(kept=made.store.rules, mask=mask)
        pattern = f"bash(command=curl -H {KEY} *)"
        with pytest.raises(ConfigurationError, match="not saved as a rule"):
            await book.add({"pattern": pattern, "policy": "deny"})
        with pytest.raises(ConfigurationError, match="not saved as a rule"):
            await book.add({"tool": "bash", "constraint": KEY, "policy": "allow"})
        problem = RuleService(book, list, nothing_tried).check(RuleDraft(pattern, "deny"))
        assert problem is not None
        assert pattern[problem.start : problem.start + problem.length] == KEY
        file = AgentFileService(saved, lambda: None, lambda _name, _path: "", mask)
        text = f"name: a_debate\ntitle: A\ndescription: its key is {KEY}.\nsideA:\n  prompt: assistant\n"
        assert [(one.line, one.column) for one in file.check(text).problems if one.code == "agent.key"] == [(3, 25)]
        with pytest.raises(CannotSaveTools, match="holds a key"):
            file.save(text, file.read().stamp)
    assert KEY not in str(refused.value)
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert KEY.encode() not in stored
    assert b"They use [REDACTED]." in stored


def nothing_tried(*_rule: object) -> NoReturn:
    raise AssertionError("nothing is tried here")


@pytest.mark.spec("R-SEC-4")
async def test_a_title_never_holds_what_looks_like_a_key_and_an_export_nothing_that_is_known_by_now(
    tmp_path: Path,
) -> None:
    redactor, pasted = SecretRedactor(), "ghp_0123456789abcdefghijABCD"
    clean = {"mask": redactor.mask_known, "redact": redactor.redact_text}
    async with world(tmp_path, MaskedModel(Echo(), redactor), **clean) as made:
        thread = await made.thread()
        question, *_ = await made.ask(thread, f"{pasted} is my token")
        assert question.blocks == (TextBlock(f"{pasted} is my token"),), "no keyring keeps it: it is the person's text"
        (listed,) = await made.service.threads()
        assert pasted not in listed.title
        for form in ("md", "html", "json"):
            assert pasted.encode() in await made.service.export(thread, form)
        redactor.remember(pasted)
        for form in ("md", "html", "json"):
            assert pasted.encode() not in await made.service.export(thread, form)
