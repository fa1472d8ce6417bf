"""A bounded grant at the gate: what it may answer, and what it never does."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from desktop.domain.approval.bounded_grants import GrantBounds
from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import Decision
from desktop.domain.tools import PreCheck
from desktop.safety.permission.gate import PermissionGate
from desktop.safety.permission.trust_rules import TrustRule
from desktop.safety.secrets.redaction import SecretRedactor
from desktop.services.rules.grants import GrantBook
from desktop.skills.patterns.paths import Where
from desktop.store import Store
from tests.unit.safety.permission.test_gate import ADMIN, READ, WRITE, Call, GateBench, Person

NOW = 5000.0
BOUNDS = GrantBounds("write-file(path=**)", 3, NOW + 60)


class Bench(GateBench):
    """A gate with a grant book on a real database."""

    def __init__(self, book: GrantBook, person: Person, *rules: TrustRule, **settings: Any) -> None:
        super().__init__(person, *rules, **settings)
        self.book = book
        self.gate = PermissionGate(
            person, self.rules, self.audit, lambda: self.settings, redactor=SecretRedactor(), grants=book
        )

    @property
    def used(self) -> list[int]:
        return [one.used_calls for one in self.book.held("thread-1")]


def wrote(category: Category = WRITE, **preview: Any) -> Call:
    check = PreCheck(
        category,
        paths=("/w/a.txt",),
        preview={"kind": "diff", "size": 4, **preview},
        constraint="/w/a.txt",
        resolved={"path": "/w/a.txt"},
    )
    return Call(category, check=check)


@pytest_asyncio.fixture
async def book(tmp_path: Path) -> AsyncIterator[GrantBook]:
    store = Store(tmp_path / "data" / "assent.db")
    await store.open()
    made = GrantBook(store.grants, Where("/w", "/home/me"), clock=lambda: NOW)
    await made.open()
    try:
        yield made
    finally:
        await store.close()


async def granted(book: GrantBook, *rules: TrustRule, bounds: GrantBounds = BOUNDS, **settings: Any) -> Bench:
    """A gate at which a person has just given a grant; of what comes next they deny all."""
    giving = Bench(book, Person("allow_bounded", bounds=bounds))
    assert (await giving.decide(wrote())).choice == "allow_bounded"
    return Bench(book, Person("deny"), *rules, **settings)


@pytest.mark.spec("R-ASK-2", "R-PRM-13")
async def test_calls_like_the_one_that_was_asked_about_pass_until_none_is_left(book: GrantBook) -> None:
    bench = await granted(book)
    assert bench.used == [1]
    came = [await bench.decide(wrote()) for _ in range(3)]
    assert [(one.allowed, one.by) for one in came] == [(True, "grant"), (True, "grant"), (False, "user")]
    assert [line.by for line in bench.log] == ["grant", "grant", "user"]
    assert bench.log[0].extra["rule"]["pattern"] == "write-file(path=**)"


@pytest.mark.spec("R-ASK-2", "R-PRM-3")
@pytest.mark.parametrize(
    "call",
    [
        wrote(ADMIN),
        replace(wrote(), stale=True),
        replace(wrote(), original={"path": "b"}),
        replace(wrote(), question="It had begun."),
        replace(wrote(), refused="It is outside."),
        wrote(confined_by="bubblewrap"),
    ],
    ids=["admin", "changed since", "edited", "may have been done", "refused", "runs in another way"],
)
async def test_what_a_grant_never_answers_is_asked_and_uses_nothing(book: GrantBook, call: Call) -> None:
    bench = await granted(book)
    decision = await bench.decide(call)
    assert (decision.by, decision.allowed, bench.used) == ("user", False, [1])


@pytest.mark.spec("R-ASK-2", "R-PRM-12")
@pytest.mark.parametrize("policy", ["deny", "ask"])
async def test_rules_go_before_a_grant(book: GrantBook, policy: Any) -> None:
    if policy == "ask":
        bench = await granted(book)
        bench.rules = type(bench.rules)(text="write-file($policy=ask)")
        bench.gate = PermissionGate(Person("deny"), bench.rules, bench.audit, lambda: bench.settings, grants=book)
    else:
        bench = await granted(book, TrustRule("write-file", "deny"))
    decision = await bench.decide(wrote())
    assert (decision.allowed, decision.by, bench.used) == (False, "rule" if policy == "deny" else "user", [1])


@pytest.mark.spec("R-ASK-2")
async def test_where_a_rule_or_a_setting_lets_it_pass_nothing_is_used(book: GrantBook) -> None:
    bench = await granted(book, TrustRule("write-file", "allow"))
    assert ((await bench.decide(wrote())).by, bench.used) == ("rule", [1])
    bench = Bench(book, Person("deny"), auto_approve_workspace_writes=True)
    assert ((await bench.decide(wrote())).by, bench.used) == ("setting", [1])


@pytest.mark.spec("R-ASK-2", "R-PRM-8", "R-PRM-9")
async def test_a_denied_run_and_a_closing_app_use_no_grant(book: GrantBook) -> None:
    bench = await granted(book)
    bench.gate.deny_run("run-1")
    assert ((await bench.decide(wrote())).by, bench.used) == ("remembered", [1])
    bench = Bench(book, Person("deny"))
    bench.gate.close()
    assert ((await bench.decide(wrote())).by, bench.used) == ("closed", [1])


@pytest.mark.spec("R-ASK-2")
async def test_what_cannot_be_granted_is_allowed_once_and_the_log_says_why(book: GrantBook) -> None:
    for bounds in (replace(BOUNDS, pattern="write-file(path=/elsewhere/**)"), replace(BOUNDS, calls=10_000)):
        bench = Bench(book, Person("allow_bounded", bounds=bounds))
        decision = await bench.decide(wrote())
        assert (decision.choice, decision.bounds, bench.used) == ("allow_once", None, [])
        assert "Only this call" in bench.log[0].extra["reason"]


@pytest.mark.spec("R-ASK-2", "R-PRM-3")
async def test_it_is_offered_for_writing_alone_and_never_where_a_rule_asks(book: GrantBook) -> None:
    bench = Bench(book, person := Person("deny"))
    await bench.decide(wrote())
    await bench.decide(wrote(ADMIN))
    page = wrote(READ)
    page.check = replace(page.check, category=READ, asks="a new host")
    await bench.decide(page)
    asking = Bench(book, person)
    asking.gate = PermissionGate(
        person, type(bench.rules)(text="write-file($policy=ask)"), bench.audit, lambda: bench.settings, grants=book
    )
    await asking.decide(wrote())
    assert ["allow_bounded" in request.choices for request in person.asked] == [True, False, False, False]


@pytest.mark.spec("R-ASK-2")
async def test_an_answer_with_a_grant_for_admin_is_worth_this_call_alone(book: GrantBook) -> None:
    bench = Bench(book, Person("allow_bounded", bounds=BOUNDS))
    decision: Decision = await bench.decide(wrote(ADMIN))
    assert (decision.choice, bench.used) == ("allow_once", [])
