"""One size, one way to say it."""

from desktop.domain.words import count_words, size_of, size_words


def test_sizes_read_the_same_everywhere() -> None:
    sizes = (0, 1, 23, 999, 1000, 9_949, 9_950, 241_000, 999_400, 999_900, 1_500_000, 12_000_000_000, 3_000_000_000_000)
    assert [size_words(size) for size in sizes] == [
        "0 bytes", "1 byte", "23 bytes", "999 bytes", "1.0 KB", "9.9 KB", "10 KB", "241 KB", "999 KB", "1.0 MB",
        "1.5 MB", "12 GB", "3.0 TB",
    ]  # fmt: skip


def test_one_is_not_many_and_a_size_is_of_bytes() -> None:
    assert [count_words(count, "line") for count in (0, 1, 1200)] == ["0 lines", "1 line", "1,200 lines"]
    assert size_of("é") == 2
