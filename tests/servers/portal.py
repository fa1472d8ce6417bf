"""A desktop portal of ours on the session bus: ``python -m tests.servers.portal``.

It answers ``Read`` from what it was told on its stdin, one JSON line ``[namespace, key, signature, value]`` each, and
tells listeners of every change. It prints ``ready``, and ``told`` after each line; it ends with its stdin.
"""

import json
import select
import sys

from jeepney import DBusAddress, MessageType, new_error, new_method_return, new_signal
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection

PLACE, INTERFACE = "/org/freedesktop/portal/desktop", "org.freedesktop.portal.Settings"


def main() -> None:
    connection = open_dbus_connection()
    connection.send_and_get_reply(message_bus.RequestName("org.freedesktop.portal.Desktop"))
    values: dict[tuple[str, str], tuple[str, object]] = {}
    print("ready", flush=True)
    while True:
        readable, _, _ = select.select([sys.stdin, connection.sock], [], [])
        if sys.stdin in readable:
            line = sys.stdin.readline()
            if not line:
                return
            namespace, key, signature, value = json.loads(line)
            values[namespace, key] = (signature, value)
            address = DBusAddress(PLACE, interface=INTERFACE)
            connection.send(new_signal(address, "SettingChanged", "ssv", (namespace, key, (signature, value))))
            print("told", flush=True)
        if connection.sock in readable:
            message = connection.receive()
            if message.header.message_type != MessageType.method_call:
                continue
            found = values.get(tuple(message.body))  # type: ignore[arg-type]
            missing = new_error(message, "org.freedesktop.portal.Error.NotFound")
            connection.send(missing if found is None else new_method_return(message, "v", (("v", found),)))


if __name__ == "__main__":
    main()
