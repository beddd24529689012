"""`forwarder.py LOCAL HOST PORT`: listens on 127.0.0.1:LOCAL and joins each connection to HOST:PORT.

PORT may be a file that holds the number; it is read at each connection.
"""

import asyncio
import sys
from pathlib import Path


async def main(local: str, host: str, port: str) -> None:
    """Forwards until the process is ended."""

    async def forward(near: asyncio.StreamReader, near_end: asyncio.StreamWriter) -> None:
        try:
            far, far_end = await asyncio.open_connection(host, _number(port))
        except OSError:
            near_end.close()
            return
        await asyncio.gather(_copy(near, far_end), _copy(far, near_end))

    server = await asyncio.start_server(forward, "127.0.0.1", int(local))
    await server.serve_forever()


def _number(port: str) -> int:
    return int(port if port.isdigit() else Path(port).read_text())


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(1 << 16):
            target.write(data)
            await target.drain()
    except ConnectionError:
        pass
    finally:
        target.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
