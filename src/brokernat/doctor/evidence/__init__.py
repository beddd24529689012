"""What was seen, and nothing else: frozen, complete in itself, the same as JSON.

A report is made of evidence alone, so that a file that somebody sends in gives the same report elsewhere. Endpoints are
kept as text and numbers as they came off the wire: what a broker advertises may be no endpoint at all. No field can
hold a credential: of the login there is only the name of the mechanism and what the broker answered.
"""

from __future__ import annotations

from brokernat.doctor.evidence.endpoint import EndpointProbe as EndpointProbe
from brokernat.doctor.evidence.run import (
    VERSION as VERSION,
)
from brokernat.doctor.evidence.run import (
    BrokerFile as BrokerFile,
)
from brokernat.doctor.evidence.run import (
    BrokerPath as BrokerPath,
)
from brokernat.doctor.evidence.run import (
    Coordinator as Coordinator,
)
from brokernat.doctor.evidence.run import (
    Evidence as Evidence,
)
from brokernat.doctor.evidence.run import (
    ExecutorSeen as ExecutorSeen,
)
from brokernat.doctor.evidence.run import (
    Leaderless as Leaderless,
)
from brokernat.doctor.evidence.run import (
    ListenerSeen as ListenerSeen,
)
from brokernat.doctor.evidence.run import (
    NodeTried as NodeTried,
)
from brokernat.doctor.evidence.run import (
    now as now,
)
from brokernat.doctor.evidence.saved import from_json as from_json
from brokernat.doctor.evidence.saved import to_json as to_json
from brokernat.doctor.evidence.stages import (
    Advertised as Advertised,
)
from brokernat.doctor.evidence.stages import (
    ApiVersions as ApiVersions,
)
from brokernat.doctor.evidence.stages import (
    Attempt as Attempt,
)
from brokernat.doctor.evidence.stages import (
    Client as Client,
)
from brokernat.doctor.evidence.stages import (
    ClusterMetadata as ClusterMetadata,
)
from brokernat.doctor.evidence.stages import (
    Connection as Connection,
)
from brokernat.doctor.evidence.stages import (
    Fault as Fault,
)
from brokernat.doctor.evidence.stages import (
    Identity as Identity,
)
from brokernat.doctor.evidence.stages import (
    Login as Login,
)
from brokernat.doctor.evidence.stages import (
    NameLookup as NameLookup,
)
from brokernat.doctor.evidence.stages import (
    Objection as Objection,
)
from brokernat.doctor.evidence.stages import (
    Presented as Presented,
)
from brokernat.doctor.evidence.stages import (
    Result as Result,
)
from brokernat.doctor.evidence.stages import (
    SizeTest as SizeTest,
)
from brokernat.doctor.evidence.stages import (
    Stage as Stage,
)
from brokernat.doctor.evidence.stages import (
    TlsHandshake as TlsHandshake,
)
from brokernat.doctor.evidence.stages import (
    Transfer as Transfer,
)
from brokernat.doctor.evidence.stages import (
    Tries as Tries,
)
