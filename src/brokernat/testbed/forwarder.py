"""The gateway of the loopback world: it forwards TCP connections and does not parse them.

Run as a script (`python -I forwarder.py LISTEN=UPSTREAM ...`) it prints `ready` when every port listens. A client sees
the same behaviour as with nginx `stream`: if the upstream refuses, the connection ends at once; if one side ends its
stream, the other side can still send (half-close); a slow reader slows its writer (back-pressure). It uses only the
standard library, so that it starts fast with each world.
"""

from __future__ import annotations

import asyncio
import sys

_CHUNK = 256 * 1024
_CONNECT_TIMEOUT = 8.0


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(_CHUNK):
        writer.write(data)
        await writer.drain()
    writer.write_eof()


async def _forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, upstream: tuple[str, int]) -> None:
    try:
        async with asyncio.timeout(_CONNECT_TIMEOUT):
            far_reader, far_writer = await asyncio.open_connection(*upstream, limit=_CHUNK)
    except OSError:
        writer.close()
        return
    pumps = (asyncio.ensure_future(_pump(reader, far_writer)), asyncio.ensure_future(_pump(far_reader, writer)))
    try:
        # A reset on one side must end the other, so the first exception stops both; an end of stream does not.
        await asyncio.wait(pumps, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for pump in pumps:
            pump.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)
        far_writer.close()
        writer.close()


async def serve(pairs: list[tuple[tuple[str, int], tuple[str, int]]]) -> None:
    """Forward each (listen, upstream) pair until cancelled."""
    for (host, port), upstream in pairs:

        async def accept(
            reader: asyncio.StreamReader, writer: asyncio.StreamWriter, upstream: tuple[str, int] = upstream
        ) -> None:
            await _forward(reader, writer, upstream)

        await asyncio.start_server(accept, host, port, limit=_CHUNK, backlog=512)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


def main(arguments: list[str]) -> None:
    """Forward the pairs of the command line."""
    pairs = [argument.split("=") for argument in arguments]
    asyncio.run(serve([(_address(listen), _address(upstream)) for listen, upstream in pairs]))


if __name__ == "__main__":
    main(sys.argv[1:])
