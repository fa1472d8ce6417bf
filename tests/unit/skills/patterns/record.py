"""Records what the real picomatch says, for test_picomatch.py. Run by hand, where Node.js and picomatch 4 are:

    python tests/unit/skills/patterns/record.py /usr/lib/node_modules/npm/.../node_modules/picomatch

(npm brings picomatch 4 with it; Debian's node-picomatch is version 2.) Every pair on which Assent differs must fall
under one of ``REASONS``, with its test below; a difference that nothing explains stops the recording.
"""

import json
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from desktop.skills.patterns.globs import compile_glob
from desktop.skills.patterns.syntax import PatternError

HERE = Path(__file__).resolve().parent
SEED = 20260

NAMES = (
    """
a b c ab abc abcd a-b a.b a_b A Ab file files filed filesx file-read file-read-all file-write file-delete file-x
file- File-read profile-read bash callback-1a2b3c4d invoke-1a2b3c4d my-job amy-job other bob@mycompany.com
bob@mycompany.com.evil src src/a src/a.txt src/b.txt src/a/b.txt src/a/b/c.txt src/.env src/.git/config lib/a .env
.git .a .ab .git/config a/b a/b/c a/c a/b/c/d x/a x/y/a b/a a/ src/ /a /src/a a//b . .. ../a a/.. a/../b ./a a/./b -
a,b a} {a {a,b} {a} a{b} [ ] [a] [ab] a[b] !a ^a a! a* a? * ? a+b (a) a(b) a|b \\ a\\b 1 2 3 10 12 01 a1 a10 z é 日本
""".split()
    + ["a b", "file-read bash", "", "a\nb", " "]
)

CONTRACT = (
    """
* file-read file-* {file-read,file-write} file-[rw]* file? callback-* my-* *@mycompany.com src/* src/** ** **/* */*
a/** **/a a/**/b a/**/b/**/c **/a/** /** **/ a** **a a**b *** a/*** a/**/** a/**/**/b .* .** */.* **/.* .a* a.*
*.txt *.* a*.* src/*.txt src/**/*.txt **/*.txt **/.env [abc] [a-c] [^a] [!a] [^a]* [!a]* a[bc] a[^b]c *[ab] [ab]*
a[-b]c a[b-]c []a] [^]a] [ab]c ? ?? ??? a? ?b a?c .? ?/? a/? [.]a [.a]b [!.]a [+-9]a a[+-9]b a[/]b a[!/]b {a} {a,b}
{a,} {,a} {,} a{b,c} a{b,}c {a,b}/c {a,b}* *{a,b} {a,{b,c}} {a,{b,c}d} {a/b,c}* {a,b}{c,d} {*,x} {.*,x} {**,x}
{a/**,b} {**/a,b} a{/b,}/c {a?,b} {[ab],c} [z-a] [[:alpha:]] {1..3} {a..c} {c..a} a{1..3} {1..12} {01..12} {ab..cd}
{1..3}{a..b} {a..c,z} {..} {a..} lone[ lone{ {a a} a{b a,b [ ] [] a[ a] !a !a* a! \\* a\\* \\? \\[a] \\{a,b\\} \\a
\\\\ a\\\\b a\\b a\\/b \\.a a\\ {a\\,b,c} [\\]a] [a\\-c] +(a) @(a|b) ?(a) *(a) !(a) a|b (a|b) (a) a+b [a]+ "a" "a*"
./a ./a* a/./b ../a ../* a/../b .. . ./ a/ /a // a//b *// */ ^a $a a$ a^ @a a@b ~a %a é ? [é] 日* A a-b _ - #a
""".split()
    + ["a b", "a *", "file-* bash"]
)

PIECES = [
    "*",
    "*",
    "*",
    "?",
    "**",
    "/",
    "/",
    "a",
    "b",
    "c",
    "file",
    "-",
    ".",
    "[ab]",
    "[^a]",
    "[a-c]",
    "{a,b}",
    "{b,}",
    "{a,b*}",
    "{*,a}",
    "src",
    ".txt",
    "read",
    "\\*",
    "[!b]",
    "{a,b/c}",
    "1",
    "/**/",
    "**/",
    "/**",
    "-*",
    "{1..3}",
]


def patterns(count: int) -> list[str]:
    """The patterns of the contract, then generated ones."""
    chance = random.Random(SEED)
    found = dict.fromkeys(CONTRACT)
    while len(found) < count:
        found["".join(chance.choice(PIECES) for _ in range(chance.randint(1, 5)))] = None
    return list(found)


