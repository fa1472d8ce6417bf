"""A picture of points, made anew: only what is seen of it is taken over, and nothing that was written beside it.

Pillow reads it: it was measured against Qt's readers, which know no AVIF and no colours of printers, and take three
times as long to be loaded.
"""

from __future__ import annotations

import io
import re
import struct
import warnings
from typing import Any

from PIL import (
    AvifImagePlugin,
    BmpImagePlugin,
    CurImagePlugin,
    ExifTags,
    GifImagePlugin,
    IcoImagePlugin,
    Image,
    ImageCms,
    ImageColor,
    ImageFile,
    ImageFilter,
    ImagePalette,
    JpegImagePlugin,
    MpoImagePlugin,
    PngImagePlugin,
    PpmImagePlugin,
    TiffImagePlugin,
    WebPImagePlugin,
)

from desktop.workers.inside import CallError
from desktop.workers.picture_host import limits
from desktop.workers.picture_host.remade import Remade

LOADED = (
    BmpImagePlugin,
    CurImagePlugin,
    GifImagePlugin,
    IcoImagePlugin,
    ImageColor,
    ImageFilter,
    ImagePalette,
    JpegImagePlugin,
    MpoImagePlugin,
    PngImagePlugin,
    PpmImagePlugin,
    TiffImagePlugin,
    WebPImagePlugin,
)
"""What the library would import later, when no file can be opened any more."""
FORMATS = {
    "PNG": ("PNG",),
    "JPEG": ("JPEG",),
    "GIF": ("GIF",),
    "WebP": ("WEBP",),
    "AVIF": ("AVIF",),
    "TIFF": ("TIFF",),
    "BMP": ("BMP",),
    "icon": ("ICO", "CUR"),
}
_SRGB = ImageCms.createProfile("sRGB")
_GPS = ExifTags.IFD.GPSInfo
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""How a picture is turned that was taken with the camera held so (Exif)."""
_QUALITIES = (90, 80, 70, 60)
_DEEP = ("I;16", "I;16B", "I;16L", "I;16N", "I", "F")


def prepare() -> None:
    """What the library does at its first use, before no file can be opened any more."""
    Image.preinit()
    Image.MAX_IMAGE_PIXELS = limits.PHOTO
    ImageFile.LOAD_TRUNCATED_IMAGES = False
    AvifImagePlugin.DEFAULT_MAX_THREADS = 1
    warnings.simplefilter("ignore")
    warnings.simplefilter("error", Image.DecompressionBombWarning)


def remade(data: bytes, kind: str, side: int, size: int) -> Remade:
    """The first picture in it, at most so many points on its longest side and so many bytes. Raises CallError."""
    try:
        return _remade(data, kind, side, size)
    except (CallError, MemoryError, RecursionError):
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        claimed = re.search(r"\d+", str(error))
        raise _too_many(int(claimed[0]) if claimed else 0, kind) from None
    except Exception as error:  # a boundary: over what a stranger wrote the library raises what it likes
        raise _broken(kind, error) from None


def _broken(kind: str, error: Exception) -> CallError:
    words, what = str(error).lower(), f"an {kind}" if kind in ("icon", "AVIF") else f"a {kind}"
    if "decompressed data too large" in words or "too large text" in words or "text memory" in words:
        return CallError("picture.bomb", "What is written beside its points is packed to be huge, as no picture needs.")
    if "truncated" in words or "unexpected end" in words or "not enough" in words:
        return CallError("picture.broken", f"It begins like {what}, and ends too early.")
    return CallError("picture.broken", f"It begins like {what}, and is broken.")


def _remade(data: bytes, kind: str, side: int, size: int) -> Remade:
    with Image.open(io.BytesIO(data), formats=FORMATS[kind]) as opened:
        across, down = opened.size
        _bearable(across, down, kind)
        if kind == "JPEG":
            opened.draft(opened.mode, (side, side))
        opened.load()
        notes = _told_beside(opened)
        exif, profile = opened.getexif(), opened.info.get("icc_profile")
        image = _in_screen_colours(_smaller(_eight_bits(opened), side), profile)
        turn = _TURNS.get(exif.get(ExifTags.Base.Orientation))
        if turn is not None:
            image = image.transpose(turn)
            notes.insert(0, "turned upright")
        bare = _bare(image)
        more = kind != "JPEG" and _has_more(opened)  # of a JPEG it is a preview, or a map of its lights
    fitted, encoded, media_type = _encoded(bare, kind in ("JPEG", "WebP", "AVIF"), size)
    if fitted.size not in ((across, down), (down, across)):
        notes.insert(0, f"made smaller from {across} × {down}")
    if more:
        notes.append("the first of several pictures in it")
    return Remade(encoded, media_type, fitted.width, fitted.height, tuple(notes))


def _bearable(across: int, down: int, kind: str) -> None:
    if across < 1 or down < 1:
        raise CallError("picture.broken", "It has no points.")
    if across * down > (limits.PHOTO if kind == "JPEG" else limits.PIXELS):
        raise _too_many(across * down, kind)


def _too_many(claimed: int, kind: str) -> CallError:
    most = limits.PHOTO if kind == "JPEG" else limits.PIXELS
    words = f"It claims {claimed // 1_000_000:,} million points; at most {most // 1_000_000} million are opened."
    return CallError("picture.too_large", words)


def _told_beside(opened: Any) -> list[str]:
    """What is left behind, for whoever it was about."""
    exif = opened.getexif()
    try:
        place = bool(exif.get_ifd(_GPS))
    except (OSError, SyntaxError, ValueError, LookupError, TypeError, struct.error):
        place = _GPS in exif
    xmp = opened.info.get("xmp") or opened.info.get("XML:com.adobe.xmp") or b""
    place = place or "GPSLatitude" in (xmp.decode("latin-1") if isinstance(xmp, bytes) else str(xmp))
    return ["where it was taken is removed"] if place else []


def _eight_bits(opened: Any) -> Any:
    """Red, green and blue (and how opaque), greys, or a printer's colours, of eight bits each."""
    mode, clear = opened.mode, "transparency" in opened.info
    if mode in _DEEP:
        return _from_deep(opened)
    if mode in ("RGB", "L", "CMYK") and not clear:
        return opened
    if mode in ("RGBA", "LA", "PA", "La", "RGBa") or clear:
        return opened.convert("RGBA")
    return opened.convert("L" if mode == "1" else "RGB")


