"""A desktop that shows notifications, on the session bus: ``python -m tests.servers.notifications``.

It prints each call it gets as one JSON line ``[member, arguments]`` after ``ready``. Told a JSON line on its stdin, it
tells the caller: ``["ActionInvoked", "default"]``, ``["NotificationClosed", 2]``, ``["ActivationToken", "…"]`` about
the last note, ``["Other", …]`` about a note of somebody else's. It ends with its stdin. With ``refuse`` as its argument
it answers every note with an error.
"""

import json
import select
import sys

from jeepney import DBusAddress, MessageType, new_error, new_method_return, new_signal
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection

NAME, PLACE = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
SIGNATURES = {"ActionInvoked": "us", "NotificationClosed": "uu", "ActivationToken": "us"}


def main() -> None:
    refuses = sys.argv[1:] == ["refuse"]
    connection = open_dbus_connection()
    connection.send_and_get_reply(message_bus.RequestName(NAME))
    print("ready", flush=True)
    number, orders = 6, open(0, "rb", buffering=0)  # noqa: SIM115 - nothing is read ahead, so that select sees it all
    while True:
        readable, _, _ = select.select([orders, connection.sock], [], [])
        if orders in readable:
            line = orders.readline()
            if not line:
                return
            member, value = json.loads(line)
            about = number + 1 if member == "Other" else number
            member = "ActionInvoked" if member == "Other" else member
            address = DBusAddress(PLACE, interface=NAME)
            connection.send(new_signal(address, member, SIGNATURES[member], (about, value)))
        if connection.sock in readable:
            message = connection.receive()
            if message.header.message_type != MessageType.method_call:
                continue
            member = next(str(value) for key, value in message.header.fields.items() if key.name == "member")
            print(json.dumps([member, message.body], default=str), flush=True)
            if member != "Notify":
                connection.send(new_method_return(message))
            elif refuses:
                connection.send(new_error(message, "org.freedesktop.DBus.Error.AccessDenied"))
            else:
                number = message.body[1] or number + 1
                connection.send(new_method_return(message, "u", (number,)))


if __name__ == "__main__":
    main()
