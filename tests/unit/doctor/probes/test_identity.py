"""Who answers: by a node's own word, in every age of Kafka and of Redpanda; by what it leads; by its certificate."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from kio.schema.describe_configs.v1.response import DescribeConfigsResponse, DescribeConfigsResult
from kio.schema.errors import ErrorCode
from kio.static.primitive import i8, i32Timedelta
from tests.unit.doctor.probes.scripted import NONE, NOT_LEADER, Scripted, metadata, offsets

from brokernat.doctor.evidence import Advertised, ClusterMetadata, Identity, TlsHandshake
from brokernat.doctor.probes.channel import ChannelError
from brokernat.doctor.probes.identity import (
    Leadership,
    by_certificate,
    identify_again,
    is_node,
    sampled,
    samples,
    settled,
    who_answers,
)

INVALID_REQUEST, FORBIDDEN = 42, 31


def described(message: str | None, error: int = INVALID_REQUEST) -> DescribeConfigsResponse:
    result = DescribeConfigsResult(
        error_code=ErrorCode(error), error_message=message, resource_type=i8(4), resource_name="-1", configs=()
    )
    return DescribeConfigsResponse(throttle_time=i32Timedelta.parse(timedelta()), results=(result,))


@pytest.mark.parametrize(
    ("message", "node_id"),
    [
        ("Unexpected broker id, expected 1, but received -1", 1),
        ("Unexpected broker id, expected 1 or empty string, but received ConfigResource(name='-1').name", 1),
        ("Unexpected broker id, expected 1001 or empty string, but received -1", 1001),
        ("Unexpected broker id -1 expected 7", 7),
        ("Broker id must be an integer, but it is: x", None),
        (f"expected {'9' * 5000}", None),
        (None, None),
    ],
)
def test_what_a_refusal_tells(message: str | None, node_id: int | None) -> None:
    found = asyncio.run(who_answers(Scripted(described(message)).channel, "c", [1, 2]))
    assert found.node_id == node_id
    assert found.method == ("none" if node_id is None else "describeconfigs")


def test_without_the_right_there_is_the_reason() -> None:
    found = asyncio.run(who_answers(Scripted(described(None, FORBIDDEN)).channel, "c", [1]))
    assert found == Identity(None, "none", "cluster_authorization_failed")


@pytest.mark.parametrize(
    ("answer", "node_id"),
    [(described(None, 0), 1), (described("Unexpected broker id, expected 2, but received 1"), 2)],
)
def test_later_connections_are_asked_for_the_first_ones_node(answer: DescribeConfigsResponse, node_id: int) -> None:
    first, told = Identity(1, "describeconfigs"), ClusterMetadata("ok", "c", brokers=BROKERS[:2])
    assert asyncio.run(identify_again(Scripted(answer).channel, told, first, None, Leadership())) == node_id


def test_a_cluster_id_that_is_none_is_not_sent() -> None:
    with pytest.raises(ChannelError, match="cluster id"):
        asyncio.run(is_node(Scripted().channel, "x" * 500, 1))


BROKERS = (Advertised(1, "b1.hq", 9092), Advertised(2, "b2.hq", 9092), Advertised(3, "10.0.0.3", 9092))


@pytest.mark.parametrize(
    ("method", "met", "node_id", "others"),
    [
        ("apiversions", [1, 1], 1, ()),
        ("apiversions", [None, None], 1, ()),
        ("describeconfigs", [2, 3], 1, (2, 3)),
        ("listoffsets", [1, None], 1, ()),
        ("listoffsets", [None, None], None, ()),
        ("listoffsets", [2, 2], 1, (2,)),
        ("certificate", [1, 2], 1, (2,)),
    ],
)
def test_what_only_fits_needs_a_second_connection(
    method: str, met: list[int | None], node_id: int | None, others: tuple[int, ...]
) -> None:
    found = settled(Identity(1, method, "why"), [("a", 1), *(("a", node) for node in met)])  # type: ignore[arg-type]
    assert (found.node_id, found.others, found.detail) == (node_id, others, "why")
    assert found.method == ("none" if node_id is None else method)


@pytest.mark.parametrize(
    ("names", "node_id"),
    [
        (("b2.hq",), 2),
        (("10.0.0.3", "gateway"), 3),
        (("b1.hq", "b2.hq"), None),
        (("*.hq",), None),
        (("gateway",), None),
        ((), None),
    ],
)
def test_a_certificate_tells_where_it_fits_one_broker_alone(names: tuple[str, ...], node_id: int | None) -> None:
    assert by_certificate(ClusterMetadata("ok", brokers=BROKERS), TlsHandshake("ok", names)) == node_id


def test_which_address_led_to_which_node_is_kept() -> None:
    met = [("a", 1), ("b", 2), ("a", 1), ("b", None)]
    assert settled(Identity(1, "apiversions"), met).met == (("a", 1), ("b", 2))


def test_a_connection_that_meets_nobody_makes_the_next_ones_go_alone() -> None:
    """A broker may allow one connection from here (`max.connections.per.ip`)."""
    open_now = 0
    seen: list[int] = []

    async def meet(address: str, number: int) -> int | None:
        nonlocal open_now
        open_now += 1
        crowded = open_now > 1
        seen.append(open_now)
        await asyncio.sleep(0)
        open_now -= 1
        return None if crowded else 1

    async def run() -> Identity:
        until = asyncio.get_running_loop().time() + 60
        return await sampled(Identity(1, "listoffsets"), ("a",), 5, meet, until)

    found = asyncio.run(run())
    assert (found.node_id, found.others) == (1, ())
    assert seen == [1, 2, 1, 1, 1]


def test_every_address_of_a_name_is_met_however_few_connections_are_wanted() -> None:
    addresses = ("10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5")

    async def meet(address: str, number: int) -> int | None:
        return 2 if address == addresses[-1] else 1

    async def run() -> Identity:
        until = asyncio.get_running_loop().time() + 60
        return await sampled(Identity(1, "describeconfigs"), addresses, 2, meet, until)

    found = asyncio.run(run())
    assert {address for address, _ in found.met} == set(addresses)
    assert found.others == (2,)


def test_without_tls_there_is_no_certificate() -> None:
    assert by_certificate(ClusterMetadata("ok", brokers=BROKERS), None) is None


@pytest.mark.parametrize(("brokers", "wanted"), [(0, 2), (1, 2), (2, 8), (3, 5), (5, 4), (14, 3), (15, 2), (200, 2)])
def test_the_fewer_brokers_the_more_connections_tell_a_balancer(brokers: int, wanted: int) -> None:
    assert samples(brokers) == wanted
    assert brokers < 2 or brokers**-wanted < 1 / 200


TWO = metadata(("a", 0, 1, NONE, (1, 2)), ("b", 0, 2, NONE, (2,)))
SWAPPED = metadata(("a", 0, 2, NONE, (1, 2)), ("b", 0, 1, NONE, (2,)))
HERE_IS_A, HERE_IS_B = offsets(a=NONE, b=NOT_LEADER), offsets(a=NOT_LEADER, b=NONE)
BOTH, NEITHER = offsets(a=NONE, b=NONE), offsets(a=NOT_LEADER, b=NOT_LEADER)


@pytest.mark.parametrize(
    ("answers", "node_id", "questions"),
    [
        ((TWO, HERE_IS_A), 1, 2),
        ((TWO, HERE_IS_B), 2, 2),
        ((TWO, NEITHER, SWAPPED, HERE_IS_A), 2, 4),
        ((TWO, BOTH, TWO, HERE_IS_A), 1, 4),
        ((TWO, BOTH, TWO, BOTH), None, 4),
        ((TWO, NEITHER, TWO, NEITHER), None, 4),
        ((metadata(), metadata()), None, 2),
    ],
    ids=["first", "second", "moved", "moving", "two-lead", "leads-nothing", "sees-nothing"],
)
def test_who_leads(answers: tuple[object, ...], node_id: int | None, questions: int) -> None:
    script = Scripted(*answers)
    assert asyncio.run(Leadership().leader_here(script.channel, "c")) == node_id
    assert len(script.asked) == questions


def test_the_leaders_of_a_cluster_are_read_once() -> None:
    leadership = Leadership()
    first, second, other = Scripted(TWO, HERE_IS_A), Scripted(HERE_IS_B), Scripted(TWO, HERE_IS_A)

    async def ask() -> list[int | None]:
        return [
            await leadership.leader_here(first.channel, "c"),
            await leadership.leader_here(second.channel, "c"),
            await leadership.leader_here(other.channel, "another"),
        ]

    assert asyncio.run(ask()) == [1, 2, 1]


def test_probes_side_by_side_read_them_once_too() -> None:
    class Slow(Scripted):
        async def ask(self, request: object, answer: object, most: int = 0) -> Any:
            await asyncio.sleep(0)
            return await super().ask(request, answer, most)

    leadership = Leadership()
    first, second = Slow(TWO, HERE_IS_A), Slow(HERE_IS_B)

    async def ask() -> list[int | None]:
        return await asyncio.gather(*(leadership.leader_here(each.channel, "c") for each in (first, second)))

    assert asyncio.run(ask()) == [1, 2]


def test_who_could_not_read_them_leaves_it_to_the_next() -> None:
    leadership = Leadership()
    first, second = Scripted(ChannelError("gone")), Scripted(TWO, HERE_IS_B)

    async def ask() -> list[int | BaseException | None]:
        probes = (leadership.leader_here(each.channel, "c") for each in (first, second))
        return await asyncio.gather(*probes, return_exceptions=True)

    failed, found = asyncio.run(ask())
    assert isinstance(failed, ChannelError)
    assert found == 2
