"""A one-way channel from worker processes to the process that made it, for messages of a watched fit.

scikit-learn copies callbacks into its worker processes; what they see must be shown in the main one. A
:class:`Channel` pickles to its address. Messages are JSON, never pickles, and the address needs a random
key, so that nothing can be run through it.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from multiprocessing.connection import Client, Connection, Listener
from typing import Any

_receivers: dict[Any, Callable[[Any], None]] = {}  # by address, in the process that listens
_connections: dict[Any, Connection[Any, Any]] = {}  # by address, in a worker


class Channel:
    """Deliver messages to ``receive``, which runs in this process, one message at a time."""

    def __init__(self, receive: Callable[[Any], None]) -> None:
        self._key = os.urandom(32)
        self._listener: Listener | None = None
        self._lock = threading.Lock()
        listener = Listener(authkey=self._key, backlog=64)
        self._listener = listener
        self.address = listener.address

        def one_at_a_time(message: Any) -> None:
            with self._lock:
                receive(message)

        _receivers[self.address] = one_at_a_time
        threading.Thread(target=self._accept, args=(listener,), name="surefit-channel", daemon=True).start()

    def send(self, message: Any) -> None:
        """Deliver a message, from this process or a worker's; a channel that was closed swallows it."""
        receive = _receivers.get(self.address)
        if receive is not None:
            receive(message)
            return
        try:
            if self.address not in _connections:
                _connections[self.address] = Client(self.address, authkey=self._key)
            connection = _connections[self.address]
            connection.send_bytes(json.dumps(message).encode())
            connection.recv_bytes()  # acknowledged: the message has been dealt with
        except (OSError, EOFError):
            _connections.pop(self.address, None)

    def close(self) -> None:
        """Stop listening."""
        _receivers.pop(self.address, None)
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    def _accept(self, listener: Listener) -> None:
        while True:
            try:
                connection = listener.accept()
            except OSError:
                return
            except Exception:  # a stranger without the key is turned away, and the next one served
                continue
            threading.Thread(
                target=self._serve, args=(connection,), name="surefit-channel", daemon=True
            ).start()

    def _serve(self, connection: Connection[Any, Any]) -> None:
        while True:
            try:
                message = json.loads(connection.recv_bytes())
            except (OSError, EOFError):
                return
            receive = _receivers.get(self.address)
            if receive is not None:
                receive(message)
            try:
                connection.send_bytes(b"")
            except OSError:
                return

    def __getstate__(self) -> dict[str, Any]:
        return {"address": self.address, "_key": self._key}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _listener=None, _lock=threading.Lock())
