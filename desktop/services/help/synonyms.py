"""Words that mean the same to whoever seeks help, and those that say nothing of what they seek."""

from __future__ import annotations

from collections.abc import Mapping

from desktop.services.help.stems import stem

EMPTY = frozenset(
    "a about again all am an and any are as at be been but by can could d did do does doesn don for from get got had "
    "has have how i if in into is isn it its ll m me my no of on or our please s should so than that the them then "
    "there they this to too up us ve want was way were what when where which who whose why will with without won work "
    "would you your".split()
)
"""Looked for only where nothing else was typed."""
_SAME = """
bigger: larger
remove: delete
erase: delete
trash: delete
permission: approval
confirm: approval
consent: approval
revert: undo
restore: undo
rollback: undo
conversation: chat
discussion: debate
dialogue: debate
bot: agent
assistant: agent
plugin: skill
extension: skill
price: cost
money: cost
expensive: cost
dollars: cost
bill: cost
upload: attach
photo: picture
image: picture
screenshot: picture
directory: folder
login: sign
password: key secret
internet: network
online: network
website: web
browse: web
bug: problem
issue: problem
broken: problem
failure: fail
shortcut: keys
hotkey: keys
halt: stop
abort: stop
cancel: stop
manual: help
documentation: help
begin: start
hilfe: help
rückgängig: undo
zurück: back
schlüssel: api keyring
passwort: password
löschen: delete
ordner: folder
datei: file
dateien: file
dunkel: dark
schrift: text
größer: larger
einstellungen: settings
genehmigung: approval
erlauben: allow
fragen: ask
abbrechen: stop
stoppen: stop
anhalten: stop
kosten: cost
modell: model
modelle: model
installieren: install
aktualisieren: update
sicher: safety
sicherheit: safety
datenschutz: privacy
netzwerk: network
zeitplan: schedule
fehler: problem
tastatur: keys
suche: search
suchen: search
senden: send
bild: picture
bilder: picture
"""
SAME: Mapping[str, tuple[str, ...]] = {
    stem(word): tuple(stem(other) for other in others.split())
    for word, _, others in (line.partition(": ") for line in _SAME.strip().splitlines())
}
"""By the stem of a word, the stems of those that it is sought by, too; some of the German words that people try."""
