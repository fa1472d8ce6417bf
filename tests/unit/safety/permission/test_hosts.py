"""A call that only reads, and yet asks for its host until a person has allowed it."""

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.text.outside import OutsideText
from desktop.domain.tools import PreCheck
from desktop.safety.permission.decide import answer
from desktop.safety.permission.trust_rules import rule_from
from desktop.services.rules.trust import TrustRules
from tests.unit.safety.permission.test_gate import Call, GateBench, Person

pytestmark = pytest.mark.spec("R-WEB-1")


def page(host: str = "example.org", path: str = "/", **more: object) -> Call:
    """A call of web-fetch as the tool judges it."""
    url = f"https://{host}{path}"
    check = PreCheck(
        Category.READ,
        preview={"kind": "web", "host": host, "address": url},
        constraint=host,
        resolved={"host": host, "url": url},
        asks=f"You have not allowed {host} yet.",
    )
    return Call(Category.READ, "web-fetch", {"url": url}, check, **more)  # type: ignore[arg-type]


async def test_it_asks_is_logged_and_is_refused_where_nobody_is() -> None:
    person = Person()
    bench = GateBench(person)
    assert (await bench.decide(page())).by == "user"
    assert (await bench.decide(page())).by == "user", "once is once"
    assert [request.asks for request in person.asked] == ["You have not allowed example.org yet."] * 2
    assert [entry.tool for entry in bench.log] == ["web-fetch"] * 2
    assert not (await GateBench(None).decide(page())).allowed


async def test_allowed_for_the_run_is_for_the_host_in_this_run_alone() -> None:
    person = Person("allow_run")
    bench = GateBench(person)
    await bench.decide(page(path="/a"))
    assert (await bench.decide(page(path="/b"))).by == "remembered"
    assert len(bench.log) == 2, "what passes unasked is logged, too"
    for other in (page("www.example.org"), page("example.org:80"), page("example.org", run="run-2")):
        assert (await bench.decide(other)).by == "user"


@pytest.mark.parametrize(
    ("rule", "comes"),
    [
        ("web-fetch(host=example.org,$policy=allow)", "rule"),
        ("web-fetch($policy=allow)", "rule"),
        ("*($policy=allow)", "user"),
        ("#web($policy=allow)", "user"),
        ("web-fetch(host=example.*,$policy=allow)", "rule"),
        ("web-fetch(host=example,$policy=allow)", "user"),
        ("web-fetch(host=*.example.org,$policy=allow)", "user"),
    ],
)
async def test_a_rule_that_names_the_tool_answers_for_the_hosts_that_it_names(rule: str, comes: str) -> None:
    bench = GateBench(Person(), book=TrustRules(text=rule))
    call = page(tags=("web",))
    assert (await bench.decide(call)).by == comes


@pytest.mark.parametrize("few", [True, False], ids=["alone", "among others"])
@pytest.mark.parametrize(
    ("rule", "address", "comes"),
    [
        ("url=*secret*,$deny", "/a/b/secret?x=1", "denied"),
        ("url=*secret*,$deny", "/a/%73ecret/b", "denied"),
        ("url=*secret*,$deny", "/a?q=my/secret/word", "denied"),
        ("url=https://example.org/private/*,$deny", "/private/a/b/c", "denied"),
        ("url=https://example.org/private/*,$deny", "/%70rivate/a", "denied"),
        ("url=https://example.org/private/*,$deny", "/public/a", "allowed"),
        ("url=https://example.org/%2a,$deny", "/x", "allowed"),
        ("url=https://example.org/b/*,$policy=ask", "/b/c/d", "asked"),
    ],
)
async def test_a_star_in_an_address_that_is_denied_or_asked_about_goes_over_slashes(
    rule: str, address: str, comes: str, few: bool
) -> None:
    others = "" if few else " ".join(f"web-fetch(url=https://other-{n}.example/*,$deny)" for n in range(20))
    book = TrustRules(text=f"web-fetch($policy=allow) web-fetch({rule}) {others}")
    bench = GateBench(Person("deny"), book=book)
    decision = await bench.decide(page(path=address))
    found = "asked" if decision.by == "user" else "allowed" if decision.allowed else "denied"
    assert found == comes


@pytest.mark.parametrize(
    ("rule", "path", "passes"),
    [
        ("url=https://example.org/docs/*", "/docs/a", True),
        ("url=https://example.org/docs/*", "/docs/a/b", False),
        ("url=https://example.org/docs/**", "/docs/a/b", True),
        ("url=https://*.example.org/*", "/a", False),
    ],
)
async def test_a_star_in_an_address_that_is_allowed_stays_between_slashes(rule: str, path: str, passes: bool) -> None:
    bench = GateBench(Person("deny"), book=TrustRules(text=f"web-fetch({rule},$policy=allow)"))
    assert (await bench.decide(page(path=path))).allowed is passes
    evil = page("evil.example", "/.example.org/a")
    assert not (await bench.decide(evil)).allowed


@pytest.mark.spec("R-WEB-3")
async def test_what_a_run_asks_after_it_read_a_page_says_of_which_host() -> None:
    person = Person()
    bench = GateBench(person)
    await bench.decide(Call())
    bench.gate.outside.heard("run-1", [OutsideText("example.org"), OutsideText("b.example")])
    await bench.decide(Call())
    await bench.decide(Call(run="run-2"))
    first, after, other = person.asked
    assert (first.follows, other.follows) == ("", "")
    assert after.follows == "text of example.org, b.example was read since your last message"
    assert [one.whose for one in after.outside] == ["example.org", "b.example"]
    assert bench.log[1].extra["follows"] == after.follows
    bench.gate.forget_run("run-1")
    await bench.decide(Call())
    assert person.asked[-1].follows == ""


@pytest.mark.spec("R-WEB-3")
async def test_a_rule_that_covers_it_exactly_still_allows_what_follows() -> None:
    ruled = GateBench(Person(), book=TrustRules(text="write-file(call-object=/w/a.txt,$policy=allow)"))
    ruled.gate.outside.heard("run-1", [OutsideText("example.org")])
    assert (await ruled.decide(Call())).by == "rule"
    assert ruled.log[-1].extra["follows"] == "text of example.org was read since your last message"


def test_no_thread_works_so_freely_that_a_host_is_not_asked_about() -> None:
    read = answer(Category.READ, None, edge=True, asks=True)
    assert (read.what, answer(Category.WRITE, None, edge=True).what) == ("asks", "passes")


async def test_a_deny_wins_over_what_was_allowed() -> None:
    bench = GateBench(Person(), book=TrustRules(text="web-fetch($policy=allow) web-fetch(host=*.evil.example,$deny)"))
    assert not (await bench.decide(page("www.evil.example"))).allowed
    assert (await bench.decide(page())).allowed


async def test_always_is_a_rule_for_exactly_this_host() -> None:
    bench = GateBench(Person("allow_always"))
    decision = await bench.decide(page())
    assert decision.rule is not None
    assert rule_from(decision.rule).constraint == "example.org"
    again = GateBench(Person(), rule_from(decision.rule))
    assert (await again.decide(page(path="/b"))).by == "rule"
    assert (await again.decide(page("example.com"))).by == "user"
