"""Rules on record: written, replaced, revoked, counted; and the calls that new ones are tried on."""

import asyncio
import time

import pytest

from desktop.domain.approval.permission import RecordedCall, RuleRecord
from desktop.domain.errors import NotFound
from desktop.store.rules import MAX_CALLS, SPARE


def rule(rule_id, **fields):
    fields = {"decision": "allow", "origin": "you", "created_at": 1.0} | fields
    return RuleRecord(rule_id, "bash", {}, pattern=f"bash(command={rule_id})", **fields)


def call(number):
    return RecordedCall(f"digest-{number}", "bash", '{"category":"write"}', "t", float(number))


@pytest.mark.spec("R-PRM-11")
async def test_a_rule_is_kept_as_it_was_written(store):
    wanted = rule("a", decision="ask", thread_id="t1")
    await store.rules.add(rule=wanted)
    assert await store.rules.list_rules() == [wanted]
    assert await store.rules.get(rule_id="a") == wanted
    with pytest.raises(NotFound):
        await store.rules.get(rule_id="b")


async def test_a_rule_takes_the_place_of_another_at_once_or_not_at_all(store):
    await store.rules.add(rule=rule("a"))
    await store.rules.add(rule=rule("b", created_at=2.0), replaces="a")
    assert [found.rule_id for found in await store.rules.list_rules()] == ["b"]
    with pytest.raises(NotFound):
        await store.rules.add(rule=rule("c"), replaces="a")
    assert [found.rule_id for found in await store.rules.list_rules(revoked=True)] == ["a", "b"]
    await store.rules.restore(rule_id="a")
    assert [found.rule_id for found in await store.rules.list_rules()] == ["a", "b"]
    for wrong in ("a", "gone"):
        with pytest.raises(NotFound):
            await store.rules.restore(rule_id=wrong)


async def test_uses_are_added_up_for_rules_and_for_what_is_built_in(store):
    await store.rules.add(rule=rule("a"))
    await store.rules.count(uses={"a": (2, 5.0), "built-in:bash": (1, 6.0)})
    await store.rules.count(uses={"a": (3, 7.0), "built-in:bash": (4, 8.0)})
    (found,) = await store.rules.list_rules()
    assert (found.uses, found.last_used_at) == (5, 7.0)
    assert await store.rules.built_in_uses() == {"built-in:bash": (5, 8.0)}


@pytest.mark.expects_log("could not be kept")
async def test_a_call_that_cannot_be_made_costs_nobody_anything(store):
    def broken():
        raise ValueError("no such call")

    store.rules.record(make=broken)
    store.rules.record(make=lambda: call(1))
    assert [found.digest for found in await store.rules.recorded()] == ["digest-1"]
    await asyncio.sleep(0)


async def test_only_the_newest_calls_are_kept(store):
    began = time.perf_counter()
    for number in range(MAX_CALLS + 3 * SPARE):
        store.rules.record(make=lambda number=number: call(number))
    found = await store.rules.recorded(limit=10 * MAX_CALLS)
    print(f"{(time.perf_counter() - began) / (MAX_CALLS + 3 * SPARE) * 1e6:.0f} us a call")
    assert MAX_CALLS <= len(found) <= MAX_CALLS + SPARE
    assert found[0].digest == f"digest-{MAX_CALLS + 3 * SPARE - 1}"
    assert [one.at for one in found] == sorted((one.at for one in found), reverse=True)
