"""Sample data that looks like what people and agents write, the same for the same seed: for tests, benches and shots.

`make_messages` is one thread's active path, oldest first; `make_threads` is a thread list. Nothing here is random
between runs, and nothing reads the clock.
"""

import random
from collections.abc import Callable, Iterator
from functools import reduce
from operator import add

from desktop.domain.messages import TextBlock, ToolCallBlock, ToolResultBlock, Usage
from desktop.domain.threads import MessageRecord, ThreadRecord

EPOCH = 1_760_000_000.0  # seconds; the time of the first message
TOOL_SHARE = 0.12  # of the exchanges, those in which the agent reads a file before it answers

_VOCABULARY = (
    "the a one each that this when while because after before the server request answer index table column value cache "
    "thread process file folder loop event window message token model stream buffer queue limit error retry reader "
    "writer measures keeps drops returns waits holds opens closes reads writes splits joins checks shows names counts "
    "slowly once twice again always never only first last small large cold warm open plain short exact stable of in on "
    "with without under over between across per about until"
)
WORDS = _VOCABULARY.split()
OTHER_SCRIPTS = (
    "数据库在后台线程上写入，界面不会停顿。",
    "メッセージは木の形で保存され、何も上書きされません。",
    "검색은 모든 대화에서 즉시 결과를 보여 줍니다.",
    "Größe, Höhe und Maß bleiben gleich – auch für „Ärzte“.",
    "Поиск находит слова и в старых сообщениях.",
)
QUESTIONS = (
    "Why does",
    "How can I make",
    "Please check whether",
    "What happens when",
    "Can you explain how",
    "Fix it so that",
)
CODE = {
    "python": (
        "def {a}_{b}({c}: list[int], limit: int = {n}) -> int:\n    total = 0\n    for item in {c}:\n"
        "        if item > limit:\n            continue\n        total += item  # {a} {b}\n    return total\n"
    ),
    "javascript": (
        "export async function {a}{n}({b}, {c}) {{\n  const found = await {b}.filter((x) => x.{c} > {n});\n"
        "  return found.map((x) => `${{x.{a}}}: ${{x.{c}}}`);\n}}\n"
    ),
    "rust": ("fn {a}_{b}({c}: &[u32]) -> Option<u32> {{\n    {c}.iter().copied().filter(|v| *v < {n}).max()\n}}\n"),
    "sql": (
        "SELECT {a}, count(*) AS {b}\n  FROM {c}_log\n WHERE {a} > {n}\n GROUP BY {a}\n ORDER BY {b} DESC\n LIMIT 20;\n"
    ),
    "bash": (
        'set -eu\nfor {a} in *.txt; do\n  grep -c "{b}" "${a}" || echo "${a}: no {c}"\ndone | sort -n | tail -{n}\n'
    ),
    "json": '{{\n  "{a}": {n},\n  "{b}": ["{c}", "{a}"],\n  "limits": {{"{c}": null, "retry": true}}\n}}\n',
}


def _phrase(rng: random.Random, count: int) -> str:
    words = [rng.choice(WORDS) for _ in range(count)]
    for index in range(3, count - 2, 11):
        word = words[index]
        words[index] = rng.choice((f"**{word}**", f"`{word}()`", f"*{word}*", f"{word},"))
    return " ".join(words)


def _sentence(rng: random.Random) -> str:
    text = _phrase(rng, rng.randint(6, 22))
    return text[0].upper() + text[1:] + "."


def _paragraph(rng: random.Random) -> str:
    text = " ".join(_sentence(rng) for _ in range(rng.randint(2, 5)))
    if rng.random() < 0.15:
        text += " " + rng.choice(OTHER_SCRIPTS)
    if rng.random() < 0.1:
        text += f" See [the {rng.choice(WORDS)} page](https://example.org/{rng.randint(1, 999)})."
    return text


def _bullets(rng: random.Random) -> str:
    lines = []
    for number in range(1, rng.randint(3, 7)):
        lines.append(f"{number}. {_sentence(rng)}" if rng.random() < 0.3 else f"- {_sentence(rng)}")
        if rng.random() < 0.3:
            lines.append(f"  - {_phrase(rng, 6)}")
    return "\n".join(lines)


def _code(rng: random.Random) -> str:
    language = rng.choice(list(CODE))
    a, b, c = rng.sample([word for word in WORDS if len(word) > 3], 3)
    body = "\n".join(CODE[language].format(a=a, b=b, c=c, n=rng.randint(2, 500)) for _ in range(rng.randint(1, 3)))
    return f"```{language}\n{body}```"


def _table(rng: random.Random) -> str:
    heads = rng.sample(WORDS, rng.randint(2, 5))
    rows = [f"| {' | '.join(heads)} |", "|" + " --- |" * len(heads)]
    for _ in range(rng.randint(2, 8)):
        rows.append("| " + " | ".join(rng.choice((rng.choice(WORDS), str(rng.randint(1, 9999)))) for _ in heads) + " |")
    return "\n".join(rows)


def _heading(rng: random.Random) -> str:
    return f"{'#' * rng.randint(2, 3)} {_phrase(rng, 4).title()}"


