"""Icons of agents: ours, a picture beside the definition, or a letter, which is all that a hostile file gets (D-9)."""

import os
from pathlib import Path

import pytest
from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QColor, QImage

from desktop.app.wiring.agent_looks import looks_of
from desktop.domain.definitions import AgentDefinition, SideDefinition
from desktop.presenter.trace.node import TraceNode
from desktop.services.definitions.icons import icon_file, read_icon
from desktop.ui.approvals.request.head import Crumbs
from desktop.ui.chat.composer.pickers import AgentPicker
from desktop.ui.theme import Theme
from desktop.ui.theme.agent_images import IMAGE_BYTES, SIDE, decoded
from desktop.ui.theme.agent_looks import AgentLook, agent_icon
from desktop.ui.trace.tree_rows import icon_of

RED = QColor("#c01030")
SHAPE = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10">{}</svg>'
CIRCLE = '<circle cx="5" cy="5" r="4" fill="#c01030"/>'


def picture(kind: str = "PNG", width: int = 40, height: int = 40) -> bytes:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(RED)
    buffer = QBuffer(data := QByteArray())
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    assert image.save(buffer, kind)
    return bytes(data.data())


def agent(folder: Path, icon: str, name: str = "owl_agent", title: str = "Owl") -> AgentDefinition:
    return AgentDefinition(name, SideDefinition("owl"), title=title, icon=icon, origin=str(folder / f"{name}.yaml"))


@pytest.mark.parametrize("kind", ["PNG", "JPG", "WEBP"])
def test_a_picture_is_decoded_small(kind: str) -> None:
    image = decoded(picture(kind, 600, 300))
    assert image is not None
    assert (image.width(), image.height()) == (SIDE, SIDE // 2)


def test_an_svg_of_plain_shapes_is_drawn() -> None:
    image = decoded(SHAPE.format(CIRCLE).encode())
    assert image is not None
    assert image.pixelColor(SIDE // 2, SIDE // 2) == RED


@pytest.mark.parametrize(
    "inside",
    [
        "<script>x</script>",
        '<image href="file:///etc/passwd" width="9" height="9"/>',
        '<use href="#a"/>',
        "<style>@import 'x';</style>",
        '<rect onload="x()" width="9" height="9"/>',
        '<rect fill="url(#a)" width="9"/>',
        '<rect style="fill:red" width="9"/>',
        "<foreignObject/>",
        '<a href="https://example.com"/>',
        "<text>words</text>",
        '<image xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="http://127.0.0.1:9/a.png"/>',
        "<filter/>",
        '<x:script xmlns:x="http://www.w3.org/2000/svg"/>',
        "<animate/>",
        "<g></svg>",
    ],
)
def test_an_svg_with_anything_else_is_not(inside: str) -> None:
    assert decoded(SHAPE.format(CIRCLE + inside).encode()) is None


def test_what_is_too_large_broken_or_no_picture_is_none() -> None:
    bomb = '<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>' + SHAPE.format("<title>&b;</title>")
    for data in (
        picture("PNG", 3000, 3000),
        picture() + b"\0" * IMAGE_BYTES,
        picture()[:60],
        b"",
        b"GIF89a",
        b"<html/>",
        bomb.encode(),
        SHAPE.format(CIRCLE * 2000).encode(),
        b"RIFF" + b"\0" * 40,
        b"\x89PNG\r\n\x1a\n" + b"\xff" * 99,
    ):
        assert decoded(data) is None, data[:20]


def test_a_file_lies_below_the_folder_of_its_definition_or_is_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "agents"
    (folder / "pictures").mkdir(parents=True)
    (folder / "pictures" / "owl.png").write_bytes(picture())
    (tmp_path / "secret.png").write_bytes(picture())
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    os.mkfifo(folder / "pipe.png")
    looks = looks_of(
        [
            agent(folder, "/pictures/owl.png"),
            agent(folder, "/link.png", "link_agent", "Link"),
            agent(folder, "/pipe.png", "pipe_agent", "1 pipe"),
            agent(folder, "/none.png", "none_agent", "«None»"),
            agent(folder, "https://example.com/owl.png", "web_agent", "Web"),
            agent(folder, "/icons/search.svg", "search_agent", "Search"),
            agent(folder, "/x.png", "late_agent", "Owl"),
        ]
    )
    assert looks["owl_agent"].image is not None
    assert looks["Owl"] is looks["owl_agent"], "the first that is called so, not the last"
    assert looks["search_agent"].bundled == "search"
    for name, letter in (("link", "L"), ("pipe", "1"), ("none", "N"), ("web", "W")):
        assert looks[f"{name}_agent"] == AgentLook(letter), name
    assert icon_file(agent(folder, "/../secret.png")) is None
    assert read_icon(folder / "pictures" / "owl.png", 10) == b""


def test_each_is_drawn_and_follows_what_is_said_of_the_agents(theme: Theme) -> None:
    usual = theme.pixmap("agent", "text-2", 16).toImage()
    assert theme.pixmap(agent_icon("Owl"), "text-2", 16).toImage() == usual
    told: list[None] = []
    theme.changed.connect(lambda: told.append(None))
    looks = {"Owl": AgentLook("O", image=decoded(picture())), "Web": AgentLook("W"), "Sea": AgentLook("S", "search")}
    theme.set_agent_looks(looks)
    theme.set_agent_looks(dict(looks))
    assert len(told) == 1, "the same again changes nothing"
    owl = theme.pixmap(agent_icon("Owl"), "text-2", 16, 2.0)
    assert (owl.width(), owl.toImage().pixelColor(16, 16)) == (32, RED)
    letters = [theme.pixmap(agent_icon("Web"), token, 16).toImage() for token in ("text-2", "failed")]
    assert letters[0] not in (usual, letters[1])
    assert theme.pixmap(agent_icon("Sea"), "text-2", 16).toImage() == theme.pixmap("search", "text-2", 16).toImage()
    theme.set_agent_looks({})
    assert theme.pixmap(agent_icon("Owl"), "text-2", 16).toImage() == usual


def test_where_agents_are_named_they_have_their_icon(theme: Theme, qtbot) -> None:
    theme.set_agent_looks({"owl_agent": AgentLook("O"), "Owl": AgentLook("O")})
    crumbs = [Crumbs((name, "bash")) for name in ("Owl", "Own")]
    for one in crumbs:
        qtbot.addWidget(one)
    assert crumbs[0].sizeHint().width() > crumbs[1].sizeHint().width() + theme.px(10)
    picker = AgentPicker(crumbs[0], [("owl_agent", "Owl")], "owl_agent", "")
    assert picker.rows.model().shown[0].icon == agent_icon("owl_agent")
    assert icon_of(TraceNode("agent", "owl_agent", None, 0.0))[0] == agent_icon("owl_agent")
    theme.set_agent_looks({})
