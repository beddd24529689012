"""Makes the archives of class data from which the tests' brokers and Sparks start: half the CPU of each start.

`make test` and its like run it; what is there already is left as it is.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from pathlib import Path

from tests.integration.spark.standalone import C1, CLASS_DATA

from brokernat.clients.spark.environment import write_class_data
from brokernat.errors import MissingToolError
from brokernat.jvm import find_java
from brokernat.jvm.java import class_data_archive, writing_class_data
from brokernat.testbed import ClusterOptions, LoopbackWorld, Record
from brokernat.testbed.broker import BrokerVersion


def main() -> int:
    """An archive that cannot be made costs time and nothing else, so it is said, and the tests go on."""
    jars = BrokerVersion(ClusterOptions().version).jars()[0].parent
    for what, archive, make in (
        ("brokers", class_data_archive(find_java(17), jars), _brokers),
        ("Spark", CLASS_DATA, _spark),
    ):
        if not archive.is_file():
            print(f"class data of {what}, once", flush=True)
            archive.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
                made = Path(folder) / archive.name
                make(made)
                if made.is_file():
                    made.replace(archive)
                else:
                    print(f"no class data of {what}: each start takes twice the time", file=sys.stderr)
    return 0


def _brokers(archive: Path) -> None:
    """From a broker that has taken a record and given it back."""
    options = ClusterOptions(brokers=1, jvm_options=writing_class_data(archive))
    with LoopbackWorld(hq=options, local=None) as world:
        world.hq.create_topic("classes")
        world.hq.write("classes", [Record(b"")])
        world.hq.read("classes")
        world.hq.stop(1)


def _spark(archive: Path) -> None:
    """From a driver that has read, joined and written streams and batches."""
    # As long as there is no archive, C1 is without one.
    with contextlib.suppress(MissingToolError):
        write_class_data(find_java(17), archive, C1.split())


if __name__ == "__main__":
    sys.exit(main())
