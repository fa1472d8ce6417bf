#!/usr/bin/env bash
# In the workflow, on a Mac that is thrown away after it: puts certificate and account, where they are given, into a
# keychain of its own, and says to the next steps what finish.sh has to use. Without them the bundle is signed for one
# computer alone.
set -euo pipefail

: "${GITHUB_ENV:?is the file of the workflow}" "${RUNNER_TEMP:?is the folder of the workflow}"
if [ -z "${MACOS_CERTIFICATE:-}" ]; then
    echo "no certificate: nothing is signed but for this computer"
    exit 0
fi
umask 077
chain=$RUNNER_TEMP/assent.keychain-db
password=$(openssl rand -hex 32)
printf %s "$MACOS_CERTIFICATE" | base64 --decode > "$RUNNER_TEMP/certificate.p12"
security create-keychain -p "$password" "$chain"
security set-keychain-settings -lut 3600 "$chain"
security unlock-keychain -p "$password" "$chain"
security import "$RUNNER_TEMP/certificate.p12" -P "${MACOS_CERTIFICATE_PASSWORD:-}" -f pkcs12 -k "$chain" -T /usr/bin/codesign
security set-key-partition-list -S apple-tool:,apple: -s -k "$password" "$chain" > /dev/null
security list-keychains -d user -s "$chain"
rm "$RUNNER_TEMP/certificate.p12"
identity=$(security find-identity -v -p codesigning "$chain" | sed -n 's/.*"\(Developer ID Application: .*\)"/\1/p' | head -n 1)
if [ -z "$identity" ]; then
    echo "keys.sh: MACOS_CERTIFICATE holds no \"Developer ID Application\" certificate with its key." >&2
    exit 2
fi
echo "ASSENT_SIGN_MACOS=$identity" >> "$GITHUB_ENV"

if [ -n "${MACOS_NOTARY_KEY:-}" ]; then
    printf %s "$MACOS_NOTARY_KEY" > "$RUNNER_TEMP/notary.p8"
    xcrun notarytool store-credentials assent --keychain "$chain" --key "$RUNNER_TEMP/notary.p8" \
        --key-id "${MACOS_NOTARY_KEY_ID:?belongs to MACOS_NOTARY_KEY}" \
        --issuer "${MACOS_NOTARY_ISSUER:?belongs to MACOS_NOTARY_KEY}"
    rm "$RUNNER_TEMP/notary.p8"
    echo "ASSENT_NOTARY_PROFILE=assent" >> "$GITHUB_ENV"
fi
