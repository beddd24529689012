"""What: a JVM of the Spark application has no agent, or another map than this one.
Why: the session was not started with the map, the JVM lets no agent in, or the map has changed since the start.
Remedy: start the application anew with this map; give `--agent-path` where a JVM lets no agent attach.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity

CODE = "BN614"
_SAID = {
    "no-agent": (
        "no agent runs there, so nothing applies the map",
        "take -XX:+DisableAttachMechanism out of the JVM's options, or put the agent on every host "
        "(`brokernat agent --copy-to DIR`) and name it with `--agent-path`",
    ),
    "other-map": (
        "it holds another map or another agent",
        "start the application anew, so that all of its JVMs have one map and one agent",
    ),
}


def _find(evidence: Evidence) -> Iterator[Finding]:
    for executor in evidence.executors:
        if executor.outcome in _SAID:
            message, advice = _SAID[executor.outcome]
            yield Finding(CODE, Severity.ERROR, executor.name, message, (executor.detail,), remedy=Remedy((advice,)))


CHECK = Check(
    CODE,
    "An executor is without the map",
    "The address map is not in force everywhere in the Spark application: {subjects}.",
    _find,
    (Need.EXECUTORS,),
)
