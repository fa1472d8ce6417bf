"""One size, one way to say it."""

import json

from desktop.domain.text.words import arguments_words, compact, count_words, json_beginning, size_of, size_words


def test_sizes_read_the_same_everywhere() -> None:
    sizes = (0, 1, 23, 999, 1000, 9_949, 9_950, 241_000, 999_400, 999_900, 1_500_000, 12_000_000_000, 3_000_000_000_000)
    assert [size_words(size) for size in sizes] == [
        "0 bytes",
        "1 byte",
        "23 bytes",
        "999 bytes",
        "1.0 KB",
        "9.9 KB",
        "10 KB",
        "241 KB",
        "999 KB",
        "1.0 MB",
        "1.5 MB",
        "12 GB",
        "3.0 TB",
    ]


def test_one_is_not_many_and_a_size_is_of_bytes() -> None:
    assert [count_words(count, "line") for count in (0, 1, 1200)] == ["0 lines", "1 line", "1,200 lines"]
    assert size_of("é") == 2


def test_of_large_arguments_only_the_beginning_is_ever_written_out() -> None:
    written = []

    class Row:
        def __str__(self) -> str:
            written.append(self)
            return "row"

    rows = [Row() for _ in range(5_000)]
    assert json_beginning(rows, 60).startswith('["row", "row"')
    assert compact({"rows": rows}, 60).startswith('{"rows": ["row"')
    assert arguments_words({"a": rows, "b": rows}, 60).startswith('a: ["row"')
    assert len(written) < 60
    assert json_beginning({"a": [1, None]}, 60, indent=2) == '{\n  "a": [\n    1,\n    null\n  ]\n}'


def test_of_one_long_text_inside_arguments_only_the_beginning_is_encoded() -> None:
    for maximum in (10, 60):
        for given in ({"a": "x" * 3_000}, ["y" * 3_000, 1], {"k" * 3_000: 1}):
            said = json_beginning(given, maximum)
            assert maximum <= len(said) < maximum + 12
            assert json.dumps(given)[: maximum - 2].startswith(said[: maximum - 2])
