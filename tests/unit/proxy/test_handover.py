"""The socket through which a program hands its connections to the one that replaces it."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest

from brokernat.proxy.handover import Connection, Handover, connections, inherited_receiver


def test_only_the_next_program_inherits_the_receiving_end_and_it_ends_with_the_last_sender() -> None:
    handover = Handover()
    receiver = inherited_receiver(handover.keep_receiver_open())
    assert handover._receiver.detach() == receiver.fileno()
    client, broker = socket.socketpair()
    with closing(receiver), closing(client), closing(broker):
        assert not receiver.get_inheritable()
        assert list(connections(receiver)) == []
        assert handover.send(Connection(7, "kafka-7:9092", client, broker))
        (received,) = connections(receiver)
        with closing(received.client), closing(received.broker):
            assert (received.node_id, received.dialled) == (7, "kafka-7:9092")
        handover._sender.close()
        with pytest.raises(EOFError):
            list(connections(receiver))
