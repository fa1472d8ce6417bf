"""What servers offer, as plain records: addresses with blanks, and what a model reads of content."""

import pytest

from desktop.domain.messages import ImageBlock
from desktop.domain.servers.mcp import McpPart, McpPromptText, McpRead, McpSaid, McpTemplate

VALUES = {"var": "value", "hello": "Hello World!", "path": "/foo/bar", "x": "1024", "y": "768", "empty": ""}


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("{var}", "value"),
        ("{hello}", "Hello%20World%21"),
        ("{path}/here", "%2Ffoo%2Fbar/here"),
        ("{+path}/here", "/foo/bar/here"),
        ("{#hello}", "#Hello%20World!"),
        ("X{.var,x}", "X.value.1024"),
        ("{/var,x}/here", "/value/1024/here"),
        ("{;x,y}", ";x=1024;y=768"),
        ("{?x,y}", "?x=1024&y=768"),
        ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
        ("{x,hello,y}", "1024,Hello%20World%21,768"),
        ("{/list*}", ""),
        ("file:///{empty}{nobody}end", "file:///end"),
        ("{var:3}", "val"),
        ("no {blank", "no {blank"),
    ],
)
def test_an_address_with_blanks_is_filled_in_as_the_standard_has_it(template: str, filled: str) -> None:
    assert McpTemplate("s", template).filled(VALUES) == filled


def test_the_blanks_of_an_address_are_named_once_and_in_order() -> None:
    assert McpTemplate("s", "x://{b}/{a}{?b,c*}/{+d:3}").variables == ("b", "a", "c", "d")


def test_a_model_reads_where_content_is_from_and_what_is_not_shown() -> None:
    image = McpPart("image", media=ImageBlock("image/png", "AAAA"), uri="x://i", media_type="image/png", size=3)
    parts = (
        McpPart("text", "words"),
        McpPart("resource", "inside", uri="x://r"),
        McpPart("link", uri="https://x", name="there", media_type="text/plain", description="more"),
        McpPart("other", uri="x://z", media_type="application/zip", size=1200),
        image,
    )
    said = McpPromptText("s", "p", messages=tuple(McpSaid("user", part) for part in parts), notes=("[cut]",))
    assert said.text.splitlines() == [
        "words",
        "[resource x://r]",
        "inside",
        "[end of the resource]",
        "[link: there, https://x, text/plain, more]",
        "[x://z, application/zip, 1,200 bytes: not shown]",
        "[image x://i, image/png]",
        "[cut]",
    ]
    assert said.media == (image.media,)
    assert McpPromptText("s", "p", messages=(McpSaid("assistant", parts[0]),)).text == "[assistant] words"


def test_a_resource_that_was_read_is_its_texts_and_its_images() -> None:
    image = McpPart("image", media=ImageBlock("image/png", "AAAA"))
    read = McpRead("s", "x://r", (McpPart("resource", "line", uri="x://r"), image), ("[more was left out]",))
    assert read.text == "line\n[image]\n[more was left out]"
    assert read.media == (image.media,)
