"""An older version in the place of the newer one and back, also under the feet of one that runs."""

import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from trials.course import FIRST_START_S, START_S, Bench, Trial, contents, first_answer
from trials.person import Started
from trials.trees import TrialFailed, own

REFUSED = "Your chats cannot be opened"
ANSWER = "script that plays a model"


def back_to_the_older(bench: Bench) -> Mapping[str, Any]:
    """The older version over a home of the newer one: it opens the chats or says that it cannot read them, and nothing
    is changed; the newer one in its place again has everything."""
    if not bench.home.exists():
        first_answer(bench)
    before = contents(bench.home)
    bench.installed.replace(bench.older)
    with bench.app("older") as app:
        app.painted(FIRST_START_S)
        said = chat_or_refusal(app)
        if said != ANSWER:
            app.click("Quit", "push button")
            app.process.wait(START_S)
        else:
            bench.ended(app)
    changed = {name for name, there in before.items() if contents(bench.home).get(name) != there}
    if said != ANSWER and changed:
        raise TrialFailed(f"the older version changed {sorted(changed)}")
    bench.installed.replace(bench.installed.file)
    with bench.app("newer-again") as app:
        app.painted(FIRST_START_S)
        app.read(ANSWER)
        bench.ended(app)
    return {"older says": said}


def under_its_feet(bench: Bench) -> Mapping[str, Any]:
    """Another version is installed while one works: what runs goes on and says that it wants to be started anew; the
    chat is there afterwards. The newer one is what runs, for the older may not know how to say so."""
    with _other_home(bench), bench.app("replaced") as app:
        app.painted(FIRST_START_S)
        app.click("Start the demo", "push button")
        app.insist("Allow once", "push button")
        app.find("Send", "push button")
        bench.installed.replace(bench.older)
        bench.installed.replace(bench.installed.file)
        for page in ("Debates", "Skills", "Approvals", "Schedules", "Settings", "Chats"):
            app.click(page, "page tab")
            app.find(page, "page tab")
        app.click("Message", "text")
        time.sleep(1)  # a person looks where the cursor is
        app.type("and on we go")
        app.key("Return")
        app.read("and on we go")
        app.find("Send", "push button")
        if not bench.installed.kind.name.startswith("appimage"):  # which carries on with the file that it began with
            app.read("own files were exchanged")
        app.picture().save(app.log.with_suffix(".png"))
        bench.ended(app)
        with bench.app("after-replaced") as newer:
            newer.painted(FIRST_START_S)
            newer.read("and on we go")
            bench.ended(newer)
    return {"goes on": True}


VERSIONS: list[Trial] = [back_to_the_older, under_its_feet]


def chat_or_refusal(app: Started) -> str:
    found = app.read_one_of(ANSWER, REFUSED)
    if found == ANSWER:
        return found
    return next((line for line in app.words().splitlines() if "newer" in line), found)


@contextmanager
def _other_home(bench: Bench) -> Iterator[None]:
    """No home, as for a new user; the one that was comes back."""
    kept = bench.home.with_name(".agent-of-before")
    bench.home.rename(kept)
    try:
        yield
    finally:
        shutil.rmtree(bench.home, ignore_errors=True)
        kept.rename(bench.home)
        own(bench.home)
