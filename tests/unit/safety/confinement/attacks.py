"""Attacks on the confinement of a process, as data: what is tried, and how it shows that it worked.

An attack that worked prints REACHED, or prints a canary (PRIVATE, CONVERSATIONS, ENVIRONMENT), or changes something
outside, or reaches a listener, or harms the process that stands for the app. Words in capitals between @ are places:
@OUT@ a folder outside, @SSH@ a denied one, @DATA@ the app's data, @HOME@ the person's home, @APP@ the app's process,
@TCP@ and @UDP@ ports, @NEAR@ and @FAR@ Unix sockets in /tmp and elsewhere, @GRAM@ a datagram one, @ABSTRACT@ a name,
@OPEN@ an allowed folder with sockets whose names the kernel's list does not tell.

``sh`` runs with bash, ``py`` with Python. ``alone``: not tried without confinement, where it would do harm or prove
nothing (the machine lacks what it needs). ``network``: with the network on.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Attack:
    kind: str
    name: str
    code: str
    language: Literal["sh", "py"] = "py"
    alone: bool = False
    network: bool = False

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}"


def sh(kind: str, *attacks: tuple[str, str], alone: bool = False) -> list[Attack]:
    return [Attack(kind, name, code, "sh", alone) for name, code in attacks]


def py(kind: str, *attacks: tuple[str, str], alone: bool = False, network: bool = False) -> list[Attack]:
    return [Attack(kind, name, code, "py", alone, network) for name, code in attacks]


PRELUDE = """
import ctypes, errno, fcntl, mmap, os, resource, signal, socket, struct, subprocess, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
APP = int("@APP@")
def call(number, *arguments):
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_void_p(a) if isinstance(a, int) else a for a in arguments])
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result
def reached(*_):
    print("REACHED", flush=True)
def made(family, kind=socket.SOCK_STREAM, protocol=0):
    return socket.socket(family, kind, protocol)
