#!/bin/sh
# Builds the Python that the folder, the deb, the rpm and the AppImage bring along, from sources that are fetched
# beforehand:
#
#   build.sh SOURCES OUT
#
# SOURCES is an unpacked CPython of a version that still gets security fixes, OUT a folder that is not there yet. Then
# run the package command with it:  OUT/bin/python3.13 packaging/dev.py package
#
#   apt install gcc make libbz2-dev libffi-dev liblzma-dev libsqlite3-dev libssl-dev uuid-dev zlib1g-dev
#
# It is one program without a library of its own, and names neither the folder that it was built in nor OUT: whoever
# builds the same sources with the same compiler gets the same bytes.
set -eu

[ $# -eq 2 ] || { sed -n '2,15s/^# \{0,1\}//p' "$0" >&2; exit 2; }
sources=$(readlink -f -- "$1") out=$(readlink -m -- "$2")
[ -f "$sources/Include/patchlevel.h" ] || { echo "build.sh: $1 holds no sources of CPython." >&2; exit 2; }
[ ! -e "$out" ] || { echo "build.sh: $2 is there already." >&2; exit 2; }
own=$(dirname -- "$(readlink -f -- "$0")")
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

# A place where nobody builds: Python finds its own files from where the program lies.
prefix=/usr/lib/assent
cp -R "$sources/." "$work/python"
cp "$own/glibc.h" "$work"
cd "$work/python"
# No file is dated later than the one release: its time is what the program says of when it was built.
SOURCE_DATE_EPOCH=$(stat -c %Y "$sources/Include/patchlevel.h")
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC PYTHONHASHSEED=0
flags="-O3 -g0 -fno-semantic-interposition -ffile-prefix-map=$work/python=."
./configure --quiet --prefix="$prefix" --disable-shared --disable-test-modules --with-ensurepip=install \
    CFLAGS="$flags -include $work/glibc.h" > /dev/null
make --silent -j "${JOBS:-$(nproc)}" > make.log 2>&1 || { tail -n 30 make.log >&2; exit 1; }
make --silent install DESTDIR="$work/root" > install.log 2>&1 || { tail -n 30 install.log >&2; exit 1; }
# What tells others how to build for this Python names the folder too.
grep -rlIF -- "$work" "$work/root" | while read -r file; do sed -i "s|$work/||g" "$file"; done
find "$work/root" -name '*.pyc' -delete
mkdir -p -- "$(dirname -- "$out")"
mv -- "$work/root$prefix" "$out"
"$out/bin/python3" -c 'import bz2, ctypes, lzma, platform, sqlite3, ssl, uuid, zlib; print(platform.python_version())'
