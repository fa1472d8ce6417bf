"""A server of updates is asked by the real child: what is right is taken, what is wrong is refused and says why."""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from publishing.keys import read_keys
from publishing.repository import Repository
from securesystemslib.signer import CryptoSigner
from tuf.api.metadata import Metadata, TargetFile

from desktop.domain.errors import KnownError
from desktop.domain.processes import Child
from desktop.domain.updates.rights import Right
from desktop.safety.confinement.linux import launcher
from desktop.services.updates.build import system
from desktop.services.updates.installing import Server, lay_down
from desktop.services.updates.memory import Memory, OfferedVersion
from desktop.services.updates.versions import Versions
from desktop.workers.child import ChildProcess, ChildSpec
from desktop.workers.web_child import UPDATE_SCRIPT, UPDATE_SERVICE
from tests.servers.updates import INSIDE, SmallAssent, UpdateServer, manifest
from tests.unit.services.updates.conftest import ROOT, confined

pytestmark = pytest.mark.spec("R-UPD-1")
PICTURES = Right("tool:read-document", "write", "Keeps page pictures", "In its own folder.")


async def _refusal(work: object) -> str:
    with pytest.raises(KnownError) as caught:
        await work  # type: ignore[misc]
    return f"{caught.value.code}: {caught.value}"


async def _offer(asking: Server) -> OfferedVersion:
    found = await asking.newest()
    assert found is not None
    return found


def _nothing(what: str, done: int, total: int) -> None:
    assert done <= total, what


async def test_a_new_version_is_found_fetched_and_laid_down(
    server: UpdateServer, asking: Server, versions: Versions
) -> None:
    server.offer(SmallAssent("1.3", manifest("1.3", PICTURES)))
    found = await _offer(asking)
    assert (found.version, found.date, found.news) == ("1.3", "2026-11-20", ("One thing is better.", "Another, too."))
    assert found.manifest.rights["tool:read-document"] == PICTURES
    told: list[str] = []
    await lay_down(asking, versions, found, lambda what, done, total: told.append(what))
    assert versions.is_whole("1.3")
    assert "fetch" in told or "unpack" in told
    assert (versions.current, versions.previous) == ("1.2.4", "")
    place = versions.place("1.3")
    assert (place / "bin/assent").read_bytes() == SmallAssent("1.3").files()["bin/assent"]
    assert (place / "bin/assent").stat().st_mtime == 1_795_132_800
    assert list((versions.folder / ".staging").iterdir()) == []


async def test_the_question_carries_nothing_but_the_question(server: UpdateServer, asking: Server) -> None:
    server.offer(SmallAssent("1.3"))
    await asking.newest()
    heads = {line for head in server.web.seen for line in head.split("\r\n")[1:] if line}
    assert heads == {
        f"Host: 127.0.0.1:{server.web.port}",
        "Accept-Encoding: identity",
        "User-Agent: Assent",
        "Connection: close",
    }
    assert all(head.startswith("GET /updates/") and "?" not in head for head in server.web.seen)
    assert set(server.web.bodies) == {b""}


@pytest.mark.parametrize("version", ["1.2.4", "1.2.3", "1.2.4.0"])
async def test_what_is_not_newer_is_no_offer(server: UpdateServer, asking: Server, version: str) -> None:
    server.offer(SmallAssent(version))
    assert await asking.newest() is None


async def test_nothing_for_this_system_is_no_offer(asking: Server) -> None:
    assert await asking.newest() is None


# -- signatures, lengths, dates, versions ------------------------------------------------------------------------------


async def test_what_others_signed_is_refused(server: UpdateServer, tmp_path: Path, asking: Server) -> None:
    evil = UpdateServer(tmp_path / "evil", server.web)
    evil.offer(SmallAssent("1.3"))
    assert await _refusal(asking.newest()) == (
        f"updates.unsigned: What 127.0.0.1:{server.web.port} offers is not signed by those whom this Assent trusts."
    )


def _altered(server: UpdateServer, end: str, change: Callable[[bytes], bytes]) -> None:
    (path,) = [path for path in server.served.rglob("*") if str(path).endswith(end)]
    data = change(path.read_bytes())
    assert data != path.read_bytes()
    server.web.page(f"/updates/{path.relative_to(server.served)}", data)


