"""Options as programs read them: letters in one word, values glued to them, long options cut short (as getopt does).

The tables say of well-known programs which letters there are and which of them take a value. A letter that is in no
table is not known to be harmless: only a rule that names it covers it (R-PRM-11).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.safety.shell.syntax.words import Word


@dataclass(frozen=True, slots=True)
class ShortOptions:
    """``valued`` letters take the rest of the word, or the next one; ``optional`` ones only the rest of the word."""

    flags: frozenset[str]
    valued: frozenset[str]
    optional: frozenset[str]

    @classmethod
    def of(cls, flags: str, valued: str = "", optional: str = "") -> ShortOptions:
        """A table from strings of letters; blanks between them mean nothing."""
        return cls(frozenset(flags) - {" "}, frozenset(valued) - {" "}, frozenset(optional) - {" "})

    def split(self, text: str) -> Iterator[tuple[str, str, bool]]:
        """Split a word like ``-abVALUE``: each letter, the value glued to it, and whether the table has it. Digits are
        numbers."""
        for at in range(1, len(text)):
            letter = text[at]
            takes = letter in self.valued or letter in self.optional
            known = takes or letter in self.flags or letter.isdigit()
            yield letter, text[at + 1 :] if takes else "", known
            if takes:
                return

    def waits(self, text: str) -> bool:
        """Whether the value of ``-abV`` is the next word."""
        return any(letter in self.valued and not value for letter, value, _ in self.split(text))


@dataclass(slots=True)
class ReadOptions:
    """A command's arguments as options and operands; the value of an option is None where it should have one and does
    not."""

    options: list[tuple[str, str | None]] = field(default_factory=list)
    operands: list[Word] = field(default_factory=list)


def read_options(words: Sequence[Word], short_options: ShortOptions, long: Mapping[str, bool]) -> ReadOptions:
    """Options and operands of a program whose long options are all in ``long`` (name -> takes a value)."""
    found, at = ReadOptions(), 0
    while at < len(words):
        text = words[at].text
        at += 1
        if text == "--":
            found.operands += words[at:]
            break
        if not text.startswith("-") or text == "-":
            found.operands.append(words[at - 1])
            continue
        following = words[at].text if at < len(words) else None
        if text.startswith("--"):
            given, equals, value = text.partition("=")
            fitting = [name for name in long if name == given] or [name for name in long if name.startswith(given)]
            waits = not equals and any(long[name] for name in fitting)
            found.options += [(name, value if equals else following if waits else "") for name in fitting or [given]]
        else:
            waits = short_options.waits(text)
            for letter, value, _ in short_options.split(text):
                needs = letter in short_options.valued and not value
                found.options.append((f"-{letter}", following if needs else value))
        at += 1 if waits else 0
    return found


_DIFF = ("p u s z w b a R q c m t r W i E F P g x v", "S G I L l n O", "U M C B X D")
_OF = ShortOptions.of
SHORT_OPTIONS: dict[str, ShortOptions] = {
    "awk": _OF("W b c C g h I k M n N O P r s S t V", "F v f e E i l B m", "d D L o p"),
    "base64": _OF("d i", "w"),
    "curl": _OF(
        "# 0 1 2 3 4 6 a f g G i I j J k l L M n N O p q R s S v V Z :",
        "A b c C d D e E F h H K m o P Q r t T u U w x X y Y z B",
    ),
    "date": _OF("u R", "d f r s", "I"),
    "fd": _OF("H I u s i g F a l L p q 0 h V", "d t e E S c j C x X o", ""),
    "file": _OF("b c C d E h i I k l L n N p r s S v z Z 0", "e f F m P"),
    "grep": _OF("E F G P i v w x y c l L q s b h H n o T Z z a r R U I u V", "e f A B C m d D"),
    "history": _OF("c a n r w p s", "d"),
    "iconv": _OF("l c s ?V", "f t o"),
    "info": _OF("a v w O b h x V", "d f I k n o", ""),
    "jq": _OF("c r j a n e s S C M R h V b", "f L"),
    "less": _OF(
        "a A B c C d e E f F g G i I J K L m M n N q Q r R s S u U V w W X ~ ?", "b h j k o O p P t T x y z D #"
    ),
    "make": _OF("b m B d e i k L n p q r R s S t v w h", "f C I o W E", "j l O"),
    "man": _OF("a c d D f h i I k K l t u V w W Z ?7", "C e E L M m p P r R s S", "H T X"),
    "psql": _OF("a A b e E H l n q s S t V w W x X z 0 1 ?", "c d f F h L o p P R T U v"),
    "pytest": _OF("h q s v V x l", "c k m n o p r W"),
    "rg": _OF("a b c F h H i I l L n N o p P q s S u U v V w x z 0 .", "A B C d e E f g j m M r t T"),
    "rsync": _OF(
        "v q c a r R u b d l L k K H p E A X o g t D S n W x I z h P s y C 4 6 m i O J U N V F 0", "B e f T M @"
    ),
    "sed": _OF("n u s E r z b", "e f l", "i"),
    "shuf": _OF("e z r", "i n o"),
    "sort": _OF("b d f g i M h n R r V c C m s u z", "k o S t T"),
    "split": _OF("d x e u", "a b C l n t", ""),
    "tar": _OF("A c d r t u x k U W O i m p s S a j J z Z M n G B h l v w R o P ?", "b f C g H K L N T V X F I"),
    "tree": _OF("a d l f x R q N Q p u g s h D F i v t c U r A S n C X J", "L P I H T o"),
    "uniq": _OF("c d i u z D", "f s w"),
    "wget": _OF("V h b d q v c N S 4 6 r k K m p E H L F x", "e o a i B t O T w Q P U l A R D I X n"),
    "yq": _OF("r P n N e M C j v V i h", "o p I s"),
    "zip": _OF("f u d m r j 0 l v q c z @ o x i F D A J T X y e n t h 1 2 3 4 5 6 7 8 9 S g L $", "b P", "Z s"),
    "git add": _OF("n v f i p e u A N"),
    "git commit": _OF("a p v q n i o e s z", "C c F m t", "S u"),
    "git clone": _OF("l s n q v 4 6", "o b u c j"),
    "git grep": _OF("v i w I r E G P F n l L z o c h H p W a q", "e f A B C m", "O"),
    "git fetch": _OF("a f k p P n t u q v m 4 6", "j o"),
    "git pull": _OF("q v n f k p t r 4 6 a", "j o s X", "S r"),
    "git push": _OF("q v n f d u 4 6", "o"),
    "git rebase": _OF("i v q n f r k m p", "s X x", "S C"),
    "git merge": _OF("n q v e", "s X m F", "S"),
    "git status": _OF("s b v z", "", "u M"),
    "git archive": _OF("l v", "o"),
    "git apply": _OF("R 3 N v q z", "p C"),
    "git init": _OF("q", "b"),
    "git format-patch": _OF("n N k s p q M", "o v U S", ""),
    "git ls-remote": _OF("h t q", "o"),
    "git checkout": _OF("q f d l 3 m p t", "b B"),
    "git switch": _OF("q f d m t", "c C"),
    "git tag": _OF("a s d v f l i e", "m F u", "n"),
    "git branch": _OF("d D m M c C f t v a r l q i u", ""),
    "git stash": _OF("q p k u a S", "m"),
    **dict.fromkeys(("git log", "git diff", "git show", "git shortlog", "git reflog"), _OF(*_DIFF)),
    "git cherry-pick": _OF("e x n s r", "m X", "S"),
    "git revert": _OF("e n s", "m X", "S"),
    "git blame": _OF("b t l e s w c p f n", "L S", "M C"),
    "git bisect": _OF("q"),
    "git submodule": _OF("q b f N", "b"),
}
SHORT_OPTIONS |= dict.fromkeys(("gawk", "mawk", "nawk"), SHORT_OPTIONS["awk"])
SHORT_OPTIONS |= {
    "fdfind": SHORT_OPTIONS["fd"],
    "gmake": SHORT_OPTIONS["make"],
    "ginfo": SHORT_OPTIONS["info"],
    "gsed": SHORT_OPTIONS["sed"],
}
