#!/bin/sh
# Builds the small program in front of an AppImage, from sources that are fetched beforehand:
#
#   runtime.sh TYPE2_RUNTIME SQUASHFUSE OUT
#
# TYPE2_RUNTIME is a checkout of AppImage/type2-runtime (MIT), SQUASHFUSE one of vasi/squashfuse (BSD-2-Clause). They are
# linked with Debian's libfuse3 (LGPL-2.1), zstd (BSD-3-Clause) and zlib (Zlib), statically, so that the program needs
# nothing of the system but fusermount3:
#
#   apt install gcc libc6-dev libfuse3-dev libzstd-dev patch zlib1g-dev
#
# private-folder.patch beside this file says in its head what is changed in them, and why.
set -eu

[ $# -eq 3 ] || { sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
top=$(readlink -f -- "$1") squashfuse=$(readlink -f -- "$2") out=$(readlink -f -- "$3")
own=$(dirname -- "$(readlink -f -- "$0")")
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

cp -R "$squashfuse" "$work/squashfuse"
cd "$work"
mkdir -p src/runtime
cp "$top/src/runtime/runtime.c" "$top/src/runtime/data_sections.ld" src/runtime
patch --quiet --strip=1 --fuzz=0 < "$own/private-folder.patch"
cat > squashfuse/config.h <<'CONFIG'
#define FUSE_USE_VERSION 32
#define HAVE_ASM_BYTEORDER_H 1
#define HAVE_DECL_FUSE_ADD_DIRENT 0
#define HAVE_DECL_FUSE_ADD_DIRENTRY 1
#define HAVE_DECL_FUSE_DAEMONIZE 1
#define HAVE_DECL_FUSE_SESSION_REMOVE_CHAN 0
#define HAVE_ENDIAN_H 1
#define HAVE_LINUX_TYPES_LE16 1
#define HAVE_NEW_FUSE_UNMOUNT 1
#define HAVE_STDINT_H 1
#define HAVE_SYS_SYSMACROS_H 1
#define HAVE_UNISTD_H 1
#define HAVE_ZLIB_H 1
#define HAVE_ZSTD_H 1
#define NONSTD_PREAD_DEF CHANGE_XOPEN_SOURCE
#define NONSTD_S_IFSOCK_DEF CHANGE_XOPEN_SOURCE
#define PACKAGE_NAME "squashfuse"
#define PACKAGE_VERSION "0"
#define PACKAGE_STRING "squashfuse"
CONFIG
(cd squashfuse && sh gen_swap.sh squashfs_fs.h)
mkdir include && ln -s ../squashfuse include/squashfuse

fuse=$(pkg-config --cflags fuse3 2> /dev/null || echo -I/usr/include/fuse3)
flags="-std=gnu99 -Os -D_FILE_OFFSET_BITS=64 -D_GNU_SOURCE -ffunction-sections -fdata-sections $fuse -Iinclude"
for name in swap cache table dir file fs decompress xattr hash stack traverse util nonstd-pread nonstd-stat \
    fuseprivate nonstd-makedev nonstd-enoattr stat ll ll_inode nonstd-daemon; do
    # shellcheck disable=SC2086 # several flags
    ${CC:-gcc} -c $flags ${CPPFLAGS-} -DHAVE_CONFIG_H -Isquashfuse "squashfuse/$name.c" -o "$name.o"
done
commit=$(git -C "$top" rev-parse --short HEAD 2> /dev/null || echo unknown)
# shellcheck disable=SC2086
${CC:-gcc} $flags ${CPPFLAGS-} "-DGIT_COMMIT=\"$commit\"" -Isquashfuse -T src/runtime/data_sections.ld \
    -Wl,--gc-sections -Wl,--build-id=none -static -o runtime src/runtime/runtime.c ./*.o ${LDFLAGS-} \
    -lfuse3 -lzstd -lz -lpthread -ldl
strip runtime
printf 'AI\002' | dd of=runtime bs=1 seek=8 conv=notrunc 2> /dev/null # by this, desktops know an AppImage
cp runtime "$out"
