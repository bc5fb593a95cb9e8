"""Connections of the first worker to all others, for a library that has none to lend."""

import contextlib
import hmac
import secrets
import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from bregboost import _core
from bregboost._errors import PeerError
from bregboost._workers import Check

Reduce = Callable[[np.ndarray, np.ndarray], np.ndarray]

_LENGTH = struct.Struct("!Q")
_RANK = struct.Struct("!I")
_PROOF_BYTES = 32
_LONGEST_SILENCE = 15  # seconds until a machine that does not answer the kernel counts as gone
_LOOK_EVERY = 0.1  # seconds


class Line:
    """Frames of bytes to and from another worker, which every error names."""

    def __init__(self, connection: socket.socket, name: str) -> None:
        self.name = name
        self._socket = connection

    def send(self, frame: bytes) -> None:
        """As soon as the kernel takes it."""
        with self._named_errors():
            self._socket.sendall(_LENGTH.pack(len(frame)) + frame)

    def receive(self) -> bytes:
        """Waits as long as the other worker needs, provided that it is there."""
        with self._named_errors():
            (length,) = _LENGTH.unpack(_receive(self._socket, _LENGTH.size))
            return _receive(self._socket, length)

    def prove(self, own_rank: bytes, key: bytes) -> None:
        """That this worker knows the key."""
        with self._named_errors():
            challenge = _receive(self._socket, _PROOF_BYTES)
            self._socket.sendall(own_rank + _proof(key, challenge + own_rank))

    def set_patient(self) -> None:
        """No time limit from now on; a machine that is gone is an error nevertheless."""
        self._socket.settimeout(None)
        options = {
            socket.TCP_NODELAY: 1,
            socket.TCP_KEEPIDLE: 5,
            socket.TCP_KEEPINTVL: 2,
            socket.TCP_KEEPCNT: 5,
            socket.TCP_USER_TIMEOUT: 1000 * _LONGEST_SILENCE,
        }
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in options.items():
            self._socket.setsockopt(socket.IPPROTO_TCP, option, value)

    def fileno(self) -> int:
        """For polls."""
        return self._socket.fileno()

    def close(self) -> None:
        """The other one sees it at once."""
        self._socket.close()

    @contextlib.contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise PeerError(
                f"workers: the connection to {self.name} broke ({error}); it is lost, or has "
                "failed itself"
            ) from error


def _packed(frames: Sequence[bytes]) -> bytes:
    return b"".join(part for frame in frames for part in (_LENGTH.pack(len(frame)), frame))


def _unpacked(packed: bytes) -> list[bytes]:
    frames = []
    at = 0
    while at < len(packed):
        (length,) = _LENGTH.unpack_from(packed, at)
        at += _LENGTH.size
        frames.append(packed[at : at + length])
        at += length
    return frames


def _receive(connection: socket.socket, length: int) -> bytes:
    parts = bytearray(length)
    view = memoryview(parts)
    while len(view):
        received = connection.recv_into(view)
        if received == 0:
            raise ConnectionResetError("closed by the other side")
        view = view[received:]
    return bytes(parts)


class Meeting(NamedTuple):
    """Where workers find the first of them, and how they show that they belong there."""

    names: tuple[str, ...]  # by rank
    address: tuple[str, int]
    key: bytes
    seconds: float  # for all to come


