"""A service whose audit records must arrive: `python service.py SPOOL [CONFIG]`, one action a line on stdin.

It says `done` for an action only when its audit record is on the disk; Kafka may be away.
"""

import logging
import sys

from brokernat.shipping import KafkaHandler

spool, config = (*sys.argv[1:], "brokernat.yaml")[:2]
audit = logging.getLogger("audit")
audit.setLevel(logging.INFO)
audit.propagate = False
audit.addHandler(KafkaHandler("hq", topic="audit", spool=spool, audit=True, config=config))

for line in sys.stdin:
    user, _, action = line.strip().partition(" ")
    audit.info("%s", action, extra={"user": user})
    print("done:", action, flush=True)  # noqa: T201
