"""The socket through which a program hands its connections to the one that replaces it."""

from __future__ import annotations

import os
import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from brokernat.proxy.handover import Connection, Handover, connections, inherited_receiver


def test_the_receiving_end_ends_with_the_last_sender() -> None:
    handover = Handover()
    receiver = inherited_receiver(handover.receiver)
    assert handover._receiver.detach() == receiver.fileno()
    client, broker = socket.socketpair()
    with closing(receiver), closing(client), closing(broker):
        assert list(connections(receiver)) == []
        assert handover.send(Connection(7, "kafka-7:9092", client, broker))
        (received,) = connections(receiver)
        with closing(received.client), closing(received.broker):
            assert (received.node_id, received.dialled) == (7, "kafka-7:9092")
        handover._sender.close()
        with pytest.raises(EOFError):
            list(connections(receiver))


@contextmanager
def descriptors_left(number: int) -> Iterator[None]:
    """Only so many files can still be opened in this process."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as opened:
        opened.callback(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        largest = max(int(each.name) for each in Path("/proc/self/fd").iterdir())
        resource.setrlimit(resource.RLIMIT_NOFILE, (largest + 64, limits[1]))
        taken: list[int] = []
        while True:
            try:
                taken.append(os.open(os.devnull, os.O_RDONLY))
            except OSError:
                break
        for each in taken[number:]:
            opened.callback(os.close, each)
        for each in taken[:number]:
            os.close(each)
        yield


@pytest.mark.parametrize("left", [0, 1])
def test_a_connection_that_there_is_no_descriptor_for_is_lost_and_the_next_one_is_not(left: int) -> None:
    handover = Handover()
    client, broker = socket.socketpair()
    with closing(handover._receiver) as receiver, closing(handover._sender), closing(client), closing(broker):
        receiver.setblocking(False)
        assert handover.send(Connection(7, "kafka-7:9092", client, broker))
        with descriptors_left(left):
            assert list(connections(receiver)) == []
        assert handover.send(Connection(8, "kafka-8:9092", client, broker))
        (received,) = connections(receiver)
        with closing(received.client), closing(received.broker):
            assert received.node_id == 8
