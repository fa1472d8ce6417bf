"""Model servers that a person has Assent start: real processes, from the shown command to their end."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from desktop.domain.errors import KnownError
from desktop.domain.servers.starting import StartChoice
from desktop.services.local_servers.failures import failure
from tests.harness.timeouts import until
from tests.unit.services.local_servers.kit import (
    SECRET,
    Place,
    end_listening,
    gone,
    installed_in,
    is_open,
    model_file,
    place,
)

posix = pytest.mark.skipif(os.name != "posix", reason="signals")


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    async with place(tmp_path) as made:
        yield made


async def test_what_was_shown_is_run_and_its_models_are_found_with_the_real_context(here: Place) -> None:
    plan = await here.planned()
    program, file = str(here.folder / "bin" / "llama-server"), model_file(here.folder)
    assert plan.command == (
        f"LLAMA_ARG_OFFLINE=1 LLAMA_ARG_CORS_ORIGINS=localhost {program} --model {file} --ctx-size 4096 "
        f"--host 127.0.0.1 --port {here.port} --jinja"
    )
    assert not is_open(here.port), "nothing runs before it is started"
    await here.service.start(plan)
    await here.until_phase("running")
    server = next(one for one in await here.models.catalogue.servers() if one.kind == "llamacpp")
    assert [(model.ref.model, model.context_window) for model in server.models] == [("tide", 4096)]
    with pytest.raises(KnownError, match="started already"):
        await here.service.start(plan)
    await here.service.stop("llamacpp")
    await here.until_phase("idle")
    assert not is_open(here.port)


async def test_it_gets_no_secret_of_our_environment(here: Place) -> None:
    here.host |= {"HF_TOKEN": SECRET, "LLAMA_API_KEY": SECRET, "CUDA_VISIBLE_DEVICES": "1"}
    await here.started()
    await here.until_phase("running")
    line = next(line for line in (await here.service.log("llamacpp")).splitlines() if line.startswith("environment"))
    found = json.loads(line.partition(" ")[2])
    assert found["CUDA_VISIBLE_DEVICES"] == "1"
    assert {name for name in found if not name.startswith("LC_")} == {
        *("PATH", "HOME", "CUDA_VISIBLE_DEVICES", "LLAMA_ARG_OFFLINE", "LLAMA_ARG_CORS_ORIGINS")
    }


async def test_what_it_writes_is_kept_for_the_person_alone_and_shown_without_secrets(here: Place) -> None:
    here.host["CUDA_VISIBLE_DEVICES"] = SECRET
    await here.started()
    await here.until_phase("running")
    said = await here.service.log("llamacpp")
    assert '"CUDA_VISIBLE_DEVICES": "[masked]"' in said
    assert "server is listening" in said
    assert (here.folder / "llamacpp-server.log").stat().st_mode & 0o077 == 0


@posix
async def test_it_ends_with_the_app_unless_the_person_said_otherwise(here: Place) -> None:
    await here.started()
    await here.until_phase("running")
    await here.service.close()
    assert not is_open(here.port)
    await here.until_phase("idle")
    left = await here.started(leave_running=True)
    await here.until_phase("running")
    try:
        await here.service.close()
        assert is_open(left.port)
    finally:
        end_listening(left.port)
        await gone(left.port)


LIFE = """
import asyncio, pathlib, sys
from tests.unit.services.local_servers.kit import place
async def life():
    async with place(pathlib.Path(sys.argv[1])) as here:
        await here.started()
        await here.until_phase("running")
        print(here.port, flush=True)
        await asyncio.Event().wait()
