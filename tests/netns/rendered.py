"""What `brokernat render` writes for a cluster of a world, by the command itself, and programs that serve it."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from brokernat.cli.app import main
from brokernat.config import Cluster
from brokernat.testbed.namespaces import Namespace
from brokernat.testbed.polling import wait_until
from brokernat.testbed.proof import speaks_kafka

_TIMEOUT = 30


def rendered(target: str, cluster: Cluster, folder: Path) -> Path:
    """The file for `target`, made from a brokernat.yaml with the rules and the bootstrap servers of `cluster`."""
    assert cluster.address_map is not None
    rules = "".join(f'      - "{rule}"\n' for rule in cluster.address_map.rules)
    config, file = folder / "brokernat.yaml", folder / target
    config.write_text(
        f"clusters:\n  hq:\n    bootstrap_servers: {','.join(map(str, cluster.bootstrap_servers))}\n"
        f"    address_map:\n{rules}"
        "    client: {security.protocol: SASL_PLAINTEXT, sasl.mechanism: PLAIN}\n"
    )
    assert main(["render", target, "--config", str(config), "--output", str(file)]) == 0
    return file


@contextmanager
def serving(words: Sequence[str], place: Namespace, client: Namespace, cluster: Cluster, log: Path) -> Iterator[None]:
    """Run a gateway in `place` while the block lasts; it begins when `client` reaches every broker through it."""
    with log.open("wb") as output:
        process = subprocess.Popen(place.command(words), stdout=output, stderr=subprocess.STDOUT)
    try:
        wait_until(
            lambda: all(speaks_kafka(endpoint, client, tls=False) for endpoint in cluster.bootstrap_servers),
            words[0],
            timeout=_TIMEOUT,
            abort=lambda: None if process.poll() is None else f"it ended: {log.read_text(errors='replace')}",
        )
        yield
    finally:
        process.terminate()
        process.wait(_TIMEOUT)
