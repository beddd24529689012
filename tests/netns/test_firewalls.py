"""What a connection tells of a firewall: a packet that is dropped, a REJECT with its kind and sender, a closed port.

A network namespace without a name ends with the command that was started in it.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.netns

RULES = """
table inet firewall {
  chain input {
    type filter hook input priority filter
    tcp dport 1001 reject with icmpx type admin-prohibited
    tcp dport 1002 reject with icmpx type port-unreachable
    ip daddr 127.0.0.1 tcp dport 1003 reject with icmp type host-prohibited
    ip daddr 127.0.0.1 tcp dport 1004 reject with icmp type net-prohibited
    tcp dport 1005 reject with tcp reset
    tcp dport 1006 drop
  }
}
"""
PROGRAM = """
import asyncio, json, sys
from brokernat.doctor.probes.network import connect

async def run():
    places = [(host, port) for host in ("127.0.0.1", "::1") for port in (1001, 1002, 1003, 1004, 1005, 1006, 1007)]
    # Nobody there, and no way there.
    places += [("10.99.0.1", 1)]
    found = await asyncio.gather(*(connect(host, port, 3.0, tries=3) for host, port in places))
    said = [[each.outcome, each.icmp, each.reported_by, each.rejected, each.made] for each, _ in found]
    here = [each.reported_here for each, _ in found]
    return [[*place, *words, own] for place, words, own in zip(places, said, here)]

print(json.dumps(asyncio.run(run())))
"""


def test_a_firewall_is_told_from_a_port_where_nothing_listens() -> None:
    script = 'ip link set lo up; echo "$1" | nft -f -; exec "$2" -c "$3"'
    words = ["unshare", "--net", "sh", "-ec", script, "sh", RULES, sys.executable, PROGRAM]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = {(host, port): tuple(rest) for host, port, *rest in json.loads(done.stdout)}
    four, six = "127.0.0.1", "::1"
    # This machine itself has the addresses, and refuses.
    closed_four, closed_six = (("refused", "", place, False, 3, False) for place in (four, six))
    dropped = ("timeout", "", "", False, 3, False)
    assert found == {
        (four, 1001): ("unreachable", "admin-prohibited", four, True, 3, True),
        (four, 1002): ("refused", "port-unreachable", four, True, 3, True),
        (four, 1003): ("unreachable", "host-prohibited", four, True, 3, True),
        (four, 1004): ("unreachable", "net-prohibited", four, True, 3, True),
        (four, 1005): closed_four,
        (four, 1006): dropped,
        (four, 1007): closed_four,
        (six, 1001): ("unreachable", "admin-prohibited", six, True, 3, True),
        (six, 1002): ("refused", "port-unreachable", six, True, 3, True),
        (six, 1003): closed_six,
        (six, 1004): closed_six,
        (six, 1005): closed_six,
        (six, 1006): dropped,
        (six, 1007): closed_six,
        ("10.99.0.1", 1): ("unreachable", "", "", False, 3, False),
    }
