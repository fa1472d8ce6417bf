"""A desktop's tray on the session bus: ``python -m tests.servers.tray``.

It prints ``ready``, takes icons that are registered with it, and clicks the last one for each line on its stdin, the
first of them as soon as there is an icon. It ends with its stdin.
"""

import sys
from threading import Event, Thread

from jeepney import DBusAddress, MessageType, new_method_call, new_method_return
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection

NAME = "org.kde.StatusNotifierWatcher"


class Tray:
    """Answers on a connection of its own, in a thread; the clicks go out on another."""

    def __init__(self) -> None:
        self.item = ""
        self.registered = Event()
        self._connection = open_dbus_connection()
        self._connection.send_and_get_reply(message_bus.RequestName(NAME))

    def answer(self) -> None:
        while True:
            message = self._connection.receive()
            if message.header.message_type != MessageType.method_call:
                continue
            fields = {key.name: value for key, value in message.header.fields.items()}
            if fields["member"] == "RegisterStatusNotifierItem":
                self.item = str(fields["sender"])
                self.registered.set()
                self._connection.send(new_method_return(message))
            else:  # is there somebody who shows icons?
                self._connection.send(new_method_return(message, "v", (("b", True),)))


def main() -> None:
    tray, clicks = Tray(), open_dbus_connection()
    Thread(target=tray.answer, daemon=True).start()
    print("ready", flush=True)
    for _ in sys.stdin:
        tray.registered.wait()
        address = DBusAddress("/StatusNotifierItem", tray.item, "org.kde.StatusNotifierItem")
        clicks.send(new_method_call(address, "Activate", "ii", (0, 0)))


if __name__ == "__main__":
    main()
