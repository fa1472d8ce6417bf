"""What a report must not have is taken out of it in every form that it has, whatever stands around it."""

import ipaddress
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desktop.safety.secrets.redaction import SecretRedactor
from desktop.services.help.key_shapes import KEYS, SHAPES
from desktop.services.help.masking import KINDS, Person, ReportMask

WORD = "zqxvk"
"""Is in everything that is made up here, so that whatever is left of it is seen."""
AROUND = (
    "{}",
    "broken: {}",
    "Database: broken: {} is not there.",
    "a ({}) b",
    'it says "{}", and ends',
    "'{}'",
    "[Errno 2] No such file or directory: '{}'",
    "x={};y",
    "<{}>",
    "at {}: refused",
    "{}\nQt: ok",
    "see {}.",
    "(see {}, {})",
)
MASK = ReportMask(SecretRedactor(), Person(("ida.lovelace", "Lovelace", "Ünal"), ("/home/ida",), ("/home/ida/.agent",)))

words = st.text(string.ascii_lowercase + string.digits + "-_", max_size=8).map(lambda rest: f"{WORD}{rest.strip('-_')}")
plain = st.text(string.ascii_lowercase + string.digits, max_size=6).map(lambda rest: f"{WORD}{rest}")
spaced = st.tuples(words, words).map(" ".join)
around = st.sampled_from(AROUND)


def secret(alphabet: str, least: int, most: int = 60) -> st.SearchStrategy[str]:
    return st.text(alphabet, min_size=least, max_size=most)


posix = st.builds(
    lambda top, parts: "/".join((top, *parts)),
    st.sampled_from(["/home", "/srv", "/mnt", "/Users", "/run/media", "/opt", "/tmp", "/var/lib", "..", ".", "~/x"]),
    st.lists(words, min_size=1, max_size=4),
)
windows = st.builds(
    lambda top, sep, parts: top.replace("\\", sep) + sep.join(parts),
    st.sampled_from(
        ["C:\\Users\\", "d:\\", "\\\\?\\C:\\", "\\\\tidepool\\", "\\\\10.0.0.9\\c$\\", "%USERPROFILE%\\", "\\Users\\"]
    ),
    st.sampled_from(["\\", "\\\\"]),
    st.lists(st.one_of(words, spaced), min_size=2, max_size=4),
)
slashed = st.builds(lambda parts: "C:/" + "/".join(parts), st.lists(words, min_size=1, max_size=3))
accounts = st.builds(lambda name, top: f"{top}\\{name}", words, st.sampled_from(["TIDEPOOL", "nt-domain", "."]))
mails = st.builds(
    lambda name, at: f"{name}@{at}",
    words,
    st.sampled_from(["example.org", "tidepool", "sub.mail.co.uk", "[10.0.0.9]", "münchen.de"]),
)
hosts = st.builds(
    lambda name, end: f"{name}{end}",
    plain,
    st.sampled_from(
        [".lan", ".local", ".fritz.box", ".corp.example.com", ".home.arpa", ".de", ":8080", ".internal:443", "@x"]
    ),
)
urls = st.builds(
    lambda scheme, login, host, rest: f"{scheme}://{login}{host}{rest}",
    st.sampled_from(["http", "https", "ssh", "ftp", "file", "git+ssh", "postgresql", "redis", "smb", "mongodb+srv"]),
    st.sampled_from(["", f"{WORD}@", f"{WORD}:{WORD}@", f":{WORD}@", f"a%40b:{WORD}!@"]),
    st.sampled_from([WORD, f"{WORD}.example.org", f"[fe80::{'1'}]:80", "10.0.0.9"]),
    st.sampled_from(["", f"/{WORD}", f"?a={WORD}#{WORD}", f"/a/{WORD}.git"]),
).filter(lambda url: WORD in url)
token = st.builds(
    lambda one, two, three: ".".join((f"eyJ{one}", f"eyJ{two}", three)),
    secret(string.ascii_letters + string.digits + "-_", 10),
    secret(string.ascii_letters + string.digits + "-_", 10),
    secret(string.ascii_letters + string.digits + "-_", 10),
)
named = st.builds(
    lambda name, value, form: form.format(name, f"{WORD}1{value}"),
    st.sampled_from(
        ["password", "api_key", "MY_TOKEN", "client-secret", "Passwort", "AWS_SECRET_ACCESS_KEY", "pwd", "auth"]
    ),
    secret(string.ascii_letters + string.digits + "!#$%&*+-./?@^_", 3, 20),
    st.sampled_from(["{}={}", "{}: {}", "{} = {}", "'{}':'{}'", '"{}": "{}"', "{} := {}", "{}=Bearer {}", "{} is {}"]),
)


@pytest.mark.parametrize(
    "kind",
    [posix, windows, slashed, accounts, mails, hosts, urls, named],
    ids=["path", "Windows", "slashes", "account", "mail", "host", "address", "named secret"],
)
def test_nothing_of_it_is_left(kind: st.SearchStrategy[str]) -> None:
    @settings(max_examples=60, deadline=None)
    @given(kind, around)
    def holds(made: str, words: str) -> None:
        assert WORD not in MASK.mask(words.replace("{}", made))

    holds()


