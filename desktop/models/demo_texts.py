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

UNWRITTEN = """\
**Nothing was written**; the card says why. A real model reads that, too, and has to find another way. Mine is to go on.

Next I try something that I may not do at all: read a file **outside the boundary**.
"""

REFUSED = """\
Refused, as it should be. Nobody asked you: a path outside the allowed folders is never opened, so there was nothing \
to ask. The card says which rule decided, and *Settings, Filesystem boundaries* is where the folders are listed.

What you have seen:

1. text that streams, with a table and code
2. a call that only reads, and runs
3. a call that writes, and **asks**
4. a call outside the boundary, and its refusal

Try *Edit and send again* or *Answer again* on a message: the old version stays. \
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
AFTER_FAILED_ALONE = "Nothing was written; the card says why.\n"
ABOUT_TO_READ = "A call that only reads:\n"
ABOUT_TO_WRITE = "A call that writes. It asks first, and shows the difference:\n"
ABOUT_TO_LEAVE = "A call outside the boundary:\n"
NO_TOOLS = "This agent has no tools for that.\n"

FILE_PATH = "demo/first-light.md"
OUTSIDE_PATH = "/etc/passwd"
FILE_TEXT = """\
# First light

Written by the demo model of Assent, a script.
You allowed it first. You may delete it.
"""
