"""All benches, one after the other: `python -m bench`. Ends with 1 when a floor is missed."""

import subprocess
import sys

BENCHES = (
    "bench.agent",
    "bench.plugin",
    "bench.proxy",
    "bench.tunnel",
    "bench.pipelines",
    "bench.pipelines.against_hand",
    "bench.pipelines.start",
    "bench.shipping",
    "bench.doctor",
)


def main() -> int:
    """Run each in a process of its own, so that none inherits another's memory."""
    codes = [subprocess.run([sys.executable, "-m", bench], check=False).returncode for bench in BENCHES]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