@pytest.mark.parametrize("end", ["/timestamp.json", "/2.snapshot.json", "/2.targets.json"])
async def test_metadata_that_was_altered_is_refused(server: UpdateServer, asking: Server, end: str) -> None:
    server.offer(SmallAssent("1.3"))
    _altered(server, end, lambda data: data.replace(b'"expires":"2', b'"expires":"3'))
    assert (await _refusal(asking.newest())).startswith("updates.unsigned: ")


@pytest.mark.parametrize("end", ["rights.json", f"/{system()}.json"])
async def test_a_list_or_an_offer_that_was_altered_is_refused(server: UpdateServer, asking: Server, end: str) -> None:
    server.offer(SmallAssent("1.3"))
    _altered(server, end, lambda data: data.replace(b"1.3", b"1.4"))
    assert (await _refusal(asking.newest())).startswith("updates.altered: ")


RIGHTS = SmallAssent("1.3").files()[f"{INSIDE}/rights.json"].decode()


@pytest.mark.parametrize(
    "listed",
    [
        RIGHTS.encode("utf-16"),
        RIGHTS.encode("utf-8-sig"),
        RIGHTS.encode("utf-32-le"),
        RIGHTS.replace("Each is", "\\ud800").encode(),
        RIGHTS.replace('"Each is judged."', "[" * 600 + "]" * 600).encode(),
    ],
    ids=["UTF-16", "BOM", "UTF-32", "half a letter", "lists in lists"],
)
async def test_a_signed_list_of_rights_that_cannot_be_read_is_refused_in_words(
    server: UpdateServer, asking: Server, listed: bytes
) -> None:
    server.offer(SmallAssent("1.3", more={f"{INSIDE}/rights.json": listed}))
    assert await _refusal(asking.newest()) == (
        "updates.rights: The list of what this version may do cannot be read. It comes from "
        f"127.0.0.1:{server.web.port}."
    )


async def test_a_line_of_news_with_half_a_letter_is_left_out(server: UpdateServer, asking: Server) -> None:
    package = SmallAssent("1.3").pack(server.folder / "p")
    newest = dict(
        zip(("version", "date", "unpacked", "package"), ("1.3", "2026-11-20", 10**6, package.name), strict=True)
    )
    server.publish(package)
    name = f"{system()}.json"
    said = {**newest, "rights": server.newest()["rights"], "news": ["Whole.", "Half \ud800."]}
    (server.served / "targets" / name).write_text(json.dumps(said))
    repository = Repository(server.served, read_keys(server.keys))
    targets = repository._load("targets")
    targets.signed.targets[name] = TargetFile.from_file(name, str(server.served / "targets" / name))
    repository._sign("targets", targets)
    repository.publish([])
    server.serve()
    assert (await _offer(asking)).news == ("Whole.",)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda data: data[:-1] + bytes([data[-1] ^ 1]), "updates.altered"),
        (lambda data: data[:-1], "updates.altered"),
        (lambda data: data + b"x", "updates.too_long"),
        (lambda data: b"", "updates.altered"),
    ],
    ids=["another byte", "shorter", "longer", "empty"],
)
async def test_a_package_that_is_not_what_was_signed_is_refused(
    server: UpdateServer, asking: Server, versions: Versions, change: Callable[[bytes], bytes], code: str
) -> None:
    server.offer(SmallAssent("1.3"))
    found = await _offer(asking)
    _altered(server, ".tar.gz", change)
    assert (await _refusal(lay_down(asking, versions, found, _nothing))).startswith(code)
    _nothing_came_of_it(versions)


def _nothing_came_of_it(versions: Versions) -> None:
    assert (versions.current, versions.previous, versions.is_whole("1.3")) == ("1.2.4", "", False)
    assert list((versions.folder / ".staging").iterdir()) == []
    assert sorted(path.name for path in versions.folder.iterdir()) == [".staging", "1.2.4", "current"]


async def test_what_is_out_of_date_is_refused_although_it_is_signed(server: UpdateServer, asking: Server) -> None:
    server.publish(SmallAssent("1.3").pack(server.folder / "p"), now=datetime.now(UTC) - timedelta(days=15))
    said = await _refusal(asking.newest())
    assert said.startswith("updates.expired: ")
    assert "the clock of this computer is wrong" in said


