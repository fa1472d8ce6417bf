"""The pattern language: one match, one decision of an allowed list or trust rule, and a list of 10,000 entries."""

import timeit
from collections.abc import Callable

from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.judgement import Category
from desktop.domain.tools import ToolSpec
from desktop.skills.patterns import AllowedList, PolicyRules, parse_patterns
from tests.bench.registry import Figure, bench

LIST = (
    "#meta-internal file-* {web-search,web-fetch} agent(allowedTools=file-*) file-write(path=src/**) callback-* "
    "* #destructive($deny) bash(command=rm*,$deny)"
)
PARAMS = {"type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"}}}


def best_us(function: Callable[[], object], calls: int = 2_000) -> float:
    """Microseconds of one call, the best of seven runs."""
    return min(timeit.repeat(function, number=calls, repeat=7)) / calls * 1e6


def _best_ms(function: Callable[[], object]) -> float:
    return best_us(function, 1) / 1000


@bench("patterns: permits() of a list of nine", target="<= 10", unit="us")
def one_permit() -> Figure:
    allowed = AllowedList.of(LIST, cwd="/work/project", home="/home/ada")
    names = set(LIST.split())
    took = {}
    for name, tags, arguments in [
        ("file-read", ("meta-internal",), {"path": "a"}),
        ("file-write", (), {"path": "src/../src/a", "content": "x"}),
        ("agent", (), {"allowedTools": "file-read file-list"}),
        ("bash", ("shell",), {"command": "git status"}),
        ("other", (), {}),
    ]:
        spec = ToolSpec(name, "A tool.", PARAMS, Category.WRITE, tags=tags)
        took[name] = best_us(lambda s=spec, a=arguments: allowed.permits(s, a))
    slowest = max(took, key=lambda name: took[name])
    floor = best_us(lambda: "file-read" in names)
    return Figure(took[slowest], floor, f"reference: a set of names; slowest: {slowest}")


@bench("patterns: a trust rule decides, of nine", target="<= 15", unit="us")
def one_decision() -> Figure:
    rules = PolicyRules.parse(LIST.replace("callback-*", "callback-*($policy=allow)"), cwd="/work/project")
    facts = CallFacts("file-write", Category.WRITE, tags=("slow",), arguments={"path": "src/a.txt", "content": "x"})
    return Figure(best_us(lambda: rules.decide(facts)))


@bench("patterns: 10,000 entries parsed", target="<= 50", unit="ms")
def a_long_list() -> Figure:
    text = " ".join(f"tool-{n}" if n % 5 else f"tool-{n}(path=src/*,mode={{r,w}})" for n in range(10_000))
    return Figure(_best_ms(lambda: parse_patterns(text)), _best_ms(text.split), "reference: str.split")


@bench("patterns: 10,000 entries made ready to decide", target="<= 150", unit="ms")
def a_long_list_ready() -> Figure:
    text = " ".join(f"tool-{n}" if n % 5 else f"tool-{n}-*(path=src/*,mode={{r,w}})" for n in range(10_000))
    return Figure(_best_ms(lambda: AllowedList.of(text)), _best_ms(text.split), "reference: str.split")