def instance(pattern: str, chance: random.Random) -> str:
    """A text that the pattern may well match: its wildcards replaced by something."""

    def some(found: re.Match[str]) -> str:
        piece = found[0]
        if piece[0] == "{":
            return chance.choice(piece[1:-1].split(","))
        return chance.choice(["a", "b", "c"] if piece[0] in "[?" else ["", "a", "ab", "x.y", "a/b"])

    return re.sub(r"\*+|\?", some, re.sub(r"\{[^{}]*\}|\[[^]]*\]", some, pattern)).replace("\\", "")


def names(count: int, asked: list[str]) -> list[str]:
    chance = random.Random(SEED + 1)
    found = dict.fromkeys(NAMES)
    while len(found) < (count + len(NAMES)) // 2 + 20:
        found[instance(chance.choice(asked), chance)] = None
    letters = ["a", "b", "c", "-", ".", "/", "/", "ab", "file", "src", "1", "*", "a/b", ".txt"]
    while len(found) < count:
        found["".join(chance.choice(letters) for _ in range(chance.randint(2, 6)))] = None
    return list(found)


def expanded(text: str) -> list[str]:
    """Brace lists as a shell expands them; an own, slow reading to compare with."""
    for found in re.finditer(r"\{([^{}]*)\}", text):
        inside = found[1].split(",")
        if len(inside) > 1 and "\\" not in text and not re.search(r"\[[^\]]*[{},][^\]]*\]", text):
            return [one for part in inside for one in expanded(text[: found.start()] + part + text[found.end() :])]
    return [text]


def named(text: str, *parts: str) -> bool:
    return any(part in text.split("/") for part in parts)


Reason = Callable[[str, str, bool, bool, set[bool]], bool]
"""From pattern, name, what Assent says, what picomatch says, and what it says of the braces expanded."""

REASONS: dict[str, tuple[str, Reason]] = {
    "trailing-slash": (
        "picomatch lets many patterns, not all, take one slash more at the end of the text. Here a slash is fitted by "
        "a slash or by **. (The same as its option strictSlashes.)",
        lambda p, t, ours, theirs, _: t.endswith("/") and theirs and not ours,
    ),
    "literal-specials": (
        "Extended globs, ! at the start, parentheses, |, + after a group and quotes are literal here (Q-4).",
        lambda p, t, ours, theirs, _: p.startswith("!") or bool(re.search(r'[()|"]|[\])}]\+', p)),
    ),
    "negation": (
        "[!x] negates here as in shells; in picomatch it is a class that contains ! (Q-4).",
        lambda p, t, ours, theirs, _: "[!" in p,
    ),
    "class-as-text": (
        "picomatch lets [ab] also fit the four characters [ab] anywhere; here only a whole pattern fits itself.",
        lambda p, t, ours, theirs, _: "[" in p and "[" in t and theirs and not ours,
    ),
    "class-guards": (
        "A class never fits a slash, nor a dot at the start of a name; in picomatch it does when the dot or slash is "
        "in the class, or when it is negated.",
        lambda p, t, ours, theirs, _: "[" in p and (t.startswith(".") or "/" in t) and theirs and not ours,
    ),
    "empty-name": (
        "* as a whole name needs a character, also before a slash: */a does not fit /a. In picomatch the slash counts.",
        lambda p, t, ours, theirs, _: ("//" in t or t[:1] == "/") and "*" in p and theirs and not ours,
    ),
    "dot-names": (
        "No wildcard fits . or .. here; in picomatch .? and .* do.",
        lambda p, t, ours, theirs, _: named(t, ".", "..") and theirs and not ours,
    ),
    "braces-are-alternatives": (
        "{a,b} stands for two patterns, as in shells: leading dots, ** and empty names are judged in each by itself. "
        "picomatch judges them in the pattern as a whole and so forgets them after a brace.",
        lambda p, t, ours, theirs, apart: len(expanded(p)) > 1 and ours in apart,
    ),
    "unclosed-brace": (
        "A brace without partner is a literal here; in picomatch the pattern then fits nothing but itself.",
        lambda p, t, ours, theirs, _: p.count("{") != p.count("}") and ours and not theirs,
    ),
    "ranges": (
        "{1..12} counts, {01..12} counts with zeros, as in shells, and {ab..cd} is literal; picomatch makes a class of "
        "the characters.",
        lambda p, t, ours, theirs, _: ".." in p and "{" in p,
    ),
    "shortcut-needs-a-character": (
        "*.* and **/*.* fit a name that ends in a dot, as a*.* does in picomatch, whose shortcut for these demands a "
        "character more.",
        lambda p, t, ours, theirs, _: "*.*" in p and t.endswith(".") and ours and not theirs,
    ),
    "backslash-letters": (
        "A backslash makes any character literal; picomatch hands \\b, \\d or \\w to its regular expressions and joins "
        "runs of backslashes.",
        lambda p, t, ours, theirs, _: bool(re.search(r"\\[\\A-Za-z0-9]|\\$", p)),
    ),
    "dot-slash": (
        "./ at the start is literal here; picomatch takes it away from the pattern, but not from the text. (Arguments "
        "that are paths are normalised first.)",
        lambda p, t, ours, theirs, _: p.startswith("./"),
    ),
    "newline": (
        "A line break is a character like any other; in picomatch some wildcards stop there.",
        lambda p, t, ours, theirs, _: "\n" in t and ours and not theirs,
    ),
    "stars-of-three": (
        "Three or more stars are one; in picomatch they may fit an empty name.",
        lambda p, t, ours, theirs, _: "***" in p,
    ),
    "globstar-at-root": (
        "/**/a fits /a, as a/**/b fits a/b; picomatch demands a folder between when ** follows the first slash.",
        lambda p, t, ours, theirs, _: any(part[:3] == "/**" for part in expanded(p)) and ours and not theirs,
    ),
}


