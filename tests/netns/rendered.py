"""What `brokernat render` writes for a cluster of a world, by the command itself, and programs that serve it."""

import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from brokernat.cli.app import main
from brokernat.config import Cluster
from brokernat.testbed.namespaces import Namespace
from brokernat.testbed.place import wait_until

_TIMEOUT = 90

# What Debian's nginx.conf says around an included file.
_NGINX_CONF = """\
load_module modules/ngx_stream_module.so;
daemon off;
pid {folder}/nginx.pid;
events {{}}
include {file};
"""


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


def nginx_command(file: Path) -> list[str]:
    """The command line of an nginx that includes `file`."""
    main = file.with_name("nginx.conf")
    main.write_text(_NGINX_CONF.format(folder=file.parent, file=file))
    return ["nginx", "-e", "stderr", "-c", str(main)]


def haproxy_command(file: Path) -> list[str]:
    """The command line of an HAProxy that reads `file` and nothing else."""
    return ["haproxy", "-db", "-f", str(file)]


@contextmanager
def serving(words: Sequence[str], place: Namespace, answers: Callable[[], bool], log: Path) -> Iterator[None]:
    """Run a gateway in `place` while the block lasts; it begins when it `answers`."""
    with log.open("wb") as output:
        process = subprocess.Popen(place.command(words), stdout=output, stderr=subprocess.STDOUT)

    def ended() -> str | None:
        return None if process.poll() is None else f"it ended: {log.read_text(errors='replace')}"

    try:
        wait_until(answers, words[0], timeout=_TIMEOUT, abort=ended)
        yield
    finally:
        process.terminate()
        process.wait(_TIMEOUT)