@pytest.mark.parametrize("repeated", ["what was seen before", "a new home"])
async def test_yesterday_is_not_taken_for_today(
    server: UpdateServer, asking: Server, tmp_path: Path, repeated: str
) -> None:
    server.offer(SmallAssent("1.3"))
    shutil.copytree(server.served, tmp_path / "yesterday")
    server.offer(SmallAssent("1.4"))
    assert (await _offer(asking)).version == "1.4"
    shutil.rmtree(server.served)
    shutil.copytree(tmp_path / "yesterday", server.served)
    server.serve()
    if repeated == "a new home":  # it has seen nothing yet: what is signed and in its time is the newest that it knows
        asking = Server(server.source, Memory(tmp_path / "new"), confined, "1.2.4")
        assert (await _offer(asking)).version == "1.3"
    else:
        assert (await _refusal(asking.newest())).startswith("updates.older: ")


async def test_a_mixture_of_two_states_is_refused(server: UpdateServer, asking: Server, tmp_path: Path) -> None:
    server.offer(SmallAssent("1.3"))
    old = (server.served / "metadata/2.targets.json").read_bytes()
    server.offer(SmallAssent("1.4"))
    server.web.page("/updates/metadata/3.targets.json", old)
    assert (await _refusal(asking.newest())).startswith("updates.older: ")


async def test_what_was_not_shown_is_not_laid_down(server: UpdateServer, asking: Server, versions: Versions) -> None:
    server.offer(SmallAssent("1.3"))
    found = await _offer(asking)
    server.offer(SmallAssent("1.3", manifest("1.3", PICTURES)))
    assert (await _refusal(lay_down(asking, versions, found, _nothing))).startswith("updates.other: ")
    _nothing_came_of_it(versions)


async def test_keys_can_be_changed_by_those_who_sign_the_root(server: UpdateServer, asking: Server) -> None:
    """The next root is signed by the old one; a build that knows only the first follows."""

    source = server.source
    root = Metadata.from_file(str(server.served / "metadata/1.root.json"))
    fresh = CryptoSigner.generate_ed25519()
    root.signed.revoke_key(root.signed.roles["timestamp"].keyids[0], "timestamp")
    root.signed.add_key(fresh.public_key, "timestamp")
    root.signed.version = 2
    root.sign(read_keys(server.keys)["root"])
    root.to_file(str(server.served / "metadata/2.root.json"))
    (server.keys / "timestamp.pem").write_bytes(fresh.private_bytes)
    server.offer(SmallAssent("1.3"))
    asking = Server(source, asking.memory, confined, "1.2.4")
    assert (await _offer(asking)).version == "1.3"


# -- servers that do not play by the rules -----------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["/timestamp.json", "/1.root.json", "/2.targets.json"])
async def test_a_file_without_end_is_cut_off(server: UpdateServer, asking: Server, end: str) -> None:
    server.offer(SmallAssent("1.3"))

    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b" " * 65536)
            await writer.drain()

    path = "/updates/metadata/2.root.json" if "root" in end else server.path(end)
    server.web.answers[path] = endless
    assert (await _refusal(asking.newest())).startswith("updates.too_long: ")


async def test_a_redirect_is_not_followed(server: UpdateServer, asking: Server) -> None:
    server.web.redirect(server.path("/timestamp.json"), server.web.url("/elsewhere"))
    server.web.page("/elsewhere", (server.served / "metadata/timestamp.json").read_bytes())
    assert (await _refusal(asking.newest())).startswith("updates.elsewhere: ")
    assert "/elsewhere" not in server.asked()


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n", "updates.server"),
        (b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", "updates.server"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nhalf", "updates.unreachable"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n<html/>", "updates.unreadable"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "updates.unreadable"),
        (b"SSH-2.0-OpenSSH_9\r\n", "updates.unreachable"),
        (b"\x00" * 100_000, "updates.unreachable"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 300, "updates.unreachable"),
    ],
)
async def test_nonsense_is_an_error_in_words(server: UpdateServer, asking: Server, answer: bytes, code: str) -> None:
    server.web.answers[server.path("/timestamp.json")] = answer
    assert (await _refusal(asking.newest())).startswith(f"{code}: ")


async def test_nobody_there_is_an_error_in_words(asking: Server, server: UpdateServer) -> None:
    gone = Server(type(server.source)("http://127.0.0.1:9/x/", server.source.root), asking.memory, confined, "1.2.4")
    assert "updates.address" in await _refusal(gone.newest())
    plain = type(server.source)("http://updates.example/", server.source.root)
    said = await _refusal(Server(plain, asking.memory, confined, "1.2.4").newest())
    assert said == "updates.address: updates.example:80 is not asked for updates: its address is not encrypted."