asyncio.run(life())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ties a process to its parent")
async def test_it_ends_when_the_app_is_killed(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[4]
    with subprocess.Popen([sys.executable, "-c", LIFE, str(tmp_path)], cwd=root, stdout=subprocess.PIPE) as app:
        assert app.stdout is not None
        port = int(app.stdout.readline())
        assert is_open(port)
        app.kill()
    await gone(port)


async def test_a_server_that_ends_says_its_last_words_and_the_next_step(here: Place) -> None:
    await here.started("old")
    await here.until_phase("failed")
    assert here.state.problem == "This llama-server is too old for the model. Update it, or choose another file."
    assert here.state.last_words.endswith("unknown model architecture: 'tide'\n")
    await here.started()
    await here.until_phase("running")
    assert here.state.problem == here.state.last_words == ""


@posix
async def test_a_server_that_crashes_later_is_told_of(here: Place) -> None:
    await here.started()
    await here.until_phase("running")
    with pytest.raises((urllib.error.URLError, ConnectionError)):
        urllib.request.urlopen(f"http://127.0.0.1:{here.port}/crash")
    await here.until_phase("failed")
    assert "GGML_ASSERT" in here.state.last_words
    assert f"signal {signal.SIGABRT.value}" in here.state.problem


async def test_one_that_is_still_loading_can_be_stopped(here: Place) -> None:
    await here.started("slow")
    assert here.state.phase == "starting"
    await here.service.stop("llamacpp")
    await here.until_phase("idle")


async def test_where_its_port_is_taken_it_gets_another_and_is_found_there_at_the_next_start(here: Place) -> None:
    with subprocess.Popen([sys.executable, "-m", "http.server", str(here.port), "--bind", "127.0.0.1"]) as other:
        await until(lambda: is_open(here.port), "the other program listens")
        plan = await here.started()
        assert plan.port > here.port
        assert f"Another program has port {here.port}, so it gets port {plan.port}" in plan.note
        await here.until_phase("running")
        assert here.settings.current.models.llamacpp.port == plan.port
        again = await here.begun_again()
        assert again.models.connections.addresses.addresses["llamacpp"][0] == plan.base_url
        other.kill()


async def test_a_port_taken_meanwhile_is_said(here: Place) -> None:
    plan = await here.planned()
    with subprocess.Popen([sys.executable, "-m", "http.server", str(here.port), "--bind", "127.0.0.1"]) as other:
        await until(lambda: is_open(here.port), "the other program listens")
        await here.service.start(plan)
        await here.until_phase("failed")
        assert here.state.problem == "Another program took its port meanwhile. Start it again: it gets another one."
        other.kill()


async def test_a_later_start_starts_it_only_where_that_was_switched_on(here: Place) -> None:
    await here.started()
    await here.until_phase("running")
    again = await here.begun_again()
    assert again.state.phase == "idle"
    await again.started(with_app=True)
    await again.until_phase("running")
    third = await again.begun_again()
    await third.until_phase("running")
    await third.end()


async def test_a_later_start_runs_no_other_program_than_the_one_agreed_to(here: Place) -> None:
    await here.started(with_app=True)
    await here.until_phase("running")
    other = installed_in(here.folder / "other")
    here.host["PATH"] = f"{other.parent}:{here.host['PATH']}"
    await here.end()
    again = Place(here.folder, here.settings, here.models, here.port)
    again.host = here.host
    await again.service.begin()
    assert again.state.phase == "failed"
    assert f"the program here now is {other}" in again.state.problem
    assert not is_open(here.port)


async def test_one_that_runs_already_is_not_started_a_second_time(here: Place) -> None:
    left = await here.started(with_app=True, leave_running=True)
    await here.until_phase("running")
    try:
        again = await here.begun_again()
        assert again.state.phase == "idle"
    finally:
        end_listening(left.port)
        await gone(left.port)


async def test_a_choice_that_cannot_be_run_says_what_is_missing(here: Place) -> None:
    with pytest.raises(KnownError, match="not on this computer"):
        await here.service.plan(StartChoice("ollama"))
    await here.service.look()
    with pytest.raises(KnownError, match="Choose the file of a model first"):
        await here.service.plan(StartChoice("llamacpp"))
    with pytest.raises(KnownError, match="not there any more"):
        await here.service.plan(StartChoice("llamacpp", str(here.folder / "gone.gguf")))


async def test_it_gets_no_longer_context_than_its_model_was_trained_for(here: Place) -> None:
    await here.service.look()
    choice = StartChoice("llamacpp", model_file(here.folder, trained=2048), 16384)
    plan = await here.service.plan(choice)
    assert plan.argv[plan.argv.index("--ctx-size") + 1] == "2048"
    assert "trained for 2,048 tokens" in plan.note
    assert plan.choice.context == 2048


async def test_ollama_answers_here_alone_and_sends_nothing_to_its_cloud(here: Place) -> None:
    installed_in(here.folder / "bin", "ollama")
    await here.service.look()
    plan = await here.service.plan(StartChoice("ollama", context=8192))
    assert plan.argv == (str(here.folder / "bin" / "ollama"), "serve")
    assert plan.variables == {
        "OLLAMA_HOST": f"127.0.0.1:{here.port}",
        "OLLAMA_NO_CLOUD": "1",
        "OLLAMA_CONTEXT_LENGTH": "8192",
    }


async def test_a_program_that_is_gone_by_now_is_said(here: Place) -> None:
    plan = await here.planned()
    gone_by_now = replace(plan, argv=(str(here.folder / "bin" / "nowhere"), *plan.argv[1:]))
    await here.service.start(gone_by_now)
    await here.until_phase("failed")
    assert here.state.problem == "Its program cannot be run. Install it again."


@pytest.mark.parametrize(
    ("code", "said", "words"),
    [
        (137, "", "memory ran out"),
        (-9, "", "memory ran out"),
        (139, "", "signal 11"),
        (0, "", "Start it again when you need it"),
        (1, "error while loading shared libraries: libcuda.so.1", "lacks a library"),
        (1, "error: invalid argument: --jinja", "Update it"),
        (1, "error loading model: tensor 'blk.0' data is not within the file bounds", "may be cut off or damaged"),
        (1, "alloc_buffer: failed to allocate buffer of size 17179869184", "Choose a smaller context"),
        (1, "something that nobody has seen before", "exit code 1. Its last lines say why"),
    ],
)
def test_how_it_ended_is_told_in_words(code: int, said: str, words: str) -> None:
    assert words in failure("llamacpp", code, said)


async def test_a_later_start_gives_the_model_no_other_file_than_was_seen(here: Place) -> None:
    await here.started(with_app=True)
    await here.until_phase("running")
    await here.end()
    (here.folder / "mmproj-new.gguf").write_bytes(b"GGUF of somebody")
    again = Place(here.folder, here.settings, here.models, here.port)
    await again.service.begin()
    assert again.state.phase == "failed"
    assert f"what lets the model see is {here.folder / 'mmproj-new.gguf'} now" in again.state.problem
    assert not is_open(here.port)
    plan = await again.started(with_app=True)
    assert "--mmproj" in plan.argv
    await again.until_phase("running")
    third = await again.begun_again()
    await third.until_phase("running")
    await third.end()


async def test_a_person_who_is_faster_than_the_start_of_the_app_has_one_server(here: Place) -> None:
    plan = await here.started(with_app=True)
    await here.until_phase("running")
    await here.end()
    again = Place(here.folder, here.settings, here.models, here.port)
    await again.service.look()
    beginning = asyncio.ensure_future(again.service.begin())
    await asyncio.sleep(0)
    await again.service.start(plan)
    await beginning
    await again.until_phase("running")
    assert (await again.service.log("llamacpp")).count("environment") == 1
    await again.end()
    assert not is_open(here.port)


async def test_nothing_begins_once_the_app_ends_or_it_was_stopped(here: Place) -> None:
    plan = await here.planned(with_app=True)
    for stopping in (here.service.stop("llamacpp"), here.service.close()):
        starting = asyncio.ensure_future(here.service.start(plan))
        await asyncio.sleep(0)
        assert here.state.phase == "starting"
        await stopping
        await starting
        assert here.state.phase == "idle"
    await here.service.begin()
    assert here.state.phase == "idle"
    assert not is_open(here.port)


async def test_a_program_that_agents_may_change_is_said_and_no_start_of_the_app_starts_it(here: Place) -> None:
    here.changeable.add(str(here.folder / "bin" / "llama-server"))
    plan = await here.started(with_app=True)
    assert plan.note == "Your agents may change this program: have a look at it before you start it."
    await here.until_phase("running")
    await here.end()
    again = Place(here.folder, here.settings, here.models, here.port)
    again.changeable = here.changeable
    await again.service.begin()
    assert again.state.phase == "failed"
    assert "your agents may change its program" in again.state.problem
    assert not is_open(here.port)
