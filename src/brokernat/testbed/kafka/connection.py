"""One plain connection to one broker: a request out, its answer back."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from enum import IntEnum
from types import TracebackType
from typing import Self

from brokernat.testbed.kafka.primitives import Reader, int16, int32, sized, string


class Api(IntEnum):
    """Request keys."""

    PRODUCE = 0
    FETCH = 1
    LIST_OFFSETS = 2
    METADATA = 3
    API_VERSIONS = 18
    CREATE_TOPICS = 19
    DELETE_TOPICS = 20
    DESCRIBE_ACLS = 29
    CREATE_ACLS = 30


# The newest version of each in the old encoding that 2.4 and 4.4 both speak.
_VERSIONS = {
    Api.PRODUCE: 3,
    Api.FETCH: 4,
    Api.LIST_OFFSETS: 1,
    Api.METADATA: 2,
    Api.API_VERSIONS: 0,
    Api.CREATE_TOPICS: 2,
    Api.DELETE_TOPICS: 1,
    Api.DESCRIBE_ACLS: 1,
    Api.CREATE_ACLS: 1,
}


@dataclass
class Connection:
    """Owns the socket it is given."""

    socket: socket.socket
    _correlation: int = 0

    def ask(self, api: Api, body: bytes, timeout: float = 30.0) -> Reader:
        """Send one request and wait for its answer.

        Raises:
            OSError: the connection failed or ended.
        """
        self._correlation += 1
        header = int16(api) + int16(_VERSIONS[api]) + int32(self._correlation) + string("brokernat-testbed")
        self.socket.settimeout(timeout)
        self.socket.sendall(sized(header + body))
        (length,) = struct.unpack(">i", self._exactly(4))
        answer = Reader(self._exactly(length))
        if answer.int32() != self._correlation:
            raise ConnectionError("the broker answered another question")
        return answer

    def api_versions(self) -> None:
        """Ask what every broker tells everybody, whoever they are.

        Raises:
            OSError: no broker is there.
        """
        self.ask(Api.API_VERSIONS, b"", timeout=15)

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _exactly(self, length: int) -> bytes:
        parts = bytearray()
        while len(parts) < length:
            part = self.socket.recv(min(length - len(parts), 1 << 20))
            if not part:
                raise ConnectionError("the broker closed the connection")
            parts += part
        return bytes(parts)
