"""A desktop's tray on the session bus: ``python -m tests.servers.tray``.

It prints ``ready``, takes icons that are registered with it, and clicks the last one for each line on its stdin. It
ends with its stdin.
"""

import select

from jeepney import DBusAddress, MessageType, new_method_call, new_method_return
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection

NAME, PLACE = "org.kde.StatusNotifierWatcher", "/StatusNotifierWatcher"


def main() -> None:
    connection = open_dbus_connection()
    connection.send_and_get_reply(message_bus.RequestName(NAME))
    print("ready", flush=True)
    item, orders = "", open(0, "rb", buffering=0)  # noqa: SIM115 - nothing is read ahead, so that select sees it all
    while True:
        readable, _, _ = select.select([orders, connection.sock], [], [])
        if orders in readable:
            if not orders.readline():
                return
            address = DBusAddress("/StatusNotifierItem", item, "org.kde.StatusNotifierItem")
            connection.send(new_method_call(address, "Activate", "ii", (0, 0)))
        if connection.sock in readable:
            message = connection.receive()
            if message.header.message_type != MessageType.method_call:
                continue
            fields = {key.name: value for key, value in message.header.fields.items()}
            if fields["member"] == "RegisterStatusNotifierItem":
                item = str(fields["sender"])
                connection.send(new_method_return(message))
            else:  # is there somebody who shows icons?
                connection.send(new_method_return(message, "v", (("b", True),)))


if __name__ == "__main__":
    main()
