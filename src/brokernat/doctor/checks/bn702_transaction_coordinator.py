"""What: the coordinator of a transactional id is a node that this client does not reach.
Why: the coordinator is one node of the cluster, whichever its id is hashed to, so everything else may work.
Producers cannot begin a transaction: `initTransactions` times out.
Remedy: that of the node, which is named with its own finding.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.coordinating import coordinators_out_of_reach
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need

CODE = "BN702"


def _find(evidence: Evidence) -> Iterator[Finding]:
    yield from coordinators_out_of_reach(evidence, "transaction", CODE)


CHECK = Check(
    CODE,
    "The coordinator of a transactional id is not reached",
    "The coordinators of {subjects} cannot be reached.",
    _find,
    (Need.METADATA, Need.TRANSACTIONS, Need.TRANSACTIONS_TOPIC),
)
