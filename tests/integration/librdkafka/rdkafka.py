"""The librdkafka inside confluent-kafka's wheel as a C program has it: no brokers, no Python client around it.

Here a test can set callbacks that confluent-kafka keeps for itself, copy configurations, and hold more clients
than confluent-kafka allows in a process.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator, Mapping
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_size_t, c_void_p
from pathlib import Path
from typing import Any

import confluent_kafka

PRODUCER = 0
RESOLVE_CB = CFUNCTYPE(c_int, c_char_p, c_char_p, c_void_p, POINTER(c_void_p), c_void_p)
LOG_CB = CFUNCTYPE(None, c_void_p, c_int, c_char_p, c_char_p)


FUNCTIONS: list[tuple[str, Any, list[Any]]] = [
    ("rd_kafka_conf", c_void_p, [c_void_p]),
    ("rd_kafka_conf_new", c_void_p, []),
    ("rd_kafka_conf_dup", c_void_p, [c_void_p]),
    ("rd_kafka_conf_destroy", None, [c_void_p]),
    ("rd_kafka_conf_set", c_int, [c_void_p, c_char_p, c_char_p, c_char_p, c_size_t]),
    ("rd_kafka_conf_set_opaque", None, [c_void_p, c_void_p]),
    ("rd_kafka_conf_set_resolve_cb", None, [c_void_p, RESOLVE_CB]),
    ("rd_kafka_conf_set_log_cb", None, [c_void_p, LOG_CB]),
    ("rd_kafka_new", c_void_p, [c_int, c_void_p, c_char_p, c_size_t]),
    ("rd_kafka_poll", c_int, [c_void_p, c_int]),
    ("rd_kafka_opaque", c_void_p, [c_void_p]),
    ("rd_kafka_destroy", None, [c_void_p]),
]


(LIBRARY,) = (Path(confluent_kafka.__file__).parent.parent / "confluent_kafka.libs").glob("librdkafka-*.so*")


def _load() -> Any:
    library = ctypes.CDLL(str(LIBRARY))
    for name, result, arguments in FUNCTIONS:
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


lib = _load()


class Conf:
    """A configuration object; its callbacks live as long as it."""

    def __init__(self, properties: Mapping[str, str] | None = None, pointer: int | None = None) -> None:
        self.pointer = pointer or lib.rd_kafka_conf_new()
        self.callbacks: list[Any] = []
        self.lines: list[str] = []
        for name, value in (properties or {}).items():
            self.set(name, value)

    def set(self, name: str, value: str) -> None:
        words = ctypes.create_string_buffer(1024)
        if lib.rd_kafka_conf_set(self.pointer, name.encode(), value.encode(), words, len(words)) != 0:
            raise ValueError(words.value.decode())

    def copy(self) -> Conf:
        return Conf(pointer=lib.rd_kafka_conf_dup(self.pointer))

    @classmethod
    def copy_of_running(cls, client: int) -> Conf:
        return cls(pointer=lib.rd_kafka_conf_dup(lib.rd_kafka_conf(client)))

    def destroy(self) -> None:
        lib.rd_kafka_conf_destroy(self.pointer)

    def resolve_with(self, resolve: Callable[..., int]) -> None:
        self.callbacks.append(RESOLVE_CB(resolve))
        lib.rd_kafka_conf_set_resolve_cb(self.pointer, self.callbacks[-1])

    def keep_log(self) -> None:
        def line(_client: int, _level: int, facility: bytes, words: bytes) -> None:
            self.lines.append(f"{facility.decode()} {words.decode()}")

        self.callbacks.append(LOG_CB(line))
        lib.rd_kafka_conf_set_log_cb(self.pointer, self.callbacks[-1])

    def start(self) -> int:
        """A producer; the configuration is its from now on."""
        words = ctypes.create_string_buffer(512)
        client: int | None = lib.rd_kafka_new(PRODUCER, self.pointer, words, len(words))
        if client is None:
            raise RuntimeError(words.value.decode())
        return client


@contextlib.contextmanager
def producer(conf: Conf) -> Iterator[int]:
    client = conf.start()
    try:
        yield client
    finally:
        lib.rd_kafka_destroy(client)