# -- what a package holds ----------------------------------------------------------------------------------------------


async def test_a_version_that_does_not_say_its_number_is_not_used(
    server: UpdateServer, asking: Server, versions: Versions
) -> None:
    server.offer(SmallAssent("1.3", start="#!/bin/sh\necho 'needs glibc 2.99' >&2\nexit 1\n"))
    said = await _refusal(lay_down(asking, versions, await _offer(asking), _nothing))
    assert said == (
        "updates.not_starting: Assent 1.3 does not start on this computer, so it is not used. "
        "It says: 'needs glibc 2.99'."
    )
    _nothing_came_of_it(versions)


async def test_a_package_that_may_do_more_than_its_list_says_is_refused(
    server: UpdateServer, asking: Server, versions: Versions
) -> None:
    package = SmallAssent("1.3").pack(server.folder / "p")
    server.publish(package)
    other = SmallAssent("1.3", manifest("1.3", PICTURES)).pack(server.folder / "q")
    shutil.copy(other, server.served / "targets" / other.name)
    targets = server.served / "targets"

    held = Metadata.from_file(str(server.served / "metadata/2.targets.json"))
    held.signed.targets[other.name] = TargetFile.from_file(other.name, str(targets / other.name))
    newest = json.loads((targets / f"{system()}.json").read_bytes()) | {"unpacked": 10_000}
    (targets / f"{system()}.json").write_text(json.dumps(newest))
    held.signed.targets[f"{system()}.json"] = TargetFile.from_file("x", str(targets / f"{system()}.json"))
    held.signed.version = 2
    held.sign(read_keys(server.keys)["targets"])
    held.to_file(str(server.served / "metadata/2.targets.json"))
    Repository(server.served, read_keys(server.keys)).publish([])
    server.serve()
    said = await _refusal(lay_down(asking, versions, await _offer(asking), _nothing))
    assert said == (
        "updates.package: The package may do something else than the list that was signed and shown. "
        "Nothing of it is used."
    )
    _nothing_came_of_it(versions)


BWRAP = shutil.which("bwrap")


def _on_disk_of(size: int, folder: str) -> tuple[str, ...]:
    """What a command begins with for which a folder is a disk of its own, so large."""
    return (str(BWRAP), "--dev-bind", "/", "/", "--size", str(size), "--tmpfs", folder, "--")


@pytest.mark.skipif(BWRAP is None, reason="nothing here can make a small disk")
async def test_a_disk_without_room_is_said_before_anything_is_fetched(
    server: UpdateServer, asking: Server, versions: Versions
) -> None:
    server.offer(SmallAssent("1.3"))
    found = await _offer(asking)

    def cramped(folders: Sequence[str]) -> Child:
        command = (sys.executable, "-I", str(UPDATE_SCRIPT), launcher.__file__, *folders)
        return ChildProcess(ChildSpec(UPDATE_SERVICE, (*_on_disk_of(20_000_000, folders[1]), *command), once=True))

    there = replace(asking, host=cramped)
    said = await _refusal(lay_down(there, versions, found, _nothing))
    assert said == "updates.disk_full: The disk has too little room for the new version: 31 MB more."
    assert not any(path.endswith(".tar.gz") for path in server.asked())
    _nothing_came_of_it(versions)


FILLING = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from desktop.workers.inside import CallError
from desktop.workers.update_host.host import _in_thread
from desktop.workers.update_host.unpacking import Expected, unpack
work = lambda: unpack(sys.argv[2], sys.argv[3] + "/1.3", Expected("1.3", 10_000_000, b""), lambda size: None)
try:
    asyncio.run(_in_thread(work))
except CallError as error:
    print(error.code, error)
"""


@pytest.mark.skipif(BWRAP is None, reason="nothing here can make a small disk")
async def test_a_disk_that_gets_full_meanwhile_is_an_error_in_words(tmp_path: Path) -> None:
    package = SmallAssent("1.3", more={"large": os.urandom(3_000_000)}).pack(tmp_path / "p")
    (tmp_path / "small").mkdir()
    command = (*_on_disk_of(1_000_000, str(tmp_path / "small")), sys.executable, "-I", "-c", FILLING)
    process = await asyncio.create_subprocess_exec(
        *command, str(ROOT), str(package), str(tmp_path / "small"), stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    assert out.decode().strip() == "updates.disk_full The disk is full. Nothing was changed."
