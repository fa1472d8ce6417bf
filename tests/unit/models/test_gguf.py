"""The head of a model's file: what it says, and what strangers can put there."""

import os
import struct
from pathlib import Path

import pytest

from desktop.domain.errors import KnownError
from desktop.models.gguf import read_model_file
from tests.unit.services.local_servers.kit import head, number, text, word


def written(folder: Path, content: bytes, name: str = "tide.gguf") -> str:
    (folder / name).write_bytes(content)
    return str(folder / name)


LLAMA = word("general.architecture", "llama")


def listed(name: str, *values: str) -> bytes:
    return text(name) + struct.pack("<IIQ", 9, 8, len(values)) + b"".join(text(value) for value in values)


def test_it_says_its_name_its_size_and_what_it_was_trained_for(tmp_path: Path) -> None:
    tags = listed("general.tags", "chat", "tide")
    more = (LLAMA, word("general.name", "Tide 7B"), tags, number("llama.context_length", 32768))
    path = written(tmp_path, head(*more, listed("tokenizer.ggml.tokens", *(["word"] * 600))))
    found = read_model_file(path)
    assert (found.path, found.title, found.trained) == (path, "Tide 7B", 32768)
    assert found.size == (tmp_path / "tide.gguf").stat().st_size
    assert found.sees_with == ""


def test_what_makes_it_see_is_found_beside_it_where_it_is_the_only_one(tmp_path: Path) -> None:
    path = written(tmp_path, head(LLAMA))
    eyes = written(tmp_path, head(word("general.architecture", "clip")), "mmproj-tide.gguf")
    assert read_model_file(path).sees_with == eyes
    with pytest.raises(KnownError, match=r"only lets another model see images. Choose the model's own file"):
        read_model_file(eyes)
    written(tmp_path, b"", "mmproj-other.gguf")
    assert read_model_file(path).sees_with == ""


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"GGML" + bytes(100),
        b"GGUF",
        head(LLAMA, version=1),
        head(LLAMA)[:-3],
        head(text("general.name") + struct.pack("<IQ", 8, 1 << 62)),
        head(text("a") + struct.pack("<I", 77)),
        head(text("a") + struct.pack("<IIQ", 9, 6, 1 << 60)),
        head(text("a") + struct.pack("<IIQ", 9, 9, 1)),
        b"PK\x03\x04" + bytes(1000),
    ],
)
def test_what_is_no_model_is_refused_in_words(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(KnownError, match=r"tide.gguf is not a whole model file"):
        read_model_file(written(tmp_path, content))


@pytest.mark.parametrize("trained", [0, (1 << 32) - 1])
def test_numbers_that_cannot_be_are_left_out(tmp_path: Path, trained: int) -> None:
    found = read_model_file(written(tmp_path, head(LLAMA, number("llama.context_length", trained))))
    assert found.trained == (trained or None)
    assert read_model_file(written(tmp_path, head(LLAMA, word("llama.context_length", "long")))).trained is None


def test_a_name_of_any_length_and_a_template_of_any_length_are_no_trouble(tmp_path: Path) -> None:
    long = word("general.name", "x" * 5000), word("tokenizer.chat_template", "y" * 200_000)
    found = read_model_file(written(tmp_path, head(LLAMA, *long, number("llama.context_length", 512))))
    assert (len(found.title), found.trained) == (120, 512)


def test_a_later_part_of_a_model_is_not_what_is_to_be_chosen(tmp_path: Path) -> None:
    with pytest.raises(KnownError, match=r"a later part of a model in 3 files. Choose the first one"):
        read_model_file(written(tmp_path, head(LLAMA), "tide-00002-of-00003.gguf"))
    assert read_model_file(written(tmp_path, head(LLAMA), "tide-00001-of-00003.gguf")).title


def test_a_folder_or_a_file_that_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(KnownError, match="not there any more"):
        read_model_file(str(tmp_path / "gone.gguf"))
    with pytest.raises(KnownError, match="cannot be read"):
        read_model_file(str(tmp_path))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")
def test_a_pipe_to_which_nobody_writes_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.gguf")
    for path in (str(tmp_path / "pipe.gguf"), "no\0path.gguf"):
        with pytest.raises(KnownError, match="not a whole model file"):
            read_model_file(path)


@pytest.mark.skipif(os.name != "posix", reason="names of bytes")
def test_a_name_that_no_setting_could_keep_is_said(tmp_path: Path) -> None:
    os.rename(written(tmp_path, head(LLAMA)), os.fsencode(tmp_path / "odd") + b"\xff.gguf")
    with pytest.raises(KnownError, match="Rename it"):
        read_model_file(str(tmp_path / "odd\udcff.gguf"))
