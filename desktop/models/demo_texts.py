"""What the demo model says. It calls itself a script in its first words, and never pretends to understand."""

from __future__ import annotations

INTRO = """\
I am a **script that plays a model**, not an AI. I show what working here is like; \
connect a real model whenever you like.

Answers arrive as Markdown while they are written:

| part | what you see |
|---|---|
| a table | this one |
| code | highlighted, with a *Copy* button |
| a tool call | a card you can open |

```python
def tide(hours: float) -> float:
    \"\"\"Metres above the harbour's zero, roughly.\"\"\"
    return 1.4 * math.sin(2 * math.pi * hours / 12.42)
```

First a **read** call. Reading inside the allowed folders needs no question, so it just runs:
"""

AFTER_LIST = """\
That was `{list_tool}`: {entries} in the workspace. Open the card to see exactly what came back.

Now a **write**. I would like to put a small file into a new folder, `demo`. Nothing is written before you allow it, \
and you see the difference first:
"""

NO_WRITE_TOOL = """\
Here I would ask to write a file, but this agent has no tool for writing. Choose one that has, and start the demo again.
"""

WRITTEN = """\
Thank you. `demo/first-light.md` is there now, with exactly the text you saw.

Next I try something that I may not do: read a file **outside the boundary**.
"""

NOT_WRITTEN = """\
You said no, so **nothing was written**. A real model reads your refusal, and your reason if you give one, and has to \
find another way. Mine is to go on.

Next I try something that I may not do at all: read a file **outside the boundary**.
"""

REFUSED = """\
Refused, as it should be. Nobody asked you: a path outside the allowed folders is no question of taste. The card says \
which rule decided, and *Settings, Filesystem boundaries* is where the folders are listed.

What you have seen:

1. text that streams, with a table and code
2. a call that only reads, and runs
3. a call that writes, and **asks**
4. a call outside the boundary, and its refusal

Try *Edit* or *Regenerate* on a message: the old version stays. \
To work with a real model, open *Settings, Models and keys*.
"""

NOT_REFUSED = """\
That was not refused: your settings allow this path. The demo expected a refusal here; \
*Settings, Filesystem boundaries* shows which folders agents may read.
"""

MENU = """\
I am a script and cannot answer that. I know a few words, though:

| say | and you see |
|---|---|
| `start` | the whole tour again |
| `read` | a call that reads, and runs |
| `write` | a call that writes, and asks |
| `outside` | a call outside the boundary, refused |
| `table` | Markdown with a table and code |

For real answers connect a model in *Settings, Models and keys*.
"""

MARKDOWN = INTRO.partition("First a **read** call.")[0].rstrip() + "\n"

AFTER_READ_ALONE = "That was `{list_tool}`: {entries}. Reading inside the allowed folders runs without a question.\n"
AFTER_WRITE_ALONE = "You allowed it, so `demo/first-light.md` is written.\n"
AFTER_DENIED_ALONE = "You said no, so nothing was written.\n"
ABOUT_TO_READ = "A call that only reads:\n"
ABOUT_TO_WRITE = "A call that writes. It asks first, and shows the difference:\n"
ABOUT_TO_LEAVE = "A call outside the boundary:\n"
NO_TOOLS = "This agent has no tools for that.\n"

FILE_PATH = "demo/first-light.md"
OUTSIDE_PATH = "/etc/passwd"
FILE_TEXT = """\
# First light

This file was written by the demo model of Assent, which is a script and not an AI.
It was written because you allowed it. You may delete it.

- asked before writing: yes
- folder: demo, inside the workspace
- sent over the network: nothing
"""

DEBATE_TOPIC = "Should the harbour office publish its raw tide data?"
DEBATE_LABELS = {"a": "Open data", "b": "Caution"}
DEBATE_PROMPTS = {
    "a": "[demo debate, side a] You argue for publishing the raw levels as they arrive.",
    "b": "[demo debate, side b] You argue for publishing only the checked series.",
}
DEBATE_TURNS = 6

DEBATE_LINES = {
    "a": (
        "*(I am a script, not an AI.)* Publish the levels **as they arrive**. The gauges are paid for by the public, "
        "three research groups already ask for the files by mail, and every copy made by hand goes stale. A licence "
        "and one page that says what is unchecked cost a week of work.",
        "A day later is too late for those who need it most. In last winter's surge the checked series came out "
        "**31 hours after the peak**. And raw with flags is not raw alone: every sample can carry *good*, *suspect* or "
        "*missing*, and a gap would be marked within minutes.",
        "Then we agree on more than it seemed: publish at once, **flagged**, with the checked series beside it and a "
        "line on every page that says which is which. I can end on that.",
    ),
    "b": (
        "*(I am a script, not an AI.)* Raw is the problem. Gauge 7 lost **63 samples** in March and nobody outside "
        "knew. A skipper who plans by an unchecked level has not read the licence. Publish the checked series a day "
        "later: it serves research as well, and misleads nobody.",
        "Flags answer half of it. They are only as good as the rule that sets them, and the one in use marks a gap but "
        "not a **drift**: in October gauge 3 stood 9 cm high for six days, and each of those samples was flagged "
        "*good*.",
        "With the checked series beside it and a drift test before the flag, yes. Start with two gauges, look at what "
        "people do with it for a month, **then** the rest. That is a plan I can stand behind.",
    ),
}
DEBATE_OVER = "I have made my three points. This debate was written for six turns, and they are over.\n"
