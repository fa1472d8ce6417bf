"""The list of threads and what changes it."""

import sqlite3
from datetime import datetime

import pytest

from desktop.domain.errors import NotFound
from desktop.domain.jobs import Job, JobRun
from desktop.domain.messages import Usage
from desktop.domain.threads import DraftRecord, QueuedRecord, ThreadJob, ThreadRecord
from desktop.services.schedules.retention import clear_away
from tests.harness.store import add_all, search_faults
from tests.samples import make_threads
from tests.unit.store.conftest import say


async def test_a_thread_comes_back_as_it_was_stored(store):
    record = ThreadRecord(
        "t",
        "Naïve \udcff \x00 数据",
        1.5,
        2.5,
        agent="writer",
        model="lab/qwen",
        pinned=True,
        deleted_at=None,
        titled_by="person",
        usage=Usage(1, 2, 3, 4, 0.5),
        label="demo",
        state="failed",
    )
    await store.threads.create(record=record)
    found = await store.threads.get(thread_id="t")
    assert found.title == "Naïve \ufffd \x00 数据"
    assert found == ThreadRecord(**{name: getattr(record, name) for name in record.__slots__} | {"title": found.title})


async def test_pinned_threads_come_first_then_the_last_used(store):
    threads = make_threads(600)
    for record in threads:
        await store.threads.create(record=record)
    found = await store.threads.list_all()
    assert found == sorted(threads, key=lambda t: (t.pinned, t.updated_at), reverse=True)
    assert any(t.pinned for t in found)
    oldest = found[-1].thread_id
    await store.messages.add(record=say("m1", None, thread_id=oldest, status="complete"))
    await store.threads.pin(thread_id=oldest, pinned=True)
    assert (await store.threads.list_all())[-1].thread_id != oldest


async def test_a_message_makes_its_thread_the_last_used(store, thread):
    await store.threads.create(record=ThreadRecord("u", "Other", 50.0, 50.0))
    assert [t.thread_id for t in await store.threads.list_all()] == ["u", "t"]
    await store.messages.add(record=say("m1", None))
    assert [t.thread_id for t in await store.threads.list_all()] == ["t", "u"]
    assert (await store.threads.get(thread_id="t")).updated_at == 101.0
    await store.threads.rename(thread_id="u", title="Renamed", by_person=True)
    assert [t.thread_id for t in await store.threads.list_all()] == ["t", "u"], "a new name is no new message"


async def test_a_title_that_a_person_chose_is_not_replaced_by_an_automatic_one(store, thread):
    assert await store.threads.rename(thread_id="t", title="Automatic", by_person=False)
    assert (await store.threads.get(thread_id="t")).titled_by == "auto"
    assert await store.threads.rename(thread_id="t", title="Mine", by_person=True)
    assert not await store.threads.rename(thread_id="t", title="Automatic", by_person=False)
    assert (await store.threads.get(thread_id="t")).title == "Mine"
    assert [hit.title for hit in await store.search.titles(text="mine")] == ["Mine"]
    assert await store.search.titles(text="automatic") == []


async def test_a_deleted_thread_is_gone_until_it_is_restored(store, thread):
    await store.messages.add(record=say("m1", None, "findable words"))
    await store.threads.delete(thread_id="t", at=500.0)
    assert await store.threads.list_all() == []
    assert await store.search.messages(text="findable") == []
    assert await store.search.titles(text="first") == []
    assert [t.deleted_at for t in await store.threads.list_all(deleted=True)] == [500.0]
    await store.threads.restore(thread_id="t")
    assert [t.thread_id for t in await store.threads.list_all()] == ["t"]
    assert len(await store.search.messages(text="findable")) == 1


async def test_purging_forgets_a_deleted_thread_and_everything_of_it(store, thread):
    records = [say("m0", None)] + [say(f"m{n}", f"m{n - 1}") for n in range(1, 1_200)]
    await add_all(store.messages, records)
    await store.drafts.put(draft=DraftRecord("t", "half a thought"))
    await store.queue.add(record=QueuedRecord("q", "t", "later"))
    await store.threads.purge(thread_id="t")
    assert len(await store.messages.path(thread_id="t")) == 1_200, "a thread in the list is not purged"
    await store.threads.delete(thread_id="t", at=500.0)
    assert await store.threads.deleted_before(at=400.0) == []
    assert await store.threads.deleted_before(at=501.0) == ["t"]
    assert await store.threads.deleted_before(at=501.0, but="mine") == ["t"]
    await store.threads.set_label(thread_id="t", label="mine")
    assert await store.threads.deleted_before(at=501.0, but="mine") == []
    await store.threads.purge(thread_id="t")
    with pytest.raises(NotFound):
        await store.threads.get(thread_id="t")
    assert await store.drafts.get(thread_id="t") is None
    assert await store.queue.waiting(thread_id="t") == []
    assert await search_faults(store) == []
    counts = await store._thread.read(
        lambda c: [c.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("messages", "blocks")]
    )
    assert counts == [0, 0]


async def test_usage_is_summed_and_an_unknown_cost_stays_unknown(store, thread):
    assert (await store.threads.get(thread_id="t")).usage == Usage()
    await store.threads.add_usage(thread_id="t", usage=Usage(100, 20, 5, 50, 0.25))
    assert await store.threads.add_usage(thread_id="t", usage=Usage(1, 1, 1, 1, 0.5)) == Usage(101, 21, 6, 51, 0.75)
    await store.threads.add_usage(thread_id="t", usage=Usage(1, 1))
    assert (await store.threads.get(thread_id="t")).usage == Usage(102, 22, 6, 51, None)


