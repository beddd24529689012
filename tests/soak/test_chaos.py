"""Everything fails for as long as there is time, in either mode, on the loopback world: no root. The seed repeats it.

The pipeline has all that it may have: records whose schemas are in a registry, and references in a file and a database.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.conftest import Soak
from tests.integration.steps import plain_avro
from tests.netns.spark.spark_place import spark_place
from tests.soak.chaos import CUSTOMERS, Chaos, Format, Forwarding, Order, Site
from tests.support.apicurio import apicurio, register
from tests.support.ports import free_port
from tests.support.postgres import USER, postgres

from brokernat.demo.data import customer_id
from brokernat.testbed import ClusterOptions, LoopbackWorld, Protocol

pytestmark = pytest.mark.soak

PASSWORD = "only-of-this-test"
ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "order_id", "type": "string"},
        {"name": "customer_id", "type": ["null", "string"], "default": None},
        {"name": "amount", "type": "double"},
    ],
}


@dataclass(frozen=True)
class Stage:
    """The site, and the ways to the registry and the database."""

    site: Site
    registry: str
    database: str


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("chaos")
    ids = ", ".join(f"('{customer_id(number)}')" for number in range(1, CUSTOMERS + 1))
    table = f"CREATE TABLE crm AS SELECT id AS customer_id, 'gold' AS tier FROM (VALUES {ids}) AS ids (id)"
    with (
        LoopbackWorld(hq=ClusterOptions(protocol=Protocol.SASL_PLAINTEXT)) as world,
        # In real-time mode the version of a reference is asked beside the two tasks that read.
        spark_place(world.client, folder / "spark", workers=3) as spark,
        apicurio(folder) as registry,
        postgres(PASSWORD, [table]) as database,
    ):
        ports = free_port(), free_port()
        url = urlsplit(registry)
        assert url.port
        ways = {"registry": Forwarding(ports[0], url.port), "database": Forwarding(ports[1], database.port)}
        site = Site(world.hq, world.local, world.gateway, spark, ways)
        try:
            for way in ways.values():
                way.start()
            yield Stage(site, url._replace(netloc=f"127.0.0.1:{ports[0]}").geturl(), f"127.0.0.1:{ports[1]}")
        finally:
            for way in ways.values():
                way.stop()


@pytest.mark.timeout(0)
@pytest.mark.parametrize("mode", ["micro-batch", "realtime"])
def test_nothing_is_missing_whatever_fails(
    stage: Stage, mode: str, soak: Soak, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    number = register(stage.registry, f"orders-{mode}", ORDER)
    (tmp_path / "order.avsc").write_text(json.dumps(ORDER))

    def encode(made: Order, schema: int = number) -> bytes:
        fields = {name: made[name] for name in ("order_id", "customer_id", "amount")}
        return b"\0" + schema.to_bytes(4, "big") + plain_avro.encode(ORDER, fields)

    registry = {"url": stage.registry}
    decode = {"format": "avro", "schema_file": "order.avsc", "registry": registry}
    avro = Format(decode, encode, [lambda made: encode(made, 999_999)])
    tiers = {
        "jdbc": {
            "url": f"jdbc:postgresql://{stage.database}/postgres",
            "table": "crm",
            "user": USER,
            "password": PASSWORD,
            "version": "SELECT count(*) FROM crm",
        },
        "refresh": "5 seconds",
    }
    chaos = Chaos(stage.site, tmp_path, soak.random("chaos", mode), avro, mode=mode, tiers=tiers)

    chaos.play(soak.time_left)

    summary = chaos.assert_complete()
    with capsys.disabled():
        print(f"\n{mode}: {summary}", end="")  # noqa: T201
