"""Makes small models for llama.cpp: a real vocabulary and chat template, and weights that say what the test wants.

The vocabulary comes from one of the ``ggml-vocab-*.gguf`` files among llama.cpp's sources. Embeddings are random. The
one layer adds nothing, so that the next word depends on the last alone: the row of a word in the output matrix is the
embedding of the word that stands before it in the script. The other rows are random, too.
"""

import itertools
import math
import random
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

WIDTH, HIDDEN, HEADS = 64, 64, 2
SCALE = 0.0128
U32, I32, F32, FLAG, TEXT, LIST = 4, 5, 6, 7, 8, 9
NORMAL, MARK = 1, 3
PLAIN, Q8 = 0, 8
END = "<|im_end|>"
_FORMS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}


@dataclass(frozen=True)
class Vocabulary:
    """What the file of a vocabulary says: its keys as they are written, and its words."""

    keys: Mapping[str, bytes]
    words: Sequence[str]

    def id(self, word: str) -> int:
        return self.words.index(word)

    def chain(self, *texts: str) -> list[int]:
        """Words or marks, one after the other."""
        return [self.id(text if text.startswith("<|") else written(text)) for text in texts]


def read_vocabulary(path: Path, kept: int, more: Sequence[str] = ()) -> Vocabulary:
    """The vocabulary of this file: its ``kept`` most usual words, for a server looks at each before it says one; its
    marks; and ``more`` words, of which a script is made, since each leads to one other."""
    keys: dict[str, bytes] = {}
    found: dict[str, Any] = {}
    with open(path, "rb") as file:
        assert file.read(4) == b"GGUF"
        _, _, count = struct.unpack("<IQQ", file.read(20))
        for _ in range(count):
            name = _text(file)
            start = file.tell()
            found[name] = _value(file, struct.unpack("<I", file.read(4))[0])
            end = file.tell()
            file.seek(start)
            keys[name] = file.read(end - start)
    every = found["tokenizer.ggml.tokens"]
    marks = [word for word in every[kept:] if word.startswith("<|") and word.endswith("|>")]
    words = [*every[:kept], *marks, *map(written, more)]
    usual = set(words[:kept])
    merges = [one for one in found["tokenizer.ggml.merges"] if one.replace(" ", "", 1) in usual]
    keys["tokenizer.ggml.tokens"] = _texts(words)
    keys["tokenizer.ggml.merges"] = _texts(merges)
    kinds = [NORMAL] * kept + [MARK] * len(marks) + [NORMAL] * len(more)
    keys["tokenizer.ggml.token_type"] = struct.pack(f"<IIQ{len(kinds)}i", LIST, I32, len(kinds), *kinds)
    end_of_text = struct.pack("<II", U32, words.index("<|endoftext|>"))
    for name in ("eos", "bos", "padding"):
        keys[f"tokenizer.ggml.{name}_token_id"] = end_of_text
    return Vocabulary(keys, words)


def _texts(texts: Sequence[str]) -> bytes:
    whole = b"".join(struct.pack("<Q", len(text.encode())) + text.encode() for text in texts)
    return struct.pack("<IIQ", LIST, TEXT, len(texts)) + whole


def _text(file: BinaryIO) -> str:
    return file.read(struct.unpack("<Q", file.read(8))[0]).decode()


def _value(file: BinaryIO, form: int) -> Any:
    if form == TEXT:
        return _text(file)
    if form == LIST:
        kind, count = struct.unpack("<IQ", file.read(12))
        return [_value(file, kind) for _ in range(count)]
    return struct.unpack(_FORMS[form], file.read(struct.calcsize(_FORMS[form])))[0]


