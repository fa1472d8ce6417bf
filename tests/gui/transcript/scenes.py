"""Threads to draw and to test with: an ordinary one, and one of every kind of block."""

import time
from dataclasses import replace

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import PermissionRequest
from desktop.presenter.transcript.items import (
    AttachmentPart,
    NoticeAction,
    NoticePart,
    ReasoningPart,
    TextPart,
    ToolPart,
    TranscriptItem,
)

CODE = """def gaps(t: pd.Series, step="6min") -> pd.DataFrame:
    late = t.diff() > pd.Timedelta(step)     # a hole ends here
    return pd.DataFrame({"from": t.shift()[late], "to": t[late]})"""
TABLE = """| Gap | From | To | Missing samples | Maintenance log |
|---|---|---|---|---|
| 1 | 04 Mar 09:12 | 04 Mar 11:48 | 25 | sensor swap, 09:00 to 12:00 |
| 2 | 17 Mar 22:00 | 18 Mar 01:36 | 35 | no entry |
| 3 | 26 Mar 06:18 | 26 Mar 06:42 | 3 | battery, 06:15 |"""
ASKED = "Find the gaps in gauge 7’s March file, check the maintenance log, and write a cleaned copy."
HEARD = "No entry for gauge 7 on the 17th. The harbour office reports a power cut on quay 3 from"
FOUND = "There are **three gaps**, 63 samples in all. I looked for any step longer than the nominal six minutes:"


def request(
    call_id: str = "c2", tool: str = "write-file", category: Category = Category.WRITE, digest: str = "d"
) -> PermissionRequest:
    lines = "\n".join(["time,level_m,flag"] + [f"2026-03-01T00:{n % 60:02},1.2,0" + "x" * 6 for n in range(7439)])
    return PermissionRequest(
        f"r-{call_id}-{digest}",
        "run",
        "t",
        call_id,
        tool,
        "Write a text file",
        category,
        "Every write asks",
        ("Workbench", tool),
        {"path": "data/gauge-07/2026-03.clean.csv"},
        (),
        (),
        {"kind": "diff", "path": "x", "before": "", "after": lines, "new": True},
        digest,
        time.time(),
    )


def waiting(call_id: str = "c2", category: str = "write", digest: str = "d") -> ToolPart:
    return ToolPart(
        f"p-{call_id}",
        call_id,
        "write-file" if category == "write" else "bash",
        "data/gauge-07/2026-03.clean.csv",
        category,
        "waiting",
        '{\n  "path": "x"\n}',
        chain=("Workbench", "write-file"),
        request=request(call_id, category=Category(category), digest=digest),
    )


def short(call_id: str = "w1", digest: str = "d") -> ToolPart:
    """A request of which the card shows all."""
    part = waiting(call_id, digest=digest)
    assert part.request is not None
    preview = {"kind": "diff", "path": "x", "before": "", "after": "one\n", "new": True}
    return replace(part, request=replace(part.request, preview=preview))


def mockup(now: float | None = None) -> tuple[TranscriptItem, ...]:
    """The thread of picture 01-chat."""
    started = (now or time.time()) - 6.2
    return (
        TranscriptItem("m1", "human", "You", "14:01", (TextPart("h", ASKED),)),
        TranscriptItem(
            "m2",
            "a",
            "Workbench",
            "14:02",
            (
                ToolPart(
                    "p-c1",
                    "c1",
                    "read-file",
                    "data/gauge-07/2026-03.csv",
                    "read",
                    "done",
                    '{"path": "x"}',
                    "time,level_m\n" * 40,
                    ("241 KB",),
                    elapsed_ms=40,
                ),
                TextPart("t1", f"{FOUND}\n\n```python\n{CODE}\n```\n\n{TABLE}"),
                waiting(),
                ToolPart(
                    "p-c3",
                    "c3",
                    "maintenance-log-agent",
                    '"what happened at gauge 7 on 17 March?"',
                    "agent",
                    "running",
                    "{}",
                    HEARD,
                    started_at=started,
                ),
            ),
        ),
    )


STATES = ("writing", "waiting", "running", "done", "failed", "denied", "aborted", "unknown")
MARKDOWN = """# First heading
## Second heading
### Third heading

A paragraph with **bold**, *italic*, ~~struck~~, `inline code`, a [link](https://example.org "t") and a [reference][r].
An address: https://example.org/path and <b>raw html</b>. An image: ![a tide curve](file:///etc/passwd).

- first item with a long text that has to be wrapped because it does not fit into one line of the column, really
- second
  - nested item
    - deeper
  1. numbered inside
- [x] a task that is done
- [ ] a task that is not

3. third
4. fourth

   with its own paragraph

> A quote over
> two lines.
>
> > and a nested one

```bash
# a comment
for f in *.csv; do echo "$f"; done
curl -sS https://example.org/a/very/long/path/that/does/not/fit/into/the/column/at/all/and/has/to/scroll/sideways?really=yes
```

Inline math $e^{i\\pi} + 1 = 0$ and \\(\\alpha_i \\le \\frac{a}{b}\\) within a line, and it costs $5 or $6.

$$
\\int_0^\\infty e^{-x^2}\\,dx = \\frac{\\sqrt{\\pi}}{2}
$$

---

هذا نص باللغة العربية مع **كلمة** مهمة.

日本語の段落です。とても長い文章なので、行の終わりで折り返す必要があります。これは試験です。もう少し長くしましょう。終わり。

Emoji 👩‍👩‍👧 and 🎉 in a line, é combining.

| Left | Right | Mixed |
|:---|---:|:--:|
| `code` | 1,234 | **b** |
| a longer cell that must wrap because there is a lot of text in it, more than fits | 5 | [x](https://e.org) |

[r]: https://example.org/ref
"""


def every_state() -> tuple[ToolPart, ...]:
    """A call in each state."""
    return tuple(
        ToolPart(
            f"s-{state}",
            f"call-{state}",
            "bash",
            f"git log --oneline -20 # {state}",
            "admin",
            state,
            "{}",
            "" if state != "failed" else "exit code 1\nno such file",
            ("exit 1",) if state == "failed" else (),
            elapsed_ms=1400,
            started_at=time.time() - 12.4,
            request=None,
        )
        for state in STATES
    )


def everything() -> tuple[TranscriptItem, ...]:
    """Every kind of part and block."""
    return (
        TranscriptItem(
            "e1",
            "human",
            "You",
            "09:00",
            (
                AttachmentPart("a1", "tide-gauge-report-2026.csv", "241 KB"),
                TextPart("e1t", "Two lines\nfrom a person, with `code`."),
            ),
            2,
            3,
        ),
        TranscriptItem(
            "e2",
            "a",
            "Workbench",
            "09:01",
            (ReasoningPart("r1", "First I look at the file.\nThen at the log."), TextPart("e2t", MARKDOWN)),
            1,
            2,
        ),
        TranscriptItem("e3", "a", "Workbench", "09:02", every_state()),
        TranscriptItem(
            "e4",
            "b",
            "Critic",
            "09:03",
            (
                NoticePart(
                    "n1",
                    "The key was refused by the provider. Replace it, then try again.",
                    "error",
                    (NoticeAction("Open the key", "open-models"), NoticeAction("Try again", "retry")),
                ),
                NoticePart("n2", "Too many requests. It tries again by itself.", "warning", (), time.time() + 12),
                NoticePart("n3", "Older messages were summed up.", "info"),
            ),
            can_continue=True,
        ),
    )