class Star:
    """What crosses the connections is small: the first worker puts it together, in the order of
    ranks, and sends the same bytes to all.
    """

    def __init__(self, rank: int, size: int, lines: list[Line], check: Check) -> None:
        self.rank = rank
        self.size = size
        self._lines = lines  # of the first: to ranks 1, 2, ...; else: to the first
        self._check = check

    @classmethod
    @contextlib.contextmanager
    def joined(cls, rank: int, meeting: Meeting, check: Check) -> Iterator["Star"]:
        """Connected while the context lasts; `check` raises where it is no use to wait any longer.

        Who leaves without an error waits for the others, none of which would know otherwise
        whether it is lost.
        """
        with contextlib.ExitStack() as stack:
            if rank == 0:
                lines = _accept(meeting, check, stack)
            else:
                lines = [_connect(rank, meeting, check, stack)]
            star = cls(rank, len(meeting.names), lines, check)
            yield star
            star.gather(b"")

    @contextlib.contextmanager
    def watched(self, on_loss: Callable[[], None]) -> Iterator[None]:
        """Calls `on_loss` in a thread when a worker is gone, and again until the context ends."""
        over = threading.Event()

        def watch() -> None:
            poll = select.poll()
            for line in self._lines:
                poll.register(line, select.POLLRDHUP)
            while not over.is_set():
                if poll.poll(1000 * _LOOK_EVERY):
                    on_loss()
                    over.wait(_LOOK_EVERY)

        thread = threading.Thread(target=watch, name="bregboost-watch", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def gather(self, mine: bytes) -> list[bytes]:
        """Of all workers, by rank."""
        self._check()
        if self.rank > 0:
            self._lines[0].send(mine)
            return _unpacked(self._lines[0].receive())
        all_bytes = [mine, *(line.receive() for line in self._lines)]
        packed = _packed(all_bytes)
        for line in self._lines:
            line.send(packed)
        return all_bytes

    def reduce(self, values: np.ndarray, combine: Reduce) -> np.ndarray:
        """Combined in the order of ranks."""
        self._check()
        if self.rank > 0:
            self._lines[0].send(values.tobytes())
            return np.frombuffer(self._lines[0].receive())
        received = (np.frombuffer(line.receive()) for line in self._lines)
        result = reduce(combine, received, values)
        for line in self._lines:
            line.send(result.tobytes())
        return result

    def workers(self) -> _core.Workers:
        """For the core."""
        return _core.Workers.from_functions(
            rank=self.rank,
            size=self.size,
            sum=lambda values: self.reduce(values, np.add),
            maximum=lambda values: self.reduce(values, np.maximum),
            gather=self.gather,
        )


def _proof(key: bytes, challenge: bytes) -> bytes:
    return hmac.digest(key, challenge, "sha256")


def _proven_rank(connection: socket.socket, key: bytes) -> int | None:
    """Of who has connected; None if it does not know the key."""
    challenge = secrets.token_bytes(_PROOF_BYTES)
    connection.settimeout(_LONGEST_SILENCE)
    try:
        connection.sendall(challenge)
        answer = _receive(connection, _RANK.size + _PROOF_BYTES)
    except OSError:
        return None
    rank, proof = answer[: _RANK.size], answer[_RANK.size :]
    if not hmac.compare_digest(_proof(key, challenge + rank), proof):
        return None
    return _RANK.unpack(rank)[0]


def _accept(meeting: Meeting, check: Check, stack: contextlib.ExitStack) -> list[Line]:
    """Of the other workers, by rank; who does not know the key is turned away."""
    lines: dict[int, Line] = {}
    until = time.monotonic() + meeting.seconds
    with socket.create_server(meeting.address, backlog=len(meeting.names)) as listener:
        listener.settimeout(_LOOK_EVERY)
        while missing := set(range(1, len(meeting.names))) - set(lines):
            check()
            if time.monotonic() > until:
                names = ", ".join(meeting.names[rank] for rank in sorted(missing))
                raise PeerError(f"workers: {names} did not connect in {meeting.seconds:g} seconds")
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            rank = _proven_rank(connection, meeting.key)
            if rank is None:
                connection.close()
                continue
            lines[rank] = stack.enter_context(
                contextlib.closing(Line(connection, meeting.names[rank]))
            )
            lines[rank].set_patient()
    return [lines[rank] for rank in sorted(lines)]


def _connect(rank: int, meeting: Meeting, check: Check, stack: contextlib.ExitStack) -> Line:
    """To the first worker, as soon as it listens."""
    until = time.monotonic() + meeting.seconds
    while True:
        check()
        try:
            connection = socket.create_connection(meeting.address, timeout=_LONGEST_SILENCE)
            break
        except OSError as error:
            if time.monotonic() > until:
                raise PeerError(
                    f"workers: {meeting.names[0]} could not be reached in {meeting.seconds:g} "
                    f"seconds ({error})"
                ) from error
            time.sleep(_LOOK_EVERY)
    line = stack.enter_context(contextlib.closing(Line(connection, meeting.names[0])))
    line.prove(_RANK.pack(rank), meeting.key)
    line.set_patient()
    return line
