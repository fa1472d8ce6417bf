"""What a version may do: read with care, and compared."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.domain.updates.numbers import is_newer, is_number
from desktop.domain.updates.rights import (
    FORM,
    GRAVITY,
    MOST,
    BadManifest,
    Manifest,
    Right,
    differences,
    gravity,
    read_manifest,
    written,
)

pytestmark = pytest.mark.spec("R-UPD-3")
BASH = Right("tool:bash", "write", "Runs commands", "Judged.", ("argument command",))
HOSTS = Right("knows:models", "network", "Knows addresses", "", ("a.example", "b.example"))


def manifest(*rights: Right, version: str = "1.3") -> Manifest:
    return Manifest(version, {one.id: one for one in rights}, {"database": 19})


def changes(here: Manifest, there: Manifest) -> list[tuple[str, str]]:
    return [(one.change, one.right.id) for one in differences(here, there)]


def test_a_manifest_is_read_as_it_was_written() -> None:
    assert read_manifest(written(manifest(BASH, HOSTS)).encode()) == manifest(BASH, HOSTS)


def test_the_same_rights_are_the_same_text_in_whatever_order() -> None:
    assert written(manifest(BASH, HOSTS)) == written(manifest(HOSTS, BASH))


def test_what_is_new_is_named_and_the_gravest_comes_first() -> None:
    admin = Right("starts:x", "admin", "Starts programs")
    reads = Right("tool:look", "read", "Looks")
    there = manifest(BASH, HOSTS, reads, admin)
    assert changes(manifest(BASH), there) == [("new", "starts:x"), ("new", "knows:models"), ("new", "tool:look")]


def test_what_is_gone_comes_last_as_it_was() -> None:
    (found,) = differences(manifest(BASH, HOSTS), manifest(BASH))
    assert (found.change, found.right) == ("gone", HOSTS)


def test_a_fact_more_is_more_and_a_fact_less_is_less() -> None:
    more = Right(HOSTS.id, "network", HOSTS.title, "", ("a.example", "b.example", "c.example"))
    (found,) = differences(manifest(HOSTS), manifest(more))
    assert (found.change, found.added, found.lost) == ("more", ("c.example",), ())
    (found,) = differences(manifest(more), manifest(HOSTS))
    assert (found.change, found.added, found.lost) == ("less", (), ("c.example",))


def test_one_fact_for_another_is_more() -> None:
    other = Right(HOSTS.id, "network", HOSTS.title, "", ("a.example", "c.example"))
    (found,) = differences(manifest(HOSTS), manifest(other))
    assert (found.change, found.added, found.lost) == ("more", ("c.example",), ("b.example",))


@pytest.mark.parametrize(("before", "after", "change"), [("read", "write", "more"), ("admin", "network", "less")])
def test_a_graver_category_is_more(before: str, after: str, change: str) -> None:
    one, other = (Right("x", category, "X") for category in (before, after))
    assert changes(manifest(one), manifest(other)) == [(change, "x")]


def test_other_words_are_no_other_right_and_are_told_with_those_of_before() -> None:
    """Whoever changes what is meant changes the words perhaps, and nothing else."""
    other = Right(BASH.id, BASH.category, "Other", "", BASH.facts)
    (found,) = differences(manifest(BASH), manifest(other))
    assert (found.change, found.right, found.before) == ("other", other, BASH)
    assert changes(manifest(BASH), manifest(BASH)) == []


def test_other_words_come_after_what_is_new_and_before_what_is_gone() -> None:
    here = manifest(BASH, HOSTS, Right("z", "admin", "Z"))
    there = manifest(Right(BASH.id, BASH.category, "Other", "", BASH.facts), HOSTS, Right("a", "read", "A"))
    assert changes(here, there) == [("new", "a"), ("other", "tool:bash"), ("gone", "z")]


def test_more_or_less_of_it_in_other_words_says_those_of_before_too() -> None:
    for category, change in (("admin", "more"), ("read", "less")):
        other = Right(BASH.id, category, BASH.title, "Not judged.", BASH.facts)
        (found,) = differences(manifest(BASH), manifest(other))
        assert (found.change, found.before) == (change, BASH)


def test_a_category_that_nobody_knows_is_the_gravest() -> None:
    said = written(manifest(BASH)).replace('"write"', '"harmless"')
    assert read_manifest(said.encode()).rights["tool:bash"].category == "admin"
    assert gravity("harmless") == gravity("admin") == len(GRAVITY) - 1


RIGHT = {"id": "x", "category": "read", "title": "X", "detail": "", "facts": []}


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"[]",
        b"\xff",
        b"[" * 100_000,
        b"{}",
        json.dumps({"form": FORM + 1, "rights": []}).encode(),
        json.dumps({"form": FORM, "rights": {}}).encode(),
        json.dumps({"form": FORM, "rights": [1]}).encode(),
        json.dumps({"form": FORM, "rights": [{**RIGHT, "title": ""}]}).encode(),
        json.dumps({"form": FORM, "rights": [{**RIGHT, "title": 5}]}).encode(),
        json.dumps({"form": FORM, "rights": [{**RIGHT, "facts": "abc"}]}).encode(),
        json.dumps({"form": FORM, "rights": [{**RIGHT, "facts": [1]}]}).encode(),
        json.dumps({"form": FORM, "rights": [{**RIGHT, "title": "x" * 500}]}).encode(),
        json.dumps({"form": FORM, "rights": [RIGHT, RIGHT]}).encode(),
        json.dumps({"form": FORM, "rights": [{**RIGHT, "id": str(n)} for n in range(MOST + 1)]}).encode(),
        json.dumps({"form": FORM, "rights": [{**RIGHT, "title": " "}]}).encode(),
        json.dumps({"form": FORM, "rights": [{**RIGHT, "facts": ["\t"]}]}).encode(),
        json.dumps({"form": FORM, "rights": [{**RIGHT, "title": "\ud800"}]}).encode(),
        json.dumps({"form": FORM, "rights": [{**RIGHT, "facts": ["x\udfff"]}]}).encode(),
        json.dumps({"form": FORM, "rights": [RIGHT]}).encode("utf-16"),
        json.dumps({"form": FORM, "rights": [RIGHT]}).encode("utf-16-le"),
        json.dumps({"form": FORM, "rights": [RIGHT]}).encode("utf-32"),
        json.dumps({"form": FORM, "rights": [RIGHT]}).encode("utf-8-sig"),
        b'{"form": 1, "formats": {"database": ' + b"9" * 100_000 + b'}, "rights": []}',
        b'{"form": 1, "rights": [' + b'{"facts": ' * 20_000 + b"1" + b"}" * 20_000 + b"]}",
        b'{"a":' * 90_000,
        b" " * 600_000,
    ],
)
def test_what_is_no_manifest_is_refused_in_words(said: bytes) -> None:
    with pytest.raises(BadManifest) as caught:
        read_manifest(said)
    assert str(caught.value).startswith("The list of what this version may do ")


RIGHTS = st.builds(
    Right,
    st.sampled_from(["a", "b", "c"]),
    st.sampled_from(GRAVITY),
    st.just("T"),
    st.just(""),
    st.sets(st.sampled_from(["f", "g"])).map(lambda found: tuple(sorted(found))),
)
MANIFESTS = st.lists(RIGHTS, max_size=3).map(lambda rights: manifest(*rights))


@given(MANIFESTS, MANIFESTS)
def test_nothing_new_is_ever_left_out(here: Manifest, there: Manifest) -> None:
    """Whatever the other version may do and this one not is in a line that says so."""
    found = differences(here, there)
    for name, right in there.rights.items():
        before = here.rights.get(name)
        said = [one for one in found if one.right.id == name and one.change in ("new", "more")]
        is_more = (
            before is None or set(right.facts) - set(before.facts) or gravity(right.category) > gravity(before.category)
        )
        assert bool(said) == bool(is_more)
    assert {one.right.id for one in found if one.change == "gone"} == here.rights.keys() - there.rights.keys()


@pytest.mark.parametrize("text", ["1", "1.3", "0.1.0", "1.2.3.4", "10.20.30"])
def test_numbers_of_versions(text: str) -> None:
    assert is_number(text)


@pytest.mark.parametrize(
    "text", ["", "1.", ".1", "1..2", "01", "1.2.3.4.5", "1.2b", "-1", "1/2", "..", "1 ", "1\n", "9" * 9, 1]
)
def test_what_is_no_number_of_a_version(text: object) -> None:
    assert not is_number(text)


@pytest.mark.parametrize(
    ("one", "other", "newer"),
    [("1.10", "1.9", True), ("1.3", "1.3.0", False), ("1.3.1", "1.3", True), ("1.3", "1.4", False), ("x", "1", False)],
)
def test_which_of_two_is_newer(one: str, other: str, newer: bool) -> None:
    assert is_newer(one, other) == newer