"""

WRITING = [
    *sh(
        "writing",
        ("make a file", "echo x > @OUT@/new"),
        ("append", "echo x >> @OUT@/secret.txt"),
        ("remove", "rm -f @OUT@/secret.txt"),
        ("move in", "mv @OUT@/secret.txt ."),
        ("move out", "echo x > own; mv own @OUT@/"),
        ("through a link", "ln -s @OUT@ l; echo x > l/new"),
        ("through a chain of links", "ln -s @OUT@ a; ln -s a b; mkdir b/new"),
        ("through a second name", "ln @OUT@/secret.txt here && echo x > here"),
        ("through the root of /proc", "echo x > /proc/self/root@OUT@/new"),
        ("through a parent's root", "echo x > /proc/$PPID/root@OUT@/new"),
        ("a folder", "mkdir @OUT@/d"),
        ("a pipe", "mkfifo @OUT@/p"),
        ("a link", "ln -s x @OUT@/l"),
        ("cut to nothing", "truncate -s 0 @OUT@/secret.txt"),
        ("from its folder", "cd @OUT@ && echo x > t"),
        ("with tar", "echo x > t; tar c t | tar x -C @OUT@"),
        ("a startup file", "echo evil >> @HOME@/.bashrc"),
        ("a login entry", "mkdir -p @HOME@/.config/autostart && echo x > @HOME@/.config/autostart/x.desktop"),
        ("a key", "mkdir -p @SSH@; echo x >> @SSH@/authorized_keys"),
    ),
    *py(
        "writing",
        (
            "beneath an open folder",
            "d = os.open('@OUT@', os.O_RDONLY); os.open('n', os.O_CREAT | os.O_WRONLY, dir_fd=d)",
        ),
        ("after walking there", "os.chdir('@OUT@'); open('n', 'w').write('x')"),
        (
            "by an exchange of names",
            "open('own', 'w').write('x'); call(316, -100, b'own', -100, b'@OUT@/secret.txt', 2)",
        ),
        (
            "a file without a name",
            "f = os.open('.', os.O_TMPFILE | os.O_RDWR); os.write(f, b'x')\n"
            "call(265, -100, f'/proc/self/fd/{f}'.encode(), -100, b'@OUT@/n', 0x400)",
        ),
        ("by its truncation", "os.truncate('@OUT@/secret.txt', 0)"),
        ("in memory", "f = os.open('@OUT@/secret.txt', os.O_RDWR); mmap.mmap(f, 4)[:1] = b'x'"),
        ("opened to read, cut", "os.open('@OUT@/secret.txt', os.O_RDONLY | os.O_TRUNC)"),
        (
            "copied by the kernel",
            "o = os.open('@OUT@/secret.txt', os.O_WRONLY); i = os.open('note.txt', os.O_RDONLY)\n"
            "os.copy_file_range(i, o, 4)",
        ),
        ("a socket's file", "made(socket.AF_UNIX).bind('@OUT@/s')"),
    ),
]

READING = [
    *sh(
        "reading",
        ("a key", "cat @SSH@/id_rsa"),
        ("a relative path", "cat ../../.ssh/id_rsa"),
        ("a pattern", "cat @HOME@/.s*/*"),
        ("a copy", "cp -r @SSH@ stolen; cat stolen/*"),
        ("an archive", "tar c @SSH@ | tar x -O"),
        ("a search", "grep -rh . @SSH@ @DATA@"),
        ("a find", "find @HOME@ -name id_rsa -exec cat {} +"),
        ("a second name", "ln @SSH@/id_rsa h; cat h"),
        ("a link", "ln -s @SSH@ l; cat l/id_rsa"),
        ("the app's data", "cat @DATA@/assent.db"),
        ("the app's data, relative", "cat ../data/assent.db"),
        ("the root of /proc", "cat /proc/self/root@SSH@/id_rsa"),
        ("the app's root", "cat /proc/@APP@/root@SSH@/id_rsa"),
        ("the app's folder", "cat /proc/@APP@/cwd/id_rsa"),
        ("a moved folder", "mv @SSH@ moved; cat moved/id_rsa"),
        ("an editor's way", "python3 -c 'print(open(\"@SSH@/id_rsa\").read())'"),
    ),
    *py(
        "reading",
        (
            "beneath an open folder",
            "d = os.open('@HOME@', os.O_RDONLY | os.O_PATH)\n"
            "print(os.read(os.open('.ssh/id_rsa', os.O_RDONLY, dir_fd=d), 99))",
        ),
        ("by a descriptor of it", "f = os.open('@SSH@/id_rsa', os.O_PATH); print(open(f'/proc/self/fd/{f}').read())"),
        ("mapped into memory", "f = os.open('@SSH@/id_rsa', os.O_RDONLY); print(mmap.mmap(f, 0, prot=1)[:])"),
        ("sent by the kernel", "f = os.open('@SSH@/id_rsa', os.O_RDONLY); os.sendfile(1, f, 0, 99)"),
        (
            "by a handle",
            "h = ctypes.create_string_buffer(struct.pack('Ii', 128, 0) + bytes(128), 136); m = ctypes.c_int()\n"
            "call(303, -100, b'@SSH@/id_rsa', ctypes.byref(h), ctypes.byref(m), 0)\n"
            "d = os.open('/', os.O_RDONLY)\n"
            "print(os.read(call(304, d, ctypes.byref(h), os.O_RDONLY), 99))",
        ),
        (
            "by a watcher",
            "f = libc.inotify_init(); w = libc.inotify_add_watch(f, b'@DATA@/assent.db', 1)\n"
            "print(open('@DATA@/assent.db').read())",
        ),
    ),
    *py(
        "reading",
        (
            "the disk itself",
            "any(os.path.exists(d) and os.read(os.open(d, os.O_RDONLY), 9) and reached() "
            "for d in ('/dev/vda', '/dev/sda', '/dev/nvme0n1', '/dev/mapper/control', '/dev/loop0', '/dev/vda1'))",
        ),
        (
            "the machine's memory",
            "any(os.path.exists(d) and os.open(d, os.O_RDONLY) and reached() "
            "for d in ('/dev/mem', '/dev/kmem', '/proc/kcore', '/dev/port'))",
        ),
        (
            "other terminals",
            "any(os.open(f'/dev/pts/{n}', os.O_RDONLY | os.O_NOCTTY) and reached() "
            "for n in range(64) if os.path.exists(f'/dev/pts/{n}'))",
        ),
        ("shared memory of others", "open('/dev/shm/@SHM@').read() and reached()"),
        (
            "keyboards and cameras",
            "import glob\n"
            "any(os.open(d, os.O_RDONLY | os.O_NONBLOCK) and reached() for d in glob.glob('/dev/input/*') "
            "+ glob.glob('/dev/video*') + glob.glob('/dev/snd/*'))",
        ),
        alone=True,
    ),
]

PROCESSES = [
    *py(
        "processes",
        ("a signal", "os.kill(APP, 0); reached()"),
        ("a killing", "os.kill(APP, 9)"),
        ("a stop", "os.kill(APP, signal.SIGSTOP); reached()"),
        ("a group's killing", "os.killpg(os.getpgid(APP), 9)"),
        ("a thread's signal", "call(234, APP, APP, 9)"),
        (
            "a queued signal",
            "call(129, APP, 9, ctypes.create_string_buffer(struct.pack('iii', 9, 0, -1) + bytes(200)))",
        ),
        ("a signal by its handle", "f = os.pidfd_open(APP); signal.pidfd_send_signal(f, 9)"),
        (
            "a signal by a pipe",
            "r, w = os.pipe(); fcntl.fcntl(r, fcntl.F_SETOWN, APP); fcntl.fcntl(r, 10, 9)\n"
            "fcntl.fcntl(r, fcntl.F_SETFL, fcntl.fcntl(r, fcntl.F_GETFL) | 0o20000); os.write(w, b'x'); "
            "time.sleep(0.1)",
        ),
        ("its environment", "print(open(f'/proc/{APP}/environ').read())"),
        (
            "its memory",
            "f = open(f'/proc/{APP}/mem', 'rb'); m = open(f'/proc/{APP}/maps').readline()\n"
            "f.seek(int(m.split('-')[0], 16)); f.read(9); reached()",
        ),
        ("its map", "open(f'/proc/{APP}/maps').read() and reached()"),
        ("what its open files are", "os.readlink(f'/proc/{APP}/fd/0') and reached()"),
        ("one of its open files", "open(f'/proc/{APP}/fd/0').close(); reached()"),
        ("taking one of them", "f = os.pidfd_open(APP); call(438, f, 0, 0); reached()"),
        ("tracing", "call(101, 16, APP, 0, 0); reached()"),
        ("tracing, seized", "call(101, 0x4206, APP, 0, 0); reached()"),
        (
            "its memory by another call",
            "a = ctypes.create_string_buffer(8); s = open(f'/proc/{APP}/stat').read().split()\n"
            "one = struct.pack('PN', ctypes.addressof(a), 8); two = struct.pack('PN', int(s[27]), 8)\n"
            "call(310, APP, one, 1, two, 1, 0); reached()",
        ),
        ("its limits", "resource.prlimit(APP, resource.RLIMIT_CPU, (1, 1)); reached()"),
        ("its limits, read", "resource.prlimit(APP, resource.RLIMIT_NOFILE); reached()"),
        ("its end when memory is short", "open(f'/proc/{APP}/oom_score_adj', 'w').write('1000'); reached()"),
        ("its children's signal", "os.kill(int('@CHILD@'), 9)"),
    ),
    *py("processes", ("everybody's killing", "os.kill(-1, 9)"), alone=True),
]

RIGHTS = [
    *sh(
        "rights",
        ("a mount", "mkdir m; mount --bind @SSH@ m && cat m/id_rsa"),
        ("a mount of nothing", "mkdir m; mount -t tmpfs none m && echo REACHED; umount m"),
        ("a name of the machine", "mknod d c 1 3 && echo REACHED"),
        ("a user namespace", "unshare -r true && echo REACHED"),
        ("a user and mount namespace", "unshare -rm sh -c 'umount -l @SSH@; cat @SSH@/id_rsa'"),
        ("another root", "mkdir -p r; chroot r /nothing; chroot / true && echo REACHED"),
        ("new rights for a program", "cp /bin/cat c; setcap cap_dac_override+ep c && echo REACHED"),
        ("what it has", "grep -q 'CapEff:\t0000000000000000' /proc/self/status || echo REACHED"),
        ("what it could get", "grep -q 'NoNewPrivs:\t1' /proc/self/status || echo REACHED"),
        ("another user", "setpriv --reuid 65534 --clear-groups true && echo REACHED"),
    ),
    *sh(
        "rights",
        ("the root of the first process", "cat /proc/1/root@SSH@/id_rsa"),
        ("the first process's namespaces", "nsenter -t 1 -m cat @SSH@/id_rsa"),
        ("uncovering", "umount @SSH@; cat @SSH@/id_rsa"),
        ("writing the kernel's settings", "exec 9>>/proc/sys/kernel/core_pattern && echo REACHED"),
        ("the machine's keys", "exec 9>>/proc/sysrq-trigger && echo REACHED"),
        ("the kernel's log", "exec 9</proc/kmsg && echo REACHED"),
        ("a module", "modprobe dummy && echo REACHED; insmod x.ko && echo REACHED"),
        ("another's rights", "su -c true && echo REACHED; sudo -n true && echo REACHED"),
        ("the time", "date -s @1 && echo REACHED"),
        ("the machine's name", "hostname evil && echo evil > /proc/sys/kernel/hostname && echo REACHED"),
        alone=True,
    ),
    *py(
        "rights",
        ("a namespace, by hand", "call(272, 0x10000000); reached()"),
        (
            "a process in a namespace",
            "p = call(56, 0x10000000 | 17, 0, 0, 0, 0)\nif p == 0: reached(), os._exit(0)\nos.waitpid(p, 0)",
        ),
        (
            "the same by the newer call",
            "a = ctypes.create_string_buffer(struct.pack('QQQQQQQQ', 0x10000000, 0, 0, 0, 17, 0, 0, 0))\n"
            "p = call(435, a, 64)\nif p == 0: reached(), os._exit(0)\nos.waitpid(p, 0)",
        ),
        ("the kernel's keyring, written", "call(248, b'user', b'assent-test', b'x', 1, -3 & (2**64 - 1)); reached()"),
        ("the kernel's keyring, read", "call(250, 0, -3 & (2**64 - 1), 1); reached()"),
        ("a new way to the kernel", "call(425, 4, ctypes.create_string_buffer(120)); reached()"),
        (
            "a program in the kernel",
            "call(321, 0, ctypes.create_string_buffer(struct.pack('IIII', 2, 4, 4, 1) + bytes(100)), 72); reached()",
        ),
        (
            "a look at the processor",
            "call(298, ctypes.create_string_buffer(struct.pack('IIQ', 1, 112, 0) + bytes(100)), 0, -1, -1, "
            "0)\nreached()",
        ),
        ("faults in memory", "call(323, 0); reached()"),
        ("an open tree", "call(428, -100, b'/', 1); reached()"),
        ("a file system, opened", "call(430, b'tmpfs', 0); reached()"),
        (
            "typing into a terminal",
            "m, s = os.openpty()\nif os.fork() == 0:\n os.setsid(); fcntl.ioctl(s, 0x540E, 0)\n"
            " fcntl.ioctl(s, 0x5412, b'x'); reached()\nelse: os.wait()",
        ),
    ),
]

SOCKETS = (
    "by a relative name",
    "renamed",
    "as ControlMaster makes it",
    "in a renamed folder/s",
    "linked",
    "of another network",
    "of two\\nlines",
)
BY_32_BITS = """
code = bytes.fromhex('53b867010000bb01000000b90100000031d2cd805bc3')  # socket(AF_UNIX, SOCK_STREAM, 0) by int 0x80
page = mmap.mmap(-1, 4096, prot=7); page.write(code)
made_it = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
made_it() >= 0 and reached()
"""

NETWORK = [
    *sh(
        "network",
        ("bash's own", "exec 9<>/dev/tcp/127.0.0.1/@TCP@ && echo REACHED"),
        ("curl", "curl -s -m 2 telnet://127.0.0.1:@TCP@ </dev/null; [ $? = 7 ] || echo REACHED"),
    ),
    *py(
        "network",
        ("TCP", "socket.create_connection(('127.0.0.1', @TCP@), 2); reached()"),
        ("TCP by its other name", "socket.create_connection(('localhost', @TCP@), 2); reached()"),
        ("TCP in IPv6's clothes", "socket.create_connection(('::ffff:127.0.0.1', @TCP@), 2); reached()"),
        ("TCP with the first words", "made(socket.AF_INET).sendto(b'x', 0x20000000, ('127.0.0.1', @TCP@)); reached()"),
        ("UDP", "made(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'got out', ('127.0.0.1', @UDP@))"),
        (
            "UDP, connected",
            "s = made(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('127.0.0.1', @UDP@)); s.send(b'got out')",
        ),
        (
            "multipath TCP",
            "s = made(socket.AF_INET, socket.SOCK_STREAM, 262); s.connect(('127.0.0.1', @TCP@)); reached()",
        ),
        ("a raw socket", "made(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP); reached()"),
        ("a packet socket", "made(socket.AF_PACKET, socket.SOCK_RAW, 0x0300); reached()"),
        ("the interfaces", "any(n != 'lo' for _, n in socket.if_nameindex()) and reached()"),
        ("virtual machines", "made(40); reached()"),
        ("a service in /tmp", "made(socket.AF_UNIX).connect('@NEAR@'); reached()"),
        ("a service elsewhere", "made(socket.AF_UNIX).connect('@FAR@'); reached()"),
        (
            "a service elsewhere, through a link",
            "os.symlink('@FAR@', 'l'); made(socket.AF_UNIX).connect('l'); reached()",
        ),
        ("an abstract service", "made(socket.AF_UNIX).connect('\\0@ABSTRACT@'); reached()"),
        ("a letter to a service", "made(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'got out', '@GRAM@')"),
        (
            "a letter from a pair",
            "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.sendto(b'got out', '@GRAM@')",
        ),
        (
            "a letter from a pair, connected",
            "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\na.connect('@GRAM@'); a.send(b'got out')",
        ),
    ),
    *py(
        "network on",
        *((f"a service {way}", f"made(socket.AF_UNIX).connect('@OPEN@/{way}'); reached()") for way in SOCKETS),
        ("a service by the 32-bit way", BY_32_BITS),
        network=True,
    ),
    *py(
        "network",
        *((f"a service {way}", f"made(socket.AF_UNIX).connect('@OPEN@/{way}'); reached()") for way in SOCKETS),
        ("a service by the 32-bit way", BY_32_BITS),
    ),
    *py("network", ("a socket by the x32 way", "call(0x40000000 + 41, 1, 1, 0); reached()"), alone=True),
    *py("network", ("the kernel's ciphers", "made(38, socket.SOCK_SEQPACKET); reached()"), alone=True),
    *py(
        "network",
        (
            "what is open already",
            "[os.readlink(f'/proc/self/fd/{n}').startswith('socket:') and reached() "
            "for n in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{n}')]",
        ),
        alone=True,
    ),
    *py(
        "network on",
        ("a service in /tmp", "made(socket.AF_UNIX).connect('@NEAR@'); reached()"),
        ("a service elsewhere", "made(socket.AF_UNIX).connect('@FAR@'); reached()"),
        ("an abstract service", "made(socket.AF_UNIX).connect('\\0@ABSTRACT@'); reached()"),
        (
            "a letter from a pair",
            "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.sendto(b'got out', '@GRAM@')",
        ),
        ("virtual machines", "made(40); reached()"),
        ("a packet socket", "made(socket.AF_PACKET, socket.SOCK_RAW, 0x0300); reached()"),
        network=True,
    ),
]

ATTACKS = [*WRITING, *READING, *PROCESSES, *RIGHTS, *NETWORK]

LEAVING = {
    "in the background": "sleep @N@ &",
    "in a session of its own": "setsid sleep @N@ &",
    "deaf to hanging up": "nohup sleep @N@ >/dev/null 2>&1 & disown",
    "forked twice": "(setsid sh -c 'setsid sleep @N@ &' &)",
    "a daemon": (
        "@PYTHON@ -c 'import os\nif os.fork() == 0:\n os.setsid()\n if os.fork() == 0:\n"
        '  os.chdir("/"); os.closerange(0, 9); os.execvp("sleep", ["sleep", "@N@"])\n os._exit(0)\nos.wait()\''
    ),
    "deaf to the end": "setsid sh -c 'trap \"\" TERM INT HUP; sleep @N@; sleep @N@' &",
    "stopped": "setsid sh -c 'kill -STOP $$; sleep @N@' & sleep @N@ & kill -STOP $!",
    "under another name": "cp /bin/sleep ./kworker; setsid ./kworker @N@ &",
    "holding the output": "setsid sleep @N@ 2>&1 &",
    "many": "for i in $(seq 60); do setsid sleep @N@ & done",
    "again and again": (
        "@PYTHON@ -c 'import os, time\nend = time.time() + 60\ndef go(n):\n while time.time() < end:\n"
        "  if os.fork():\n   os._exit(0)\n  os.setsid(); time.sleep(0.002)\n"
        "for n in range(8):\n if os.fork() == 0: go(n)  # @N@\n' &"
    ),
}
"""What a command leaves behind; each has to be gone when the call is over. @N@ is a number to know it by."""