def _from_deep(opened: Any) -> Any:
    """Greys of sixteen bits and more, brought to those of a screen."""
    deep = opened.convert("I") if opened.mode.startswith("I;16") else opened
    least, most = deep.getextrema()
    if deep.mode == "I" and least >= 0 and most <= 65_535:
        least, most = 0, 65_535 if opened.mode != "I" or most > 255 else 255
    span = float(most) - float(least)
    factor = 255.0 / span if 0 < span < float("inf") else 1.0
    return deep.point(lambda value: value * factor + -float(least) * factor).convert("L")


def _smaller(image: Any, side: int) -> Any:
    """The image, or a copy of it with at most so many points on its longest side."""
    if max(image.size) <= side:
        return image
    factor = side / max(image.size)
    size = (max(1, round(image.width * factor)), max(1, round(image.height * factor)))
    return image.resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0)


def _in_screen_colours(image: Any, profile: Any) -> Any:
    """In sRGB, as far as its profile says in which colours it is; one that is none is passed over."""
    plain = image.convert("RGB") if image.mode == "RGBA" else image
    if isinstance(profile, bytes) and 128 < len(profile) <= limits.PROFILE:
        try:
            found = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            plain = ImageCms.profileToProfile(plain, found, _SRGB, outputMode="RGB")
        except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
            plain = plain.convert("RGB")
    plain = plain if plain.mode == "RGB" else plain.convert("RGB")
    if image.mode == "RGBA":
        plain.putalpha(image.getchannel("A"))
    return plain


def _has_more(opened: Any) -> bool:
    """Whether more pictures follow the first; nothing of them is decoded."""
    try:
        opened.seek(1)
    except Exception:  # the same: a picture is one, whatever is wrong with what follows
        return False
    return True


def _bare(image: Any) -> Any:
    """Its points alone, without alpha where all of them are opaque."""
    if image.mode == "RGBA" and image.getchannel("A").getextrema()[0] == 255:
        image = image.convert("RGB")
    bare = Image.new(image.mode, image.size)
    bare.paste(image)
    return bare


def _encoded(image: Any, photo: bool, size: int) -> tuple[Any, bytes, str]:
    """The image, as large as it could stay within so many bytes; what it became."""
    while True:
        if image.mode == "RGBA" or not photo:
            data = _saved(image, "PNG")
            if len(data) <= (size if image.mode == "RGBA" else min(size, limits.PLAIN)):
                return image, data, "image/png"
        if image.mode == "RGB":
            for quality in _QUALITIES:
                data = _saved(image, "JPEG", quality=quality)
                if len(data) <= size:
                    return image, data, "image/jpeg"
        if max(image.size) <= 16:
            raise CallError("picture.too_large", "It cannot be made small enough.")
        image = _smaller(image, max(16, max(image.size) * 3 // 4))


def _saved(image: Any, kind: str, **options: Any) -> bytes:
    held = io.BytesIO()
    image.save(held, kind, **options)
    return held.getvalue()
