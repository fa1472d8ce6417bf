"""The sieve before trust rules leaves out none that fits, and thousands of rules about one tool are asked quickly."""

import random

import pytest

from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.judgement import Category, CommandPart
from desktop.skills.patterns import PatternError, PolicyRules, parse_patterns
from desktop.skills.patterns.heads import Sieve
from desktop.skills.patterns.index import RuleIndex
from desktop.skills.patterns.paths import Where

PIECES = [
    "a",
    "b",
    "src",
    ".",
    "..",
    "/",
    "/",
    "//",
    "*",
    "**",
    "?",
    "[ab]",
    "{a,b}",
    "{.,x}",
    "\\.",
    "~",
    "~/",
    " ",
    "git",
    "é",
    "-x",
    "home",
    "ws",
]
TEXTS = ["a", "b", "src", ".", "..", "/", "/", "//", "~", "~/", " ", "git", "é", "-x", "home", "ws", ".a", "ab"]
CWD, HOME = "/home/ws", "/home"


def made(chance: random.Random, pieces: list[str]) -> str:
    return "".join(chance.choice(pieces) for _ in range(chance.randint(1, 6))).strip()


def patterns(chance: random.Random, count: int) -> list[str]:
    found: list[str] = []
    while len(found) < count:
        name = chance.choice(["command", "path", "note", "allowedTools", "deep.path"])
        end = chance.choice(["$policy=allow", "$deny", "$policy=ask"])
        text = f"bash({name}={made(chance, PIECES)},{end})"
        try:
            PolicyRules.parse(text, cwd=CWD, home=HOME)
        except PatternError:
            continue
        found.append(text)
    return found


def a_call(chance: random.Random) -> CallFacts:
    arguments: dict[str, object] = {
        "command": made(chance, TEXTS),
        "path": [made(chance, TEXTS), made(chance, TEXTS)],
        "note": chance.choice([made(chance, TEXTS), 1, None]),
        "allowedTools": made(chance, TEXTS),
        "deep": {"path": made(chance, TEXTS)},
    }
    parts = tuple(CommandPart(made(chance, TEXTS), (made(chance, TEXTS),)) for _ in range(chance.randint(0, 2)))
    resolved = {"path": f"/{made(chance, TEXTS)}"} if chance.random() < 0.5 else {}
    return CallFacts("bash", Category.WRITE, arguments=arguments, parts=parts, resolved=resolved)


@pytest.mark.spec("R-PAT-7", "R-PAT-13")
@pytest.mark.parametrize("cwd", [CWD, "", "/"])
@pytest.mark.parametrize("calls", [40, pytest.param(400, marks=pytest.mark.soak)])
def test_no_rule_that_fits_is_left_out(cwd: str, calls: int) -> None:
    chance, fitting = random.Random(11), 0
    texts = patterns(chance, 300)
    alone = [PolicyRules.parse(text, cwd=cwd, home=HOME) for text in texts]
    index = RuleIndex(parse_patterns(" ".join(texts)), Where(cwd, HOME))
    sieve = Sieve(index.about("bash", ()), Where(cwd, HOME), {})
    left_out = 0
    for _ in range(calls):
        facts = a_call(chance)
        likely = {rule.order for rule in sieve.likely(facts, {**facts.arguments, **facts.resolved})}
        left_out += len(texts) - len(likely)
        for order, rules in enumerate(alone):
            if rules.decide(facts) is not None:
                fitting += 1
                assert order in likely, (texts[order], facts)
    assert fitting > 100
    assert left_out > 160


@pytest.mark.spec("R-PAT-7", "R-PAT-9")
def test_many_rules_decide_as_the_few_of_them_that_matter() -> None:
    many = [f"bash(command=tool-{n} *,$policy={'allow' if n % 3 else 'ask'})" for n in range(2000)]
    rules = PolicyRules.parse([*many, "bash(command=tool-7 push*,$deny)", "bash(command=tool-9 -f)"])
    calls = 0
    for n in (0, 1, 7, 9, 1999, 2000):
        for rest in ("run", "push -f", "-f"):
            text = f"tool-{n} {rest}"
            facts = CallFacts("bash", Category.WRITE, text, (), {"command": text}, parts=(CommandPart(text),))
            matter = [one for one in many if f"tool-{n} " in one]
            few = PolicyRules.parse([*matter, "bash(command=tool-7 push*,$deny)", "bash(command=tool-9 -f)"])
            assert rules.decide(facts) == few.decide(facts), text
            calls += rules.decide(facts) is not None
    assert calls == 15
