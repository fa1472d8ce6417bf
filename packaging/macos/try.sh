#!/usr/bin/env bash
# On a Mac: mounts a disk image, copies the app out, starts it, and says what is wrong.
# usage: try.sh FILE.dmg
set -euo pipefail

image=${1:?usage: try.sh FILE.dmg}
work=$(mktemp -d)
trap 'hdiutil detach -quiet "$work/mounted" 2>/dev/null || true; rm -rf "$work"' EXIT
hdiutil attach -quiet -nobrowse -readonly -mountpoint "$work/mounted" "$image"
cp -R "$work/mounted/Assent.app" "$work/"
codesign --verify --deep --strict "$work/Assent.app"
plutil -lint "$work/Assent.app/Contents/Info.plist"
"$work/Assent.app/Contents/MacOS/assent" --version
"$work/Assent.app/Contents/MacOS/assent" --check
"$work/Assent.app/Contents/MacOS/assent" --exit-after-paint --home "$work/home"
# Starting wrote nothing into the bundle: its signature still holds.
codesign --verify --deep --strict "$work/Assent.app"
