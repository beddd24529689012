"""A server that says what a right broker would say, bent at any step: cut, lengthened, overwritten, replaced, stalled.

The doctor is run against it as a whole, from the bootstrap server to the report. A step is an answer, counted over all
connections, so that later looks are bent as well as the first.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from hypothesis import strategies as st
from tests.support.simulated_brokers import Simulated

from brokernat.address import Endpoint
from brokernat.config import Cluster, Secret
from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.evidence import Evidence, from_json, to_json
from brokernat.doctor.probes.collecting import collect
from brokernat.doctor.reports.json_v1 import json_v1
from brokernat.doctor.reports.terminal import terminal

CANARY = "canary-3f09"
TIMEOUT = 0.6
HANGS_AFTER = 60
LAST_STEP = 14
_SASL_HANDSHAKE, _SASL_AUTHENTICATE = 17, 36
_GREETINGS = (b"HTTP/1.1 400 Bad Request\r\n", b"SSH-2.0-x\r\n", bytes.fromhex("15030300020250"), b"")


@dataclass(frozen=True)
class Bent:
    """What becomes of an answer. `stays` keeps the connection open and silent afterwards."""

    data: bytes
    stays: bool = False


@dataclass(frozen=True)
class Bend:
    """How an answer is bent; `at` and `size` are parts of 255."""

    kind: str
    at: int
    noise: bytes
    stays: bool

    def apply(self, right: bytes) -> Bent:
        """Bend what would be right."""
        at = self.at * len(right) // 256
        match self.kind:
            case "cut":
                return Bent(right[:at], self.stays)
            case "overwritten":
                return Bent(right[:at] + self.noise + right[at + len(self.noise) :])
            case "lengthened":
                return Bent(right + self.noise)
            case "huge":
                return Bent(b"\x7f\xff\xff\xff"[: 4 - self.at % 2] + right[4:], self.stays)
            case "count":
                return Bent(right[:at] + b"\x7f\xff\xff\xff" + right[at + 4 :])
            case "shorter-inside":
                return Bent(struct.pack(">i", max(0, at - 4)) + right[4:at])
            case _:
                return Bent(self.noise, self.stays)


bends = st.builds(
    Bend,
    st.sampled_from(["cut", "overwritten", "lengthened", "huge", "count", "shorter-inside", "noise"]),
    st.integers(0, 255),
    st.one_of(st.binary(min_size=1, max_size=60), st.sampled_from(_GREETINGS)),
    # Silence costs the time of a step.
    st.sampled_from([False] * 5 + [True]),
)
plans = st.dictionaries(st.integers(0, LAST_STEP), bends, max_size=4)
logins = st.sampled_from(["PLAINTEXT", "PLAINTEXT", "SCRAM-SHA-256", "PLAIN", "SSL"])
versions = st.sampled_from([3, 5])


def examine(
    plan: Mapping[int, Bend], login: str, newest_api_versions: int, sasl_says: bytes, timeout: float = TIMEOUT
) -> Evidence:
    """The evidence of such a server, held against all that must be true of any.

    Args:
        plan: which answers are bent.
        login: the client's protocol or mechanism.
        newest_api_versions: of the broker that is played.
        sasl_says: the body of its answers in a login.
        timeout: of the doctor; what must come within it on a busy machine needs more than the usual one.
    """
    evidence = asyncio.run(_run(plan, login, newest_api_versions, sasl_says, timeout))
    saved = to_json(evidence)
    assert CANARY not in saved
    assert from_json(saved, "file") == evidence
    diagnosis = diagnose(evidence)
    assert CANARY not in terminal(diagnosis) + str(json_v1(diagnosis))
    return evidence


async def _run(plan: Mapping[int, Bend], login: str, newest: int, sasl_says: bytes, patience: float) -> Evidence:
    talks: set[asyncio.Task[None] | None] = set()
    step = 0

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal step
        talks.add(asyncio.current_task())
        try:
            while True:
                request = await reader.readexactly(struct.unpack(">i", await reader.readexactly(4))[0] & 0xFFFF)
                right = _right(request, cluster, sasl_says)
                bend, step = plan.get(step), step + 1
                said = bend.apply(right) if bend else Bent(right)
                writer.write(said.data)
                await writer.drain()
                if said.stays:
                    await reader.read()
                if bend and bend.kind == "cut":
                    break
        except (asyncio.IncompleteReadError, ConnectionError, struct.error):
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(talk, "127.0.0.1", 0) as server:
        here = Endpoint("127.0.0.1", server.sockets[0].getsockname()[1])
        cluster = Simulated({1: here, 2: here, 3: Endpoint("127.0.0.1", 1)}, newest)
        client = Cluster("hq", (here,), None, _client(login))
        evidence = await asyncio.wait_for(asyncio.to_thread(collect, client, patience), patience + HANGS_AFTER)
        await asyncio.gather(*filter(None, talks), return_exceptions=True)
    return evidence


def _right(request: bytes, cluster: Simulated, sasl_says: bytes) -> bytes:
    try:
        api, _, correlation = struct.unpack_from(">hhi", request)
        if api in (_SASL_HANDSHAKE, _SASL_AUTHENTICATE):
            return struct.pack(">ii", len(sasl_says) + 6, correlation) + b"\0\0" + sasl_says
        return cluster.answer(1, request) or b""
    except struct.error:
        # The client's hello of TLS, read as a request.
        return sasl_says


def _client(login: str) -> dict[str, str | Secret]:
    if login in ("PLAINTEXT", "SSL"):
        return {"security.protocol": login}
    user: dict[str, str | Secret] = {"sasl.username": "me", "sasl.password": Secret(CANARY)}
    return {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": login, **user}
