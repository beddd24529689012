"""Conversations of a client and a broker, bent at random: what a session of the proxy makes of them.

A conversation is a line: its steps, each `>` (the client sends) or `<` (the broker does) and the bytes in hexadecimal.
"""

from __future__ import annotations

import random
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from brokernat.address import Endpoint
from brokernat.wire import Session, WireError
from brokernat.wire.api import HIGHEST

LONGEST = 600
"""Bytes of a conversation."""
_MOST = 1 << 12
_TELLING = (0, 1, 2, 3, 8, 0x7F, 0x80, 0xFF)
_DIGITS = re.compile(r"-?\d+")

Steps = tuple[tuple[str, bytes], ...]


def parsed(line: str) -> Steps:
    return tuple((word[0], bytes.fromhex(word[1:])) for word in line.split())


def written(steps: Steps) -> str:
    return " ".join(f"{side}{sent.hex()}" for side, sent in steps)


def first_conversations() -> Iterator[Steps]:
    """A request of each version that passes and one above, with a response of zeros."""
    for key, highest in HIGHEST.items():
        for version in range(highest + 2):
            for tags in (b"", b"\0"):
                head = struct.pack(">hhih", key, version, 7, 2) + b"me" + tags
                request, response = (
                    struct.pack(">i", len(body)) + body for body in (head + bytes(12), b"\0\0\0\7" + bytes(24))
                )
                yield (">", request), ("<", response)


def bent(steps: Steps, other: Steps, dice: random.Random) -> Steps:
    """Another conversation, near this one; `other` lends a part."""
    changed = list(steps)
    for _ in range(dice.randrange(1, 4)):
        at = dice.randrange(len(changed))
        side, sent = changed[at]
        place, noise = dice.randrange(len(sent) + 1), bytes(dice.choices(_TELLING, k=dice.randrange(1, 5)))
        match dice.randrange(7):
            case 0:
                changed[at] = side, sent[:place] + noise + sent[place + len(noise) :]
            case 1:
                changed[at] = side, sent[:place] + noise + sent[place:]
            case 2:
                changed[at] = side, sent[:place] + sent[place + len(noise) :]
            case 3:
                changed.insert(at, (side, sent))
            case 4:
                changed[at:] = other
            case 5:
                changed += other
            case _:
                changed[at] = side, struct.pack(">i", len(sent[4:])) + sent[4:]
    return tuple(changed) if sum(len(sent) for _, sent in changed) <= LONGEST else steps


def course(steps: Steps, cuts: Sequence[int]) -> str:
    """What became of the steps, without numbers and the names of requests.

    Raises:
        AssertionError: the session has changed what passes as it is, or decides by where its bytes are cut.
    """
    at_once, in_pieces = (Session(_translate, _MOST) for _ in range(2))
    whole, pieces = ({">": b"", "<": b""} for _ in range(2))
    found: list[str] = []
    for side, sent in steps:
        if side == "<" and not at_once.between_requests:
            # What is held may become a token by this response: only a client that does not wait for it is that far.
            return _named(found, "held")
        before = len(whole[side])
        faults = _feed(at_once, side, [sent], whole), _feed(in_pieces, side, _cut(sent, cuts), pieces)
        if faults[0] == faults[1] != "":
            return _named(found, _DIGITS.sub("N", faults[0].rpartition(": ")[2]))
        if whole != pieces or any(faults):
            # Both hold the beginning of a frame until there is more of it, one longer than the other, and nobody has an
            # answer meanwhile. Where one has found a fault, it has not sent the frames before it, either.
            shorter, longer = sorted((whole[side], pieces[side]), key=len)
            assert longer.startswith(shorter), written(steps)
            waiting = [each for each, fault in zip((at_once, in_pieces), faults, strict=True) if not fault]
            assert not any(each.idle for each in waiting), written(steps)
            return _named(found, "held")
        assert at_once.in_flight == in_pieces.in_flight, written(steps)
        out = whole[side][before:]
        passed = "all" if out == sent else "none" if not out else "another"
        found.append(f"{side}{passed}{min(at_once.in_flight, 3)}{'f' * at_once.transferable}{'i' * at_once.idle}")
    return _named(found, "")


def _named(found: Iterable[str], end: str) -> str:
    return " ".join([*sorted(set(found)), end])


def _feed(session: Session, side: str, parts: Iterable[bytes], out: dict[str, bytes]) -> str:
    """Returns the fault that ends the connection, empty if none does."""
    feed = session.requests if side == ">" else session.responses
    try:
        for part in parts:
            out[side] += b"".join(map(bytes, feed(memoryview(part))))
    except WireError as error:
        return f"{type(error).__name__} {error}"
    return ""


def _cut(sent: bytes, cuts: Iterable[int]) -> Iterator[bytes]:
    places = [0, *sorted(cut % (len(sent) + 1) for cut in cuts), len(sent)]
    return (sent[start:end] for start, end in pairwise(places))


def _translate(node_id: int, host: str, port: int) -> Endpoint | None:
    assert host
    assert port > 0
    return None if node_id % 5 == 0 else Endpoint("proxy", 20000 + node_id % 1000)
