"""What: a listener's name has no security protocol.
Why: names that are no protocols themselves need an entry in `listener.security.protocol.map`; once the map is set, all
names do, PLAINTEXT too. The controllers' listener is PLAINTEXT by default only where no other protocol is in use.
Without a protocol the broker does not start.
Remedy: an entry `NAME:PROTOCOL` in the map.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.broker_files.listeners import all_listeners
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity

CODE = "BN814"
_SETTING = "listener.security.protocol.map"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for broker in all_listeners(evidence):
        names = [each.name for each in (*broker.listeners, *(broker.advertised_setting or ()))]
        # A mere broker does not bind the controllers' listener, and dials it.
        names += [name.upper() for name in broker.controllers if broker.is_kraft]
        missing = [name for name in dict.fromkeys(names) if name not in broker.protocols]
        if missing:
            given = broker.settings.get(_SETTING)
            seen = (f"{_SETTING}={given}",) if given is not None else (f"{_SETTING} is not set",)
            remedy = Remedy(broker=(f"add {', '.join(f'{name}:PROTOCOL' for name in missing)} to `{_SETTING}`",))
            message = f"no security protocol is given for {', '.join(missing)}"
            yield Finding(CODE, Severity.ERROR, broker.name, message, seen, ("BN811", "BN823"), remedy)


CHECK = Check(
    CODE,
    "A listener has no security protocol",
    "Listeners have no security protocol, so the broker does not start: {subjects}.",
    _find,
    (Need.FILES,),
)
