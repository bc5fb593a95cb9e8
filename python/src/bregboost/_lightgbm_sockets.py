"""LightGBM's connections in this process, and how to end them.

It reads for ever from one that the other side has closed: zero bytes are no error to it.
"""

import contextlib
import os
import socket
from collections.abc import Sequence


class LightgbmSockets:
    """Those that lead to the other machines of its network."""

    def __init__(self, machines: Sequence[str], rank: int) -> None:
        addresses = [machine.rsplit(":", 1) for machine in machines]
        self._peers = {(host, int(port)) for host, port in addresses}
        self.port = int(addresses[rank][1])
        self._kept: list[int] | None = None

    def keep(self) -> None:
        """Those that are there now; one that breaks no longer knows whose it was."""
        self._kept = self._find()

    def cut(self) -> None:
        """Make errors of all that LightGBM does with them.

        In the midst of a message above 100 kB, which it sends in a thread while it receives
        another, LightGBM does not survive errors, and this process ends.
        """
        no_socket = os.open(os.devnull, os.O_RDWR)
        for descriptor in self._find() if self._kept is None else self._kept:
            with contextlib.suppress(OSError), _socket_of(descriptor) as connection:
                connection.shutdown(socket.SHUT_RDWR)  # wakes who waits
            os.dup2(no_socket, descriptor)  # if closed, the number might become another's
        os.close(no_socket)

    def _find(self) -> list[int]:
        return [descriptor for descriptor in _descriptors() if self._is_ours(descriptor)]

    def _is_ours(self, descriptor: int) -> bool:
        try:
            with _socket_of(descriptor) as connection:
                if connection.family != socket.AF_INET:
                    return False
                own_port = connection.getsockname()[1]
                return own_port == self.port or connection.getpeername() in self._peers
        except OSError:  # no socket, or not connected
            return False


def _descriptors() -> list[int]:
    return [int(name) for name in os.listdir("/proc/self/fd")]


def _socket_of(descriptor: int) -> socket.socket:
    return socket.socket(fileno=os.dup(descriptor))
