"""Lines of brokernat itself: of the agent, the plug-in, the Python clients, the proof and the commands."""

from __future__ import annotations

from typing import Final

from brokernat.doctor.explaining.symptom import DOCTOR, Family, Symptom, Telling, says

_CHECK = "brokernat map check --cluster NAME"

SYMPTOMS: Final = (
    Symptom(
        "brokernat-refused",
        Family.BROKERNAT,
        "an endpoint that no rule names is refused",
        ("has no rule in the address map of ",),
        r"refused: (?P<endpoint>\S+) has no rule in the address map of (?P<client>.+?); add ",
        says(
            "A broker advertises {endpoint}, the address map of {client} names no such endpoint, and `unmapped` is "
            "`fail`: so it was not dialled.",
            "add the rule `{endpoint} = HOST:PORT`, or set `unmapped: pass` to dial such endpoints as they are",
            "BN605",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "brokernat-refused-python",
        Family.BROKERNAT,
        "an endpoint that no rule names is refused",
        ("no rule of the address map names the advertised endpoint ",),
        r"no rule of the address map names the advertised endpoint (?P<endpoint>\S+?);?(?:\s|$|['\")])",
        says(
            "A broker advertises {endpoint}, the address map names no such endpoint, and `unmapped` is `fail`: so it "
            "was not dialled.",
            "add the rule `{endpoint} = HOST:PORT`, or set `unmapped: pass` to dial such endpoints as they are",
            "BN605",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "brokernat-map-unusable",
        Family.BROKERNAT,
        "the address map of a client cannot be read",
        ("refused: the address map of ", "brokernat.map: line "),
        r"(?:refused: the address map of .+? cannot be used(?: for \w+)?|brokernat\.map): (?P<reason>[^\"]+)",
        says(
            "The map of a client has a fault, so nothing is dialled for it. {reason}.",
            "correct the rule; `brokernat map check` says every fault at once",
            then=_CHECK,
        ),
        Telling.FAULT,
    ),
    Symptom(
        "brokernat-reachable-unresolved",
        Family.BROKERNAT,
        "the reachable side of a rule does not resolve",
        ("it is dialled for ",),
        r"(?P<host>\S+) (?:is not known here|cannot be looked up here \([^)]*\)); it is dialled for (?P<from>\S+) by "
        r"the rule (?P<rule>\S+)",
        says(
            "The rule {rule} leads {from} to `{host}`, a name that does not resolve on this machine.",
            "write an address on the rule's right side, or a name that every machine of the client knows",
            "BN305",
        ),
        Telling.FAULT,
    ),
    Symptom(
        "brokernat-agent-argument",
        Family.BROKERNAT,
        "the agent's argument cannot be read",
        ("the agent's argument cannot be used",),
        r"the agent's argument cannot be used, so every client without a brokernat\.map of its own is refused: "
        r"(?P<reason>.+)",
        says(
            "`-javaagent:brokernat-agent.jar=…` has a fault, so every client without a map of its own is refused. "
            "{reason}.",
            "correct the rule; no blanks, `,` between rules, `;unmapped=` behind them",
            then=_CHECK,
        ),
        Telling.FAULT,
    ),
    Symptom(
        "brokernat-not-proved",
        Family.BROKERNAT,
        "the proof before a Spark job failed",
        ("not proved: ",),
        r"not proved: (?P<reason>.+)",
        says(
            "Not every JVM of the job holds the map and reaches every leader: {reason}. The table below has a row for "
            "each executor and node.",
            "look at the rows that are not `proved`; `brokernat doctor` says it for this machine",
            "BN305",
            "BN605",
            "BN601",
            then=DOCTOR,
        ),
        Telling.FAULT,
    ),
)