def _forms(address: ipaddress.IPv6Address) -> tuple[str, ...]:
    low = f"{address.exploded.rpartition(':')[0].rpartition(':')[0]}:10.1.2.3"
    return (
        address.compressed,
        address.exploded,
        address.compressed.upper(),
        f"{address}%eth0",
        f"{address}/64",
        f"[{address}]:443",
        f"[{address}]",
        low,
    )


@settings(max_examples=60, deadline=None)
@given(
    st.one_of(
        st.ip_addresses(v=6), st.integers(1, 0xFFFF).map(lambda low: ipaddress.ip_address((0xFE80 << 112) + low))
    ),
    around,
)
def test_no_address_of_version_6_is_left_in_any_of_its_forms(address: ipaddress.IPv6Address, words: str) -> None:
    if address.is_loopback or address.is_unspecified:
        return
    for form in _forms(address):
        masked = MASK.mask(words.replace("{}", form))
        assert form.strip("[]").partition("]")[0].partition("%")[0] not in masked
        assert "eth0" not in masked


@settings(max_examples=50, deadline=None)
@given(st.ip_addresses(v=4), around, st.sampled_from(["", ":80", "/24", "."]))
def test_no_address_of_version_4_is_left(address: ipaddress.IPv4Address, words: str, behind: str) -> None:
    if not (address.is_loopback or address.is_unspecified):
        assert str(address) not in MASK.mask(words.replace("{}", f"{address}{behind}"))


@pytest.mark.parametrize("address", ["fe80::1", "2001:db8::5", "::ffff:10.0.0.1", "fd00::", "2001:db8::", "1::", "::2"])
def test_short_addresses_of_version_6_are_taken_out(address: str) -> None:
    assert MASK.mask(f"no answer from {address}, port 80") == "no answer from <address>, port 80"


@pytest.mark.parametrize(
    "same", ["::1", "127.0.0.1", "0.0.0.0", "127.0.0.1:11434", "12:05:33", "std::string", "Thing::new"]
)
def test_what_every_computer_has_and_what_is_no_address_stays(same: str) -> None:
    assert MASK.mask(f"listens on {same} now") == f"listens on {same} now"


@pytest.mark.parametrize("card", ["aa:bb:cc:dd:ee:ff", "AA-BB-CC-00-11-22", "aabb.ccdd.0011"])
def test_an_address_of_a_card_is_taken_out(card: str) -> None:
    assert card not in MASK.mask(f"eth0 has {card}.")


@pytest.mark.parametrize(("whose", "shape"), SHAPES, ids=[whose for whose, _ in SHAPES])
def test_whatever_has_the_shape_of_a_key_is_taken_out_of_a_report_and_of_what_a_person_writes(
    whose: str, shape: str
) -> None:
    @settings(max_examples=15, deadline=None)
    @given(st.from_regex(shape, fullmatch=True, alphabet=string.printable), around)
    def holds(key: str, words: str) -> None:
        told = words.replace("{}", key)
        assert key not in MASK.without_keys(told)
        assert key not in MASK.mask(told)

    holds()
    assert whose


@settings(max_examples=50, deadline=None)
@given(token, around)
def test_no_web_token_is_left(made: str, words: str) -> None:
    masked = MASK.mask(words.replace("{}", made))
    assert all(part not in masked for part in made.split(".")[:2])


@pytest.mark.parametrize(
    "name",
    [
        "Lovelace",
        "LOVELACE",
        "lovelace's",
        "ida.lovelace",
        "mr_lovelace_2",
        "U\N{COMBINING DIAERESIS}nal",
        "ÜNAL",
        "Love\u200blace",
    ],
)
def test_names_are_taken_out_in_each_spelling(name: str) -> None:
    masked = MASK.mask(f"belongs to {name} here").casefold()
    assert "lovelace" not in masked
    assert "nal" not in masked


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300))
def test_any_text_can_be_masked_and_a_second_time_changes_nothing(text: str) -> None:
    once = MASK.mask(text)
    assert MASK.mask(once) == once


@pytest.mark.parametrize(
    "letter", ["a", "a:", "/", "\\", "@", "a.", "-", "0", "f:", "%2F", "=", "a@", "key=", "//a", "~"]
)
def test_a_long_text_of_one_sign_takes_no_longer_than_its_length(letter: str) -> None:
    assert len(MASK.mask(letter * 20_000)) <= 120_000


def test_a_token_is_looked_for_only_up_to_where_another_may_begin() -> None:
    """Else a long text of beginnings is read to its end from each of them: a minute for 300 kB."""
    found = KEYS.search("=eyJaaa=eyJbbb.cccc.dddd ")
    assert found is not None
    assert found[0] == "eyJbbb.cccc.dddd"
    assert MASK.without_keys("=eyJaa" * 50_000) == "=eyJaa" * 50_000


def test_each_kind_says_what_it_is() -> None:
    assert len({kind.what for kind in KINDS}) == len(KINDS)