def byte_letters() -> dict[int, str]:
    """How GPT-2's vocabularies write bytes as letters."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [byte for byte in range(256) if byte not in seen]
    return {**{b: chr(b) for b in seen}, **{b: chr(256 + at) for at, b in enumerate(rest)}}


def written(text: str) -> str:
    """A text as such a vocabulary writes it."""
    letters = byte_letters()
    return "".join(letters[byte] for byte in text.encode())


def make_model(
    vocabulary: Vocabulary,
    path: Path,
    *,
    template: str,
    chains: Sequence[Sequence[int]] = (),
    babbles: bool = True,
    context: int = 4096,
    name: str = "tiny",
    seed: int = 1,
) -> None:
    """Write the model's file. ``chains``: words of which each leads to the next. What follows any other word is left
    to chance where it ``babbles``."""
    rng = random.Random(seed)
    count = len(vocabulary.words)
    embedding = rng.randbytes(count * WIDTH).replace(b"\x80", b"\x81")
    before = {after: word for chain in chains for word, after in itertools.pairwise(chain)}
    output = bytearray(rng.randbytes(count * WIDTH).replace(b"\x80", b"\x81"))
    if not babbles:
        output = bytearray(count * WIDTH)
    for word, last in before.items():
        output[word * WIDTH : word * WIDTH + WIDTH] = embedding[last * WIDTH : last * WIDTH + WIDTH]
    zeros = bytes(WIDTH * WIDTH)
    ones = struct.pack(f"<{WIDTH}f", *([1.0] * WIDTH))
    tensors: dict[str, tuple[tuple[int, ...], int, bytes]] = {
        "token_embd.weight": ((WIDTH, count), Q8, _blocks(embedding)),
        "output.weight": ((WIDTH, count), Q8, _blocks(bytes(output))),
        "output_norm.weight": ((WIDTH,), PLAIN, ones),
        "blk.0.attn_norm.weight": ((WIDTH,), PLAIN, ones),
        "blk.0.ffn_norm.weight": ((WIDTH,), PLAIN, ones),
    }
    for part in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
        tensors[f"blk.0.{part}.weight"] = ((WIDTH, HIDDEN), Q8, _blocks(zeros))
    numbers = {
        "block_count": 1,
        "context_length": context,
        "embedding_length": WIDTH,
        "feed_forward_length": HIDDEN,
        "attention.head_count": HEADS,
        "attention.head_count_kv": HEADS,
    }
    keys = {
        "general.architecture": _key("llama"),
        "general.name": _key(name),
        **{f"llama.{what}": struct.pack("<II", U32, value) for what, value in numbers.items()},
        "llama.attention.layer_norm_rms_epsilon": struct.pack("<If", F32, 1e-6),
        **{name: value for name, value in vocabulary.keys.items() if name.startswith("tokenizer.")},
        "tokenizer.chat_template": _key(template),
        "tokenizer.ggml.eos_token_id": struct.pack("<II", U32, vocabulary.id(END)),
    }
    _write(path, keys, tensors)


def _key(text: str) -> bytes:
    return struct.pack("<IQ", TEXT, len(text.encode())) + text.encode()


def _blocks(numbers: bytes) -> bytes:
    """Signed bytes in blocks of 32, each with its scale."""
    scale = struct.pack("<e", SCALE)
    return b"".join(scale + numbers[at : at + 32] for at in range(0, len(numbers), 32))


def _write(path: Path, keys: Mapping[str, bytes], tensors: Mapping[str, tuple[tuple[int, ...], int, bytes]]) -> None:
    head, data = bytearray(), bytearray()
    for name, value in keys.items():
        head += struct.pack("<Q", len(name)) + name.encode() + value
    for name, (shape, form, numbers) in tensors.items():
        head += struct.pack("<Q", len(name)) + name.encode() + struct.pack("<I", len(shape))
        head += struct.pack(f"<{len(shape)}Q", *shape) + struct.pack("<IQ", form, len(data))
        data += numbers + bytes(-len(numbers) % 32)
    start = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys))
    with open(path, "wb") as file:
        file.write(start + head + bytes(-(len(start) + len(head)) % 32) + data)


def make_eyes(path: Path, *, side: int = 28, patch: int = 14, seed: int = 1) -> None:
    """The file that lets such a model see: a tiny picture encoder of LLaVA's kind, with weights left to chance."""
    rng = random.Random(seed)
    inner, patches = 2 * WIDTH, (side // patch) ** 2

    def chance(*shape: int) -> tuple[tuple[int, ...], int, bytes]:
        count = math.prod(shape)
        return shape, PLAIN, struct.pack(f"<{count}f", *(rng.gauss(0, 0.05) for _ in range(count)))

    tensors = {
        "v.patch_embd.weight": chance(patch, patch, 3, WIDTH),
        "v.position_embd.weight": chance(WIDTH, patches),
        **{f"mm.{at}.weight": chance(WIDTH, WIDTH) for at in (0, 2)},
        **{f"mm.{at}.bias": chance(WIDTH) for at in (0, 2)},
    }
    for layer in (f"v.blk.{at}" for at in (0, 1)):
        looks = ("attn_q", "attn_k", "attn_v", "attn_out")
        tensors |= {f"{layer}.{part}.weight": chance(WIDTH, WIDTH) for part in looks}
        tensors |= {f"{layer}.{part}.{what}": chance(WIDTH) for part in ("ln1", "ln2") for what in ("weight", "bias")}
        tensors |= {f"{layer}.ffn_up.weight": chance(WIDTH, inner), f"{layer}.ffn_down.weight": chance(inner, WIDTH)}
    numbers = {
        "image_size": side,
        "patch_size": patch,
        "embedding_length": WIDTH,
        "feed_forward_length": inner,
        "block_count": 2,
        "projection_dim": WIDTH,
        "attention.head_count": HEADS,
    }
    colours = struct.pack("<IIQ3f", LIST, F32, 3, 0.5, 0.5, 0.5)
    keys = {
        "general.architecture": _key("clip"),
        "general.type": _key("mmproj"),
        "clip.projector_type": _key("mlp"),
        "clip.has_vision_encoder": struct.pack("<I?", FLAG, True),
        "clip.use_gelu": struct.pack("<I?", FLAG, True),
        "clip.vision.image_mean": colours,
        "clip.vision.image_std": colours,
        "clip.vision.attention.layer_norm_epsilon": struct.pack("<If", F32, 1e-5),
        **{f"clip.vision.{name}": struct.pack("<II", U32, value) for name, value in numbers.items()},
    }
    _write(path, keys, tensors)