async def test_model_agent_and_label_are_changed_one_by_one(store, thread):
    await store.threads.set_model(thread_id="t", model="lab/qwen")
    await store.threads.set_agent(thread_id="t", agent="writer")
    await store.threads.set_label(thread_id="t", label="demo")
    await store.threads.set_state(thread_id="t", state="failed")
    found = await store.threads.get(thread_id="t")
    assert (found.model, found.agent, found.label, found.state) == ("lab/qwen", "writer", "demo", "failed")


async def test_a_thread_that_does_not_exist_is_told_in_words(store):
    for call in (
        store.threads.get(thread_id="x"),
        store.threads.rename(thread_id="x", title="", by_person=True),
        store.threads.pin(thread_id="x", pinned=True),
        store.threads.set_leaf(thread_id="x", message_id=None),
        store.messages.path(thread_id="x"),
        store.messages.add(record=say("m1", None, thread_id="x")),
    ):
        with pytest.raises((NotFound,), match="no longer exists"):
            await call
    await store.threads.purge(thread_id="x")


@pytest.mark.spec("R-CRON-6")
async def test_a_job_s_thread_says_whose_run_it_is_and_how_that_ended(store, tmp_path):
    await store.jobs.put(job=Job("j", "Report", "Do it.", "@daily"))
    for at, thread_id in enumerate(("a", "b", "lost", "mine")):
        record = ThreadRecord(thread_id, thread_id, at, at, label="" if thread_id == "mine" else "job")
        await store.threads.create(record=record)
    await store.jobs.note(run=JobRun("1", "j", 1.0, "done", thread_id="a"))
    await store.jobs.note(run=JobRun("2", "j", 2.0, "running", thread_id="b"))
    await store.jobs.note(run=JobRun("2", "j", 2.0, "limit", thread_id="b"))
    await store.jobs.delete(job_id="j", at=3.0)
    found = {thread.thread_id: thread.job for thread in await store.threads.list_all()}
    assert found == {
        "a": ThreadJob("j", "Report", "done", deleted=True),
        "b": ThreadJob("j", "Report", "limit", deleted=True),
        "lost": ThreadJob("", "", "", deleted=True),
        "mine": None,
    }
    assert [(await store.threads.get(thread_id=one)).job for one in ("b", "lost", "mine")] == [
        found["b"],
        found["lost"],
        None,
    ]
    broken = sqlite3.connect(tmp_path / "data" / "assent.db")
    broken.execute("UPDATE jobs SET job_json = '{'")
    broken.commit()
    broken.close()
    assert (await store.threads.get(thread_id="b")).job == ThreadJob("j", "", "limit", deleted=True)


@pytest.mark.spec("R-CRON-6")
async def test_old_threads_of_a_job_are_those_that_no_person_has_touched(store):
    await store.jobs.put(job=Job("j", "Report", "Do it.", "@daily"))
    touched = ("wrote", "pinned", "renamed", "drafted", "waiting", "running", "unfinished")
    names = ["oldest", *touched, "older", "new", "newest"]
    for at, name in enumerate(names):
        planned = at * 86_400.0
        title = f"Report, {datetime.fromtimestamp(planned):%d %b %H:%M}" if name != "renamed" else "March"
        record = ThreadRecord(name, title, at, at, label="job", pinned=name == "pinned", titled_by="person")
        await store.threads.create(record=record)
        await store.messages.add(record=say(f"{at}00", None, thread_id=name))
        status = "running" if name == "running" else "done"
        await store.jobs.note(run=JobRun(name, "j", planned, status, thread_id=name))
    await store.messages.add(record=say("9000", "100", thread_id="wrote"))
    await store.drafts.put(draft=DraftRecord("drafted", "hm"))
    await store.queue.add(record=QueuedRecord("q", "waiting", "and then"))
    await store.threads.set_state(thread_id="unfinished", state="interrupted")
    assert await store.threads.old_of_job(job_id="j", keep=2) == ["older", "oldest"]
    assert await store.threads.old_of_job(job_id="j", keep=4) == []
    assert await store.threads.old_of_job(job_id="other", keep=0) == []
    gone = []

    async def delete(thread_id):
        gone.append(thread_id)
        await store.threads.delete(thread_id=thread_id, at=1.0)

    assert await clear_away(store, delete, "j", keep=2) == 2
    assert gone == ["older", "oldest"]
    assert {thread.thread_id for thread in await store.threads.list_all()} == {*touched, "new", "newest"}
    history = {run.job_run_id: run.thread_id for run in await store.jobs.runs(job_id="j", limit=99)}
    assert history == {name: "" if name in gone else name for name in names}


@pytest.mark.spec("R-PRJ-1")
async def test_a_thread_has_no_project_but_the_one_that_was_chosen_for_it(store, thread):
    assert (await store.threads.get(thread_id="t")).project == ""
    await store.threads.create(record=ThreadRecord("u", "Other", 50.0, 50.0, project="/home/me/report"))
    assert [found.project for found in await store.threads.list_all()] == ["/home/me/report", ""]


async def test_what_was_kept_for_a_thread_goes_with_it(store):
    for thread_id in ("x", "y"):
        await store.threads.create(record=ThreadRecord(thread_id, "T", 1.0, 1.0, deleted_at=1.0))
        for what in ("settings", "environment", "context"):
            await store.state.put(key=f"{what}:{thread_id}", value={"seed": 1})
    await store.state.put(key="x", value=1)
    await store.threads.purge(thread_id="x")
    kept = [await store.state.get(key=f"{what}:{of}", default=None) for of in "xy" for what in ("settings", "context")]
    assert kept == [None, None, {"seed": 1}, {"seed": 1}]
