"""A rules file: the map for a client without Python, which takes it as `brokernat.map=file:/path`."""

from __future__ import annotations

from brokernat.address import Unmapped
from brokernat.render.expressible import Means, require_expressible
from brokernat.render.header import Header, Subject


def rules_file(subject: Subject) -> str:
    """One rule a line, blanks around `=`.

    Raises:
        NotExpressibleError: the map holds a rule that a client cannot decide.
    """
    require_expressible(subject.address_map, Means.CLIENT)
    rules = (str(rule).replace("=", " = ") for rule in subject.address_map.rules)
    return "\n".join((_header(subject.address_map.unmapped).text(subject), *rules)) + "\n"


def _header(unmapped: Unmapped) -> Header:
    return Header(
        title="Address map: advertised = reachable, the first match wins",
        can=("Be the map of every client that has brokernat's agent or plug-in.",),
        cannot=("Change under a client that runs: it is read once, when the client starts.",),
        check=("brokernat map check --file FILE",),
        apply=("brokernat.map=file:/path/of/FILE", f"brokernat.unmapped={unmapped}"),
    )
