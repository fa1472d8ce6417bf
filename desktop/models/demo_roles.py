"""What the demo model says as one side of a debate, and as a sample agent: by the first words of its prompt.

Each role has turns, each turn steps: a text, and perhaps a call. Nothing here understands anything; the first words of
each role say so. A role is known by ``mark``, which stands in the first paragraph of its prompt in ``skills/``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from desktop.domain.loading.lazy_dataclass import dataclass

SCRIPT = "*(I am a script, not an AI: I say this whatever the topic is.)* "
OVER = "I am a script, and what was written for me is over. A real model would go on from here.\n"


@dataclass(frozen=True, slots=True)
class Step:
    """One answer of a role: text, and perhaps a tool call."""

    text: str
    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Role:
    """Turns in order, each of one or more steps; the last turn is said again when there are no more, if ``again``."""

    mark: str
    turns: Sequence[Sequence[Step]]
    again: bool = False


def _says(*texts: str) -> tuple[tuple[Step, ...], ...]:
    """A turn of one text each; the first one says what it is."""
    return tuple((Step(SCRIPT + text if at == 0 else text),) for at, text in enumerate(texts))


FOR = Role(
    "You speak for the motion",
    _says(
        "Rewrite it, and say so openly. The code resists **every** change: the last three features took four "
        "weeks each "
        "where one was planned, and two thirds of that went into finding out what may break. A design that "
        "was right for "
        "ten customers is not repaired by patching it for a thousand.\n",
        "Strangling it piece by piece is a rewrite, too, only with a longer bill: two designs live side by side, and "
        "each feature is thought through twice. You are right that a big bang fails. So: one module, **behind the old "
        "interface**, six weeks, with its own deadline. I grant you the data model; nobody should touch that first.\n",
        "Then what divides us is a date. My case rests on one thing: a team that fears its own code ships less each "
        "month, and that loss appears on no plan. I grant that without tests around the old behaviour the "
        "rewrite would "
        "be a gamble.\n",
    ),
)
AGAINST = Role(
    "You speak against the motion",
    _says(
        "The claim rests on four weeks for one feature. How much of that was the code, and how much that nobody wrote "
        "down what it should do? A rewrite keeps the second part. Meanwhile customers wait, and **every odd "
        "rule in the "
        "old code is a bug that somebody once reported**. Improve the three files that each change touches; measure "
        "again.\n",
        "Six weeks behind the old interface is a fair offer, and no longer a rewrite of the product. It "
        "fails where the "
        "interface itself is the fault: then you build the old mistakes anew, in better handwriting. Take the module "
        "with the fewest callers first, and **stop** if the second change to it is not cheaper.\n",
        "A date, then, and a measure: the next three changes to that module, before and after. What decides "
        "it for me is "
        "that the small step can be taken back and the large one cannot. I grant that leaving everything as "
        "it is would "
        "be the worst.\n",
    ),
)
PLANNER = Role(
    "You own the plan that is under review",
    _says(
        "**Goal:** the database runs in the new centre on Monday, 6:00.\n\n1. *Friday 18:00* (Ana): freeze "
        "changes, full "
        "copy.\n2. *Saturday 8:00* (Ben): restore, compare row counts.\n3. *Saturday 14:00* (Ana): switch the test "
        "system over.\n4. *Sunday 10:00* (both): switch the live system.\n\n**Assumes** that the line carries the copy "
        "in nine hours. We would notice trouble by the row counts.\n",
        "- **The line:** mended. Step 0, Wednesday (Ben): copy a tenth and extrapolate; above twelve hours, send "
        "disks.\n- **Way back:** mended. Until Monday 12:00 the old database stays as a read-only copy; "
        "going back takes "
        "20 minutes.\n- **Row counts:** mended. Step 2 compares checksums per table.\n",
        "- **Both away at once:** mended. Cleo rehearses step 4 on Thursday and can take over.\n- **Certificates:** "
        "accepted; the old ones hold for two weeks, and renewing them that weekend would be one more thing that can "
        "fail.\n",
    ),
)
ATTACKER = Role(
    "You look for what breaks a plan",
    _says(
        "1. **The copy is not done on Saturday morning.** Nobody has measured the line; at half the speed you are "
        "switching at night, tired. *Likely; costs the weekend. Check: copy a tenth on Wednesday.*\n2. "
        "**There is no way "
        "back** after step 4. *Unlikely to be needed, fatal when it is.*\n3. **Equal row counts prove little**: "
        "truncated texts count as rows.\n",
        "The mends hold. Two things are left:\n\n1. **Ana and Ben** are both needed on Sunday. One cold, and the plan "
        "stands still. *Likely enough in November.*\n2. **Certificates and addresses** of the new centre are "
        "in no step. "
        "*Half an hour's look would tell.*\n",
        "Nothing serious is left that I can find. Watch one thing: that the rehearsal on Thursday really "
        "runs on a copy "
        "of the full size.\n",
    ),
)
NEGOTIATOR_A = Role(
    "You negotiate for the first party",
    _says(
        "Good morning. We need the kits for the season, and reliably. Could you deliver **25 now and 15 by the end of "
        "April**, at 28 each? We pay within eight days, which should be worth something to you.\n",
        "Paying early costs us little, so let us use it: **29 each, 25 now, 15 by 25 April, paid within eight days**; "
        "for each week of delay two per cent less. What would keep you from that?\n",
        "That is what we said, in every point. Agreed from our side; thank you.\n",
    ),
)
NEGOTIATOR_B = Role(
    "You negotiate for the second party",
    (
        *_says(
            "25 now is possible at once. The other 15 we have to make, and the tubes come from outside: the end "
            "of April "
            "is tight. At 28 we would earn nothing on those. Why do you need them by then, and is it all of them?\n"
        ),
        (
            Step(
                "That I can accept as it stands: 29 each, 25 now, 15 by 25 April, paid within eight days, two per "
                "cent a "
                "week for delay. "
                "I close on these terms.\n",
                "agree",
                {
                    "terms": "40 kits at 29 each: 25 now, 15 by 25 April; paid within eight days; 2 % less a week of "
                    "delay."
                },
            ),
            Step("We have a deal. Thank you.\n"),
        ),
    ),
)
AUTHOR = Role(
    "You write and revise a text",
    _says(
        "**We are closed from 3 to 16 March**\n\nThe roof is being repaired. Books that are due in these two weeks may "
        "come back by 23 March, without a fee. The box beside the door stays open. Reserved books wait for "
        "you until the "
        "end of March. Until then the branch in Mill Lane is open every day from ten to six. We look forward to seeing "
        "you under a roof that holds.\n",
        "**Closed from Monday 3 to Sunday 16 March: the roof is being repaired**\n\n- Books due in these weeks: bring "
        "them back by 23 March. No fee.\n- Returning is possible all the time: use the box to the left of "
        "this door.\n- "
        "Reserved books wait for you until 31 March.\n- Open meanwhile: the branch in Mill Lane, daily from 10 to "
        "18.\n\nWe open again on Monday 17 March.\n\n---\n- the day of opening: added, at the end\n- the "
        "reason: now in "
        'the title\n- "a roof that holds": left out; it takes a line and says nothing\n',
    ),
)
CRITIC = Role(
    "You review a text",
    (
        *_says(
            'It does what was asked, and a reader in the rain would still miss one thing.\n\n1. "closed from 3 to 16 '
            'March": when do you open again? Say the day.\n2. "The roof is being repaired": put the reason into the '
            'title, then nobody has to look for it.\n3. "a roof that holds": nice, and without use at a door.\n'
        ),
        (
            Step(
                "All three points are dealt with, and the day of opening stands where one looks for it.\n",
                "accept",
                {"reason": "Who stands at the door knows in five seconds how long, why, and what to do."},
            ),
            Step("I have accepted the text.\n"),
        ),
    ),
)
WORKER = Role(
    "You carry out a task",
    (
        (
            Step(SCRIPT + "First I look at what is there:\n", "list_directory", {"path": "."}),
            Step(
                "Now I would like to write the file. You see it before you allow it:\n",
                "write_file",
                {
                    "path": "notes.md",
                    "content": "# Files\n\n| file | size |\n|---|---|\n| (see the list above) | - |\n",
                },
            ),
            Step("Done, if you allowed it: `notes.md` has a table with one row. If refused, nothing was written.\n"),
        ),
        (Step("Looked at again: a script cannot fill in the sizes. A real model would read them from the list.\n"),),
    ),
)
REVIEWER = Role(
    "You check work against the task",
    (
        (
            Step(SCRIPT + "I look at the file myself:\n", "read_file", {"path": "notes.md"}),
            Step(
                "The task wants the files with their sizes. If the card above shows the table, it has one row and no "
                "sizes: that is not done yet.\n"
            ),
        ),
        (
            Step("I accept it as what a script can do.\n", "accept", {"reason": "A demo: nothing was really checked."}),
            Step("I have accepted the work.\n"),
        ),
    ),
)
_MARKS = {"argument": 7, "answer": 7, "honesty": 8, "clarity": 8}
VERDICT: Mapping[str, Any] = {
    "winner": "draw",
    "summary": "I am a script and judge nothing: this verdict was written beforehand and is the same for every debate.",
    "reasons": {"a": "Written beforehand: a real model would name passages here.", "b": "Written beforehand as well."},
    "scores": {"a": dict(_MARKS), "b": dict(_MARKS)},
}
JUDGE = Role(
    "You judge a debate by its record",
    ((Step(SCRIPT, "finish", VERDICT), Step("That was the verdict.\n")),),
    again=True,
)
CODE_AUTHOR = Role(
    "You review code and write down what is wrong",
    (
        (
            Step(SCRIPT + "I look at what there is:\n", "list_directory", {"path": "."}),
            Step("1. *(example)* `app.py`, line 12: an empty list divides by zero. Mend: return early.\n"),
        ),
        (Step("1. *(example)* `app.py`, line 12: as before; the caller does not check either. I stay with it.\n"),),
    ),
)
CODE_CRITIC = Role(
    "You test findings about code",
    (
        *_says("1: *cannot tell*. Show that a caller can pass an empty list.\n"),
        (
            Step(
                "1: *holds*.\n",
                "accept",
                {"reason": "The finding was tried and holds (an example, written beforehand)."},
            ),
            Step("Accepted.\n"),
        ),
    ),
)
RESEARCHER = Role(
    "You answer larger questions",
    (
        (
            Step(
                SCRIPT + "I give a part of the work to a helper, which starts a conversation of its own:\n",
                "source_reader_agent",
                {"message": "What do the files in the workspace say? Look at the folder first."},
            ),
            Step(
                "What it found has to be checked before I use it:\n",
                "fact_checker_agent",
                {"message": "Statement: the workspace holds files. Look at the workspace folder."},
            ),
            Step("Both helpers have answered; their cards lead to what they did. A real model would now answer you.\n"),
        ),
    ),
    again=True,
)
READER = Role(
    "You read files for somebody",
    (
        (
            Step(SCRIPT, "list_directory", {"path": "."}),
            Step("- the workspace: listed above. More a script cannot report.\n"),
        ),
    ),
    again=True,
)
CHECKER = Role(
    "You check one statement",
    ((Step(SCRIPT, "list_directory", {"path": "."}), Step("**not found**. A script cannot check anything.\n")),),
    again=True,
)
CLASSIFIER = Role(
    "You sort messages by what their writer wants",
    (
        (
            Step(SCRIPT, "classify", {"intent": "other", "confidence": 0.0, "reason": "a script cannot tell"}),
            Step("other\n"),
        ),
    ),
    again=True,
)

ROLES: Sequence[Role] = (
    FOR,
    AGAINST,
    PLANNER,
    ATTACKER,
    NEGOTIATOR_A,
    NEGOTIATOR_B,
    AUTHOR,
    CRITIC,
    WORKER,
    REVIEWER,
    JUDGE,
    CODE_AUTHOR,
    CODE_CRITIC,
    RESEARCHER,
    READER,
    CHECKER,
    CLASSIFIER,
)


def role_of(system: str) -> Role | None:
    """The role whose prompt this system text begins with; None: it is no role of the demo."""
    head = " ".join(system[:400].split())
    return next((role for role in ROLES if head.startswith(role.mark)), None)
