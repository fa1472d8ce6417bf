"""Sends keys to a window by XSendEvent, which xdotool does only where the window has no focus.

``python -m tests.harness.send_keys WINDOW KEY...``, a key such as ``F6`` or ``ctrl+Return``.
"""

import ctypes
import sys
import time

CONTROL = 4
PRESS, RELEASE = 2, 3


class KeyEvent(ctypes.Structure):
    """XKeyEvent"""

    _fields_ = [
        ("type", ctypes.c_int),
        ("serial", ctypes.c_ulong),
        ("send_event", ctypes.c_int),
        ("display", ctypes.c_void_p),
        ("window", ctypes.c_ulong),
        ("root", ctypes.c_ulong),
        ("subwindow", ctypes.c_ulong),
        ("time", ctypes.c_ulong),
        ("x", ctypes.c_int),
        ("y", ctypes.c_int),
        ("x_root", ctypes.c_int),
        ("y_root", ctypes.c_int),
        ("state", ctypes.c_uint),
        ("keycode", ctypes.c_uint),
        ("same_screen", ctypes.c_int),
        ("rest", ctypes.c_byte * 192),
    ]


def main(window: int, keys: list[str]) -> None:
    x = ctypes.CDLL("libX11.so.6")
    x.XOpenDisplay.restype = ctypes.c_void_p
    x.XDefaultRootWindow.restype = ctypes.c_ulong
    x.XStringToKeysym.restype = ctypes.c_ulong
    display = ctypes.c_void_p(x.XOpenDisplay(None))
    root = x.XDefaultRootWindow(display)
    for key in keys:
        control, _, name = key.rpartition("+")
        code = x.XKeysymToKeycode(display, ctypes.c_ulong(x.XStringToKeysym(name.encode())))
        assert code, key
        for kind in (PRESS, RELEASE):
            event = KeyEvent(kind, window=window, root=root, x=1, y=1, keycode=code, same_screen=1)
            event.state = CONTROL if control else 0
            assert x.XSendEvent(display, ctypes.c_ulong(window), 1, ctypes.c_long(0), ctypes.byref(event))
        x.XSync(display, 0)
        time.sleep(0.2)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
