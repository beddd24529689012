"""Clusters, and programs made of a few bytes."""

import struct
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from brokernat.address import AddressMap, Endpoint, Unmapped
from brokernat.config import Cluster, Secret

MakeProgram = Callable[..., Path]


@pytest.fixture
def program(tmp_path: Path) -> MakeProgram:
    """Writes an executable file."""

    def make(name: str, content: str | bytes, mode: int = 0o755) -> Path:
        path = tmp_path / "programs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        path.chmod(mode)
        return path

    return make


@pytest.fixture
def hq() -> Cluster:
    return cluster("hq", "192.168.1.23:9092=172.10.1.40:9093", login=True)


@pytest.fixture
def preload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library where the built one would be."""
    from brokernat.clients import librdkafka

    library = tmp_path / "libbrokernat-preload.so"
    monkeypatch.setattr(librdkafka, "preload_library", lambda: library)
    return library


def cluster(name: str, rules: str | None, unmapped: Unmapped = Unmapped.FAIL, *, login: bool = False) -> Cluster:
    client: dict[str, str | Secret] = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "me",
        "sasl.password": Secret("canary \\ 1"),
    }
    address_map = None if rules is None else AddressMap.parse(rules, unmapped)
    return Cluster(name, (Endpoint("172.10.1.40", 9093),), address_map, client if login else {})


def elf(*, needed: Sequence[str] = (), interpreter: str | None = "/lib64/ld-linux-x86-64.so.2", extra: bytes = b"",
        wide: bool = True, order: str = "<") -> bytes:  # fmt: skip
    """A file with the headers that say how it was linked, and nothing that could run."""
    header_size, segment_size = (64, 56) if wide else (52, 32)
    base = 0x10000
    names = b"\0" + b"".join(name.encode() + b"\0" for name in needed)
    loader = (interpreter or "").encode() + b"\0"
    at_loader = header_size + 3 * segment_size
    at_names = at_loader + len(loader)
    at_dynamic = at_names + len(names)
    pair = f"{order}{'qQ' if wide else 'iI'}"
    offsets = [names.index(name.encode() + b"\0") for name in needed]
    dynamic = b"".join(struct.pack(pair, 1, offset) for offset in offsets) + struct.pack(pair, 5, base + at_names)
    segments = [(1, 0, base, at_dynamic + len(dynamic)), (2, at_dynamic, base + at_dynamic, len(dynamic))]
    if interpreter is not None:
        segments.append((3, at_loader, base + at_loader, len(loader)))
    else:
        segments.append((0, 0, 0, 0))
    if wide:
        header = struct.pack(f"{order}16xHHIQQQIHHHHHH", 2, 62, 1, 0, header_size, 0, 0, 64, segment_size, 3, 0, 0, 0)
        table = b"".join(struct.pack(f"{order}IIQQQQQQ", k, 0, o, a, a, n, n, 1) for k, o, a, n in segments)
    else:
        header = struct.pack(f"{order}16xHHIIIIIHHHHHH", 2, 3, 1, 0, header_size, 0, 0, 52, segment_size, 3, 0, 0, 0)
        table = b"".join(struct.pack(f"{order}IIIIIIII", k, o, a, a, n, n, 0, 1) for k, o, a, n in segments)
    ident = b"\x7fELF" + bytes([2 if wide else 1, 1 if order == "<" else 2, 1])
    return ident + header[len(ident) :] + table + loader + names + dynamic + extra
