#!/usr/bin/env bash
# On a Mac: builds the launcher of a bundle that `dev.py package macos` laid, signs and notarizes it where it is given the
# means, and packs a disk image.
# usage: finish.sh Assent.app OUT.dmg
#   ASSENT_SIGN_MACOS     name of the certificate in the keychain ("Developer ID Application: …"); without it the bundle
#                         is signed for this computer alone ("-")
#   ASSENT_NOTARY_PROFILE name under which `xcrun notarytool store-credentials` keeps the account; without it nothing is
#                         sent to Apple
set -euo pipefail

app=${1:?usage: finish.sh Assent.app OUT.dmg}
image=${2:?usage: finish.sh Assent.app OUT.dmg}
here=$(cd "$(dirname "$0")" && pwd)
identity=${ASSENT_SIGN_MACOS:--}
profile=${ASSENT_NOTARY_PROFILE:-}

if [ "$(uname -s)" != Darwin ]; then
    echo "finish.sh: This runs on a Mac; codesign, notarytool and hdiutil are nowhere else." >&2
    exit 2
fi
if [ -n "$profile" ] && [ "$identity" = - ]; then
    echo "finish.sh: Apple notarizes only what is signed: set ASSENT_SIGN_MACOS, too." >&2
    exit 2
fi
python=$(cd "$app/Contents/bin" && ls python3.[0-9]*)
if [ ! -x "$app/Contents/bin/$python" ]; then
    echo "finish.sh: $app has not one Python in Contents/bin." >&2
    exit 2
fi

mkdir -p "$app/Contents/MacOS"
cc -Os -Wall -Wextra -Werror -mmacosx-version-min=13.0 -DPYTHON="\"$python\"" \
    -o "$app/Contents/MacOS/assent" "$here/launcher.c"

sign() {
    local options=(--force --sign "$identity")
    if [ "$identity" != - ]; then
        options+=(--timestamp --options runtime --entitlements "$here/entitlements.plist")
    fi
    codesign "${options[@]}" "$@"
}

# From the inside out: what is signed has to be signed before what holds it.
find "$app/Contents/bin" "$app/Contents/lib" -type f \( -name '*.so' -o -name '*.dylib' \) -print0 |
    while IFS= read -r -d '' file; do sign "$file"; done
find "$app/Contents/bin" "$app/Contents/lib" -type f -perm -u+x -print0 |
    while IFS= read -r -d '' file; do
        case $(file -b "$file") in *Mach-O*executable*) sign "$file" ;; esac
    done
find "$app/Contents/bin" "$app/Contents/lib" -type d -name '*.framework' -prune -print0 |
    while IFS= read -r -d '' folder; do sign "$folder"; done
sign "$app"
codesign --verify --deep --strict "$app"

holder=$(mktemp -d)
trap 'rm -rf "$holder" "$holder.dmg"' EXIT
cp -R "$app" "$holder/"
ln -s /Applications "$holder/Applications"
made=$holder.dmg
hdiutil create -quiet -volname Assent -srcfolder "$holder" -format UDZO -ov "$made"
if [ "$identity" != - ]; then
    codesign --force --timestamp --sign "$identity" "$made"
fi
if [ -n "$profile" ]; then
    xcrun notarytool submit "$made" --keychain-profile "$profile" --wait
    xcrun stapler staple "$made"
fi
mv "$made" "$image"