def _quote(rng: random.Random) -> str:
    return f"> {_sentence(rng)}\n>\n> {_sentence(rng)}"


MAKERS: tuple[tuple[Callable[[random.Random], str], int], ...] = (
    (_paragraph, 50),
    (_bullets, 16),
    (_code, 18),
    (_table, 6),
    (_heading, 7),
    (_quote, 3),
)


def _pool(rng: random.Random, size: int = 1200) -> list[str]:
    makers, weights = zip(*MAKERS, strict=True)
    return [maker(rng) for maker in rng.choices(makers, weights, k=size)]


def markdown(size: int, seed: int = 1) -> str:
    """One Markdown text of about `size` bytes in UTF-8, with every kind of block when there is room."""
    rng = random.Random(seed)
    return _fill(rng, _pool(rng, max(20, size // 150)), size)


def _fill(rng: random.Random, pool: list[str], size: int) -> str:
    """Whole blocks from the pool up to about `size` bytes; a text smaller than a block is words."""
    parts: list[str] = []
    left = size
    while left > 120:
        block = rng.choice(pool)
        parts.append(block)
        left -= len(block.encode()) + 2
    if not parts:
        parts.append((_phrase(rng, max(1, size // 6)))[: max(1, size)])
    return "\n\n".join(parts)


def _shape(rng: random.Random, n: int) -> Iterator[str]:
    """Roles of a thread's messages, exactly `n` of them. A tool result always follows its call."""
    made = 0
    while made < n:
        tools = rng.random() < TOOL_SHARE
        for role in ("user", "call", "tool", "assistant") if tools else ("user", "assistant"):
            if made == n:
                return
            made += 1
            yield role


def _weights(rng: random.Random, roles: list[str]) -> list[float]:
    means = {"user": 0.35, "call": 0.15, "tool": 1.2, "assistant": 1.6}
    return [means[role] * rng.lognormvariate(0, 0.7) for role in roles]


def make_messages(
    n: int = 10_000, total_bytes: int = 10_000_000, seed: int = 1, thread_id: str = "sample"
) -> list[MessageRecord]:
    """A thread's active path, oldest first: `n` messages with about `total_bytes` of text in UTF-8 altogether.

    Ids are `m000000` and up; the parent of each is the one before it. Texts are Markdown; tool results are plain.
    """
    rng = random.Random(seed)
    pool = _pool(rng)
    roles = list(_shape(rng, n))
    weights = _weights(rng, roles)
    scale = total_bytes / reduce(add, weights) if weights else 0.0  # sum() rounds otherwise from Python 3.12 on
    messages: list[MessageRecord] = []
    debt = 0.0
    for index, (role, weight) in enumerate(zip(roles, weights, strict=True)):
        debt += weight * scale
        message, size = _message(rng, pool, index, role, max(12, int(debt)), thread_id)
        debt -= size
        messages.append(message)
    return messages


def _message(
    rng: random.Random, pool: list[str], index: int, role: str, size: int, thread_id: str
) -> tuple[MessageRecord, int]:
    text = f"{rng.choice(QUESTIONS)} {_fill(rng, pool, size)}" if role == "user" else _fill(rng, pool, size)
    call = f"call-{index if role == 'call' else index - 1:06d}"
    path = f"notes/{call}.md"
    facts = {"category": "read", "state": "done", "elapsed_ms": 12}
    blocks = {
        "user": (TextBlock(text),),
        "assistant": (TextBlock(text),),
        "call": (TextBlock(text), ToolCallBlock(call, "read-file", {"path": path})),
        "tool": (ToolResultBlock(call, "read-file", text, facts=facts),),
    }[role]
    answer = role in {"assistant", "call"}
    record = MessageRecord(
        message_id=f"m{index:06d}",
        thread_id=thread_id,
        parent_id=f"m{index - 1:06d}" if index else None,
        role="assistant" if answer else "tool" if role == "tool" else "user",
        blocks=blocks,
        created_at=EPOCH + 30.0 * index,
        side="a" if answer else "human",
        author="assistant" if answer else "",
        model="demo/demo" if answer else "",
        stop_reason=("tool_calls" if role == "call" else "end") if answer else None,
        usage=Usage(size * 2, size // 4, cost_usd=0.0) if answer else None,
        elapsed_ms=900 if answer else 0,
    )
    return record, len(text.encode())


def make_threads(n: int = 600, seed: int = 1) -> list[ThreadRecord]:
    """A thread list as it grows over two years: titles of a few words, some pinned, newest last."""
    rng = random.Random(seed)
    step = 2 * 365 * 86_400 / max(1, n)
    threads = []
    for index in range(n):
        made = EPOCH + index * step
        title = _phrase(rng, rng.randint(2, 6)).replace("*", "").replace("`", "").capitalize()
        threads.append(
            ThreadRecord(
                thread_id=f"t{index:06d}",
                title=title,
                created_at=made,
                updated_at=made + rng.uniform(0, step),
                model="demo/demo",
                pinned=rng.random() < 0.01,
                titled_by="auto",
            )
        )
    return threads
