"""Pictures of every kind, made anew: what is seen stays, and what was written beside it goes."""

import io
import warnings
from collections.abc import Iterator

import pytest
from PIL import Image

from desktop.workers.inside import CallError
from desktop.workers.picture_host.remade import Remade
from desktop.workers.picture_host.remaking import remade
from tests.harness import pictures
from tests.harness.pictures import BLUE, GREEN, RED, looked_at, marked, near, saved

pytestmark = pytest.mark.spec("R-MOD-6")


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """What the library warns of is an error, as for pictures of too many points in the process that opens them."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def made(data: bytes, kind: str, side: int = 2048, size: int = 1_000_000) -> Remade:
    return remade(data, kind, side, size)


KINDS = {
    "PNG": ("PNG", "RGB", {}),
    "PNG of a palette": ("PNG", "P", {}),
    "PNG of greys": ("PNG", "L", {}),
    "PNG of black and white": ("PNG", "1", {}),
    "PNG of sixteen bits": ("PNG", "I;16", {}),
    "JPEG": ("JPEG", "RGB", {}),
    "JPEG in steps": ("JPEG", "RGB", {"progressive": True}),
    "JPEG of greys": ("JPEG", "L", {}),
    "JPEG of a printer": ("JPEG", "CMYK", {}),
    "GIF": ("GIF", "RGB", {}),
    "WebP": ("WebP", "RGB", {}),
    "WebP without loss": ("WebP", "RGBA", {"lossless": True}),
    "AVIF": ("AVIF", "RGB", {}),
    "TIFF": ("TIFF", "RGB", {}),
    "TIFF that is packed": ("TIFF", "RGB", {"compression": "tiff_lzw"}),
    "TIFF of a fax": ("TIFF", "1", {"compression": "group4"}),
    "TIFF of a printer": ("TIFF", "CMYK", {}),
    "TIFF of fractions": ("TIFF", "F", {}),
    "BMP": ("BMP", "RGB", {}),
    "icon": ("icon", "RGBA", {"sizes": [(60, 40)]}),
}


@pytest.mark.parametrize("what", KINDS)
def test_a_picture_of_any_kind_is_seen_as_it_was(what: str) -> None:
    kind, mode, options = KINDS[what]
    image = marked(mode=mode) if mode != "I;16" else marked(mode="I").point(lambda value: value * 257).convert("I;16")
    found = made(saved(image, "ICO" if kind == "icon" else kind, **options), kind)
    seen = looked_at(found.data)
    assert (found.width, found.height) == seen.size == (60, 40)
    as_grey = marked(mode="1" if mode == "1" else "L").convert("RGB")
    for at, colour in (((5, 5), RED), ((50, 35), BLUE)):
        if mode == "F":
            assert seen.getpixel((5, 5)) > seen.getpixel((50, 35))
        else:
            wanted = as_grey.getpixel(at) if mode in ("L", "1", "I;16") else colour
            assert near(seen.getpixel(at), wanted), (at, seen.getpixel(at), wanted)
    assert found.media_type == {b"\x89P": "image/png", b"\xff\xd8": "image/jpeg"}[found.data[:2]]


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WebP", "AVIF"])
def test_it_stands_upright_and_says_nothing_of_where_it_was_taken(kind: str) -> None:
    data = pictures.with_place(kind)
    assert b"Camera of Ida" in data
    found = made(data, kind)
    assert (found.width, found.height) == (40, 60)
    assert near(looked_at(found.data).getpixel((35, 5)), RED)
    assert found.notes == ("turned upright", "where it was taken is removed")
    assert not any(word in found.data for word in (b"Camera", b"quay", b"Exif", b"eXIf"))
    assert not Image.open(io.BytesIO(found.data)).getexif()


@pytest.mark.parametrize("turn", range(1, 9))
def test_whichever_way_the_camera_was_held(turn: int) -> None:
    upright = marked()
    back = {2: 0, 3: 3, 4: 1, 5: 5, 6: 2, 7: 6, 8: 4}  # FLIP_LEFT_RIGHT, ROTATE_180, …: what undoes each
    held = upright.transpose(Image.Transpose(back[turn])) if turn in back else upright
    exif = Image.Exif()
    exif[0x0112] = turn
    found = made(saved(held, "PNG", exif=exif.tobytes()), "PNG")
    assert (found.width, found.height) == (60, 40)
    assert near(looked_at(found.data).getpixel((5, 5)), RED)
    assert near(looked_at(found.data).getpixel((55, 5)), BLUE)


def test_words_comments_and_what_hangs_on_behind_stay_behind() -> None:
    from PIL.PngImagePlugin import PngInfo  # noqa: PLC0415

    told = PngInfo()
    told.add_text("Comment", "for Ida alone")
    told.add_itxt("XML:com.adobe.xmp", "<x:xmpmeta>GPSLatitude</x:xmpmeta>")
    png = made(saved(marked(), "PNG", pnginfo=told) + b"PK\x03\x04 an archive", "PNG")
    jpeg = made(saved(marked(), "JPEG", comment=b"for Ida alone") + b"<html><script>", "JPEG")
    gif = made(saved(marked(), "GIF", comment=b"for Ida alone"), "GIF")
    for found in (png, jpeg, gif):
        assert not any(word in found.data for word in (b"Ida", b"xmp", b"PK\x03\x04", b"<html>")), found
    assert png.notes == ("where it was taken is removed",)


def test_its_colours_are_those_that_its_profile_means() -> None:
    red = Image.new("RGB", (20, 20), (255, 0, 0))
    found = made(saved(red, "PNG", icc_profile=pictures.red_as_green()), "PNG")
    assert near(looked_at(found.data).getpixel((5, 5)), (0, 255, 0))
    assert b"iCCP" not in found.data


def test_a_profile_that_is_none_is_passed_over() -> None:
    found = made(saved(marked(), "JPEG", icc_profile=b"no profile at all" * 20), "JPEG")
    assert near(looked_at(found.data).getpixel((5, 5)), RED)


def test_it_is_made_as_small_as_was_asked_for_and_says_how_large_it_was() -> None:
    found = made(saved(marked(3_000, 1_000), "JPEG"), "JPEG", side=600)
    assert (found.width, found.height, found.notes) == (600, 200, ("made smaller from 3000 × 1000",))
    noise = Image.effect_noise((900, 900), 90).convert("RGBA")
    noise.putalpha(Image.effect_noise((900, 900), 90))
    bounded = made(saved(noise, "PNG"), "PNG", size=200_000)
    assert len(bounded.data) <= 200_000
    assert bounded.media_type == "image/png"


def test_what_is_clear_stays_clear_and_its_colour_does_not_shine_through() -> None:
    clear = Image.new("RGBA", (400, 400), (*GREEN, 0))
    clear.paste(Image.new("RGBA", (200, 400), (*RED, 255)))
    seen = Image.open(io.BytesIO(made(saved(clear, "PNG"), "PNG", side=99).data))
    assert seen.mode == "RGBA"
    assert seen.getpixel((90, 50))[3] == 0
    edge = seen.getpixel((49, 50))
    assert near(seen.getpixel((10, 50)), (*RED, 255))
    assert 50 < edge[3] < 205
    assert near(edge[:3], RED), edge


def test_of_many_pictures_there_is_the_first() -> None:
    assert made(pictures.moving_gif(100_000), "GIF").notes == ("the first of several pictures in it",)
    pages = saved(marked(), "TIFF", save_all=True, append_images=[Image.new("RGB", (5, 5), GREEN)])
    found = made(pages, "TIFF")
    assert near(looked_at(found.data).getpixel((5, 5)), RED)
    assert found.notes == ("the first of several pictures in it",)


HOSTILE = {
    "a PNG of 60,000 × 60,000 points": (lambda: pictures.png_claiming(60_000, 60_000), "PNG", "too_large"),
    "a PNG without points": (lambda: pictures.png_claiming(0, 5), "PNG", "broken"),
    "a PNG with a hundred megabytes of words": (
        lambda: pictures.png_claiming(9, 9, pictures.chunk(b"zTXt", b"a\0\0" + pictures.packed_zeros(100_000_000))),
        "PNG",
        "bomb",
    ),
    "a PNG with a hundred megabytes of colour profile": (
        lambda: pictures.png_claiming(9, 9, pictures.chunk(b"iCCP", b"a\0\0" + pictures.packed_zeros(100_000_000))),
        "PNG",
        "bomb",
    ),
    "half of a PNG": (lambda: saved(Image.effect_noise((99, 99), 90), "PNG")[:3_000], "PNG", "broken"),
    "half of a JPEG": (lambda: saved(Image.effect_noise((99, 99), 90), "JPEG")[:2_000], "JPEG", "broken"),
    "half of a WebP": (lambda: saved(Image.effect_noise((99, 99), 90), "WebP")[:1_000], "WebP", "broken"),
    "half of an AVIF": (lambda: saved(Image.effect_noise((99, 99), 90), "AVIF")[:1_000], "AVIF", "broken"),
    "a JPEG that claims more than is opened": (
        lambda: saved(marked(), "JPEG").replace(b"\x00\x28\x00\x3c", b"\xff\xff\xff\xff", 1),
        "JPEG",
        "too_large",
    ),
    "a GIF that claims more than is opened": (
        lambda: saved(marked(), "GIF").replace(b"\x3c\x00\x28\x00", b"\xff\xff\xff\xff", 1),
        "GIF",
        "too_large",
    ),
    "a TIFF that claims more than is opened": (
        lambda: saved(Image.new("1", (20_000, 20_000)), "TIFF", compression="group4"),
        "TIFF",
        "too_large",
    ),
    "a PNG that is called a JPEG": (lambda: saved(marked(), "PNG"), "JPEG", "broken"),
    "nothing behind its first bytes": (lambda: b"RIFF\0\0\0\0WEBP", "WebP", "broken"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_made_to_hurt_is_refused_with_its_reason(what: str) -> None:
    make, kind, code = HOSTILE[what]
    with pytest.raises(CallError) as caught:
        made(make(), kind)
    assert caught.value.code == f"picture.{code}", str(caught.value)
