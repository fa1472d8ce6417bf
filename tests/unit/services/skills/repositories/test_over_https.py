"""A repository at a server of git, over https: the sandbox has the network then, and nothing of it is believed."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from desktop.domain.errors import KnownError
from desktop.domain.runs.cancellation import CancellationToken
from desktop.services.skills.repositories.git import GitSurroundings
from tests.unit.services.skills.repositories.kit import AUTHOR, Place, Repository, item, skill

pytestmark = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="there is no openssl to make a certificate with"
)


class GitServer(ThreadingHTTPServer):
    """``git http-backend`` behind https. ``asked`` are the requests; ``leads_to`` answers each with that address."""

    daemon_threads = True

    def __init__(self, folder: Path, root: Path) -> None:
        self.root, self.asked = root, list[tuple[str, str]]()
        self.leads_to, self.status = "", 0
        super().__init__(("127.0.0.1", 0), _Handler)
        key, self.certificate = folder / "key.pem", folder / "certificate.pem"
        words = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost")
        names = ("-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(self.certificate))
        subprocess.run((*words, *names), check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        self.socket = context.wrap_socket(self.socket, server_side=True)

    @property
    def address(self) -> str:
        return f"https://localhost:{self.server_address[1]}"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes is nothing to be said here."""


class _Handler(BaseHTTPRequestHandler):
    server: GitServer

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("Content-Length", "0"))))

    def _answer(self, body: bytes) -> None:
        server = self.server
        server.asked.append((self.path, self.headers.get("Authorization", "")))
        if server.leads_to or server.status:
            self.send_response(server.status or 302)
            if server.leads_to:
                self.send_header("Location", server.leads_to + self.path)
            if server.status == 401:
                self.send_header("WWW-Authenticate", 'Basic realm="harbour"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        env = {
            **AUTHOR,
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(server.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "CONTENT_LENGTH": str(len(body)),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REMOTE_ADDR": "127.0.0.1",
        }
        done = subprocess.run(("git", "http-backend"), input=body, env=env, capture_output=True)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        lines = [line.decode().partition(": ") for line in head.split(b"\r\n")]
        status = next((value.split()[0] for name, _, value in lines if name == "Status"), "200")
        self.send_response(int(status))
        for name, _, value in lines:
            if name and name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitServer]:
    (tmp_path / "hosted").mkdir()
    made = GitServer(tmp_path, tmp_path / "hosted")
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


@pytest.fixture
def hosted(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "hosted" / "skills")
    made.commit({"tide/SKILL.md": skill("tide"), "tide/fit.py": "print(1)\n"})
    return made


def trusting(tmp_path: Path, server: GitServer, **more: str) -> Place:
    """A home on a computer that knows the server's certificate."""
    variables = {"PATH": os.environ["PATH"], "SSL_CERT_FILE": str(server.certificate), **more}
    return Place(tmp_path, around=GitSurroundings(shutil.which("git"), variables))


async def test_it_is_added_and_looked_at_again_over_https(
    tmp_path: Path, server: GitServer, hosted: Repository
) -> None:
    place = trusting(tmp_path, server, GIT_ASKPASS="/nowhere")
    view = await place.add(f"{server.address}/skills/.git")
    assert view.source.address == f"{server.address}/skills/.git"
    await place.take(view, "tide")
    assert place.state("tide") == "ready"
    asked = len(server.asked)
    await place.service.views()
    await place.service.detail(view.source.name, ("skill", "tide"))
    assert len(server.asked) == asked, "only looking for changes asks the server"
    hosted.commit({"tide/SKILL.md": skill("tide", "Second.")})
    assert item(await place.look(view.source.name), "tide").status == "text"
    assert not any(authorization for _, authorization in server.asked)
    await place.close()


async def test_the_lock_file_of_one_gives_another_the_older_commit(
    tmp_path: Path, server: GitServer, hosted: Repository
) -> None:
    first = trusting(tmp_path / "first", server)
    view = await first.add(f"{server.address}/skills/.git")
    await first.take(view, "tide")
    hosted.commit({"tide/SKILL.md": skill("tide", "Second.")})
    second = trusting(tmp_path / "second", server)
    words = await second.service.from_lock(str(first.shelf.lock_file), CancellationToken(), second.said.append)
    assert words == (f"{view.source.name}: 1 taken.",)
    assert second.taken_files(view.source.name) == first.taken_files(view.source.name)
    assert second.shelf.lock_file.read_bytes() == first.shelf.lock_file.read_bytes()
    await first.close()
    await second.close()


async def test_a_lock_file_whose_commit_is_gone_says_that_the_history_was_rewritten(
    tmp_path: Path, server: GitServer, hosted: Repository
) -> None:
    first = trusting(tmp_path / "first", server)
    await first.take(await first.add(f"{server.address}/skills/.git"), "tide")
    hosted.git("commit", "--quiet", "--amend", "--message", "another")
    hosted.git("reflog", "expire", "--expire=now", "--all")
    hosted.git("gc", "--quiet", "--prune=now")
    second = trusting(tmp_path / "second", server)
    (words,) = await second.service.from_lock(str(first.shelf.lock_file), CancellationToken(), second.said.append)
    assert "does not have that commit any more" in words
    assert second.shelf.sources() == ()
    await first.close()
    await second.close()


async def test_a_private_one_says_so_and_nobody_is_asked_for_a_password(
    tmp_path: Path, server: GitServer, hosted: Repository
) -> None:
    place = trusting(tmp_path, server)
    server.status = 401
    with pytest.raises(KnownError, match="not there, or is not public"):
        await place.add(f"{server.address}/skills/.git")
    assert not any(authorization for _, authorization in server.asked)
    await place.close()


async def test_a_server_that_leads_to_another_protocol_is_not_followed(
    tmp_path: Path, server: GitServer, hosted: Repository
) -> None:
    place = trusting(tmp_path, server)
    for target in (f"file://{hosted.path}", "http://127.0.0.1:9", "ext::sh -c touch"):
        server.leads_to = target
        with pytest.raises(KnownError):
            await place.add(f"{server.address}/skills/.git")
    await place.close()


async def test_a_certificate_that_nobody_knows_is_refused(
    tmp_path: Path, server: GitServer, hosted: Repository
) -> None:
    place = Place(tmp_path)
    with pytest.raises(KnownError, match="not trusted"):
        await place.add(f"{server.address}/skills/.git")
    await place.close()
