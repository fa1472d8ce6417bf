"""Files that a person attaches: what is read, and what is refused in words."""

import os
from pathlib import Path

import pytest

from desktop.domain.messages import FileBlock
from desktop.presenter.chat.attachments import AttachmentRefused, read_attachment


def test_a_text_file_travels_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("tide")
    assert read_attachment(str(tmp_path / "a.txt")) == FileBlock("a.txt", "tide")


def test_a_folder_a_pipe_and_bytes_are_refused_in_words_and_nothing_stays_open(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "bytes").write_bytes(b"\x00\x01")
    before = len(os.listdir("/proc/self/fd"))
    for name, why in (("", "is a folder"), ("pipe", "is not a file"), ("bytes", "is not text"), ("no", "No such file")):
        with pytest.raises(AttachmentRefused, match=why):
            read_attachment(str(tmp_path / name))
    assert len(os.listdir("/proc/self/fd")) == before
