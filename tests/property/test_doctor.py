"""Servers that answer with anything: the doctor comes back with evidence, whatever they say."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brokernat.address import Endpoint
from brokernat.doctor.client_side import ClientSide
from brokernat.doctor.evidence import Evidence, Look, from_json, to_json
from brokernat.doctor.probes.look import Looker
from brokernat.doctor.runner import diagnose

pytestmark = pytest.mark.property

API_VERSIONS = bytes.fromhex("0000001600000001000000000002001200000003000300000008")
header = st.tuples(st.integers(-(2**31), 2**31 - 1), st.integers(0, 3)).map(
    lambda pair: pair[0].to_bytes(4, "big", signed=True) + pair[1].to_bytes(4, "big")
)
answer = st.one_of(
    st.binary(max_size=200),
    st.tuples(header, st.binary(max_size=100)).map(b"".join),
    st.binary(max_size=200).map(lambda body: (len(body) + 4).to_bytes(4, "big") + b"\0\0\0\2" + body),
    st.sampled_from([b"HTTP/1.1 400 Bad Request\r\n", b"SSH-2.0-x\r\n", bytes.fromhex("15030300020250"), b""]),
)


@settings(max_examples=60, deadline=None)
@given(answers=st.lists(answer, max_size=3), greets=st.booleans(), sasl=st.booleans())
def test_any_answer_is_evidence(answers: list[bytes], greets: bool, sasl: bool) -> None:
    client = ClientSide("SASL_PLAINTEXT", "SCRAM-SHA-256", "me", "canary") if sasl else ClientSide()
    look = asyncio.run(_looked_at([API_VERSIONS, *answers] if greets else answers, client))
    evidence = Evidence("now", "hq", client.protocol, client.mechanism, None, "pass", (look,))
    assert "canary" not in to_json(evidence)
    assert from_json(to_json(evidence), "file") == evidence
    diagnose(evidence)


async def _looked_at(answers: list[bytes], client: ClientSide) -> Look:
    handlers: set[asyncio.Task[None] | None] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        handlers.add(asyncio.current_task())
        try:
            for each in answers:
                if not await reader.read(4096):
                    break
                writer.write(each)
            await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        deadline = asyncio.get_running_loop().time() + 10
        looker = Looker(client, 0.2, deadline, asyncio.Semaphore(4))
        look = await looker.look(Endpoint("127.0.0.1", port))
        await asyncio.gather(*filter(None, handlers), return_exceptions=True)
        return look