def ask(folder: str, asked: list[str], texts: list[str]) -> dict[str, object]:
    """The real thing."""
    command = ["node", str(HERE / "record_picomatch.cjs"), folder]
    given = json.dumps({"patterns": asked, "names": texts})
    return json.loads(subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout)


def bits(mask: object, count: int) -> list[bool]:
    number = int(str(mask), 16)
    return [bool(number >> at & 1) for at in range(count)]


def hexed(found: list[bool]) -> str:
    return f"{sum(1 << at for at, one in enumerate(found) if one):x}"


def main(folder: str, count: int = 700) -> None:
    asked, refused = patterns(count), {}
    texts = names(200, asked)

    for pattern in list(asked):
        try:
            compile_glob(pattern)
        except PatternError as error:
            asked.remove(pattern)
            refused[pattern] = error.problem
    parts = list(dict.fromkeys(part for pattern in asked for part in expanded(pattern) if part))
    answers, of_parts = ask(folder, asked, texts), ask(folder, parts, texts)
    single = [
        {part: bits(mask, len(texts)) for part, mask in zip(parts, of_parts[options], strict=True)}
        for options in ("defaults", "contract")
    ]
    rows, unexplained = [], []
    for pattern, defaults in zip(asked, answers["defaults"], strict=True):
        theirs = bits(defaults, len(texts))
        differing: dict[str, list[bool]] = {}
        for at, text in enumerate(texts):
            ours = compile_glob(pattern).matches(text)
            if ours == theirs[at]:
                continue
            apart = {any(table[part][at] for part in expanded(pattern) if part) for table in single}
            case = (pattern, text, ours, theirs[at], apart)
            reason = next((name for name, (_, fits) in REASONS.items() if fits(*case)), "")
            if not reason:
                unexplained.append(case)
            differing.setdefault(reason, [False] * len(texts))[at] = True
        rows.append([pattern, defaults, {name: hexed(found) for name, found in differing.items()}])
    for case in unexplained[:60]:
        print("unexplained:", case)
    if unexplained:
        raise SystemExit(f"{len(unexplained)} differences without a reason")
    write(str(answers["version"]), texts, rows, refused)


def write(version: str, texts: list[str], rows: list[list[object]], refused: dict[str, str]) -> None:
    used = {name for row in rows for name in row[2]}  # type: ignore[attr-defined]
    head = {
        "picomatch": version,
        "about": "Recorded by record.py. Each row: a pattern, the names it matches in picomatch (hexadecimal, bit i is "
        "names[i]), and by reason the names on which Assent differs on purpose.",
        "reasons": {name: why for name, (why, _) in REASONS.items() if name in used},
        "refused": refused,
        "names": texts,
    }
    lines = ",\n".join("  " + json.dumps(row) for row in rows)
    text = json.dumps(head, indent=1)[:-2] + ',\n "rows": [\n' + lines + "\n ]\n}\n"
    (HERE / "picomatch.json").write_text(text, encoding="utf-8")
    print(f"{len(rows)} patterns x {len(texts)} names, {sum(len(row[2]) > 0 for row in rows)} rows with differences")


if __name__ == "__main__":
    main(sys.argv[1])
