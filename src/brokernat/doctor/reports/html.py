"""The diagnosis as one HTML page: it loads nothing, runs no script, and shows brokers' answers as text.

`page/page.html` is a Jinja2 template that escapes every value. The page's policy (CSP) allows only its style sheet, by
hash, so a browser would not run or fetch injected markup.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

import brokernat
from brokernat.doctor.checks import catalogue
from brokernat.doctor.diagnosis import Diagnosis, Skipped
from brokernat.doctor.diagnosis.model import State
from brokernat.doctor.reports.picture import tall, wide
from brokernat.doctor.reports.summary import (
    by_code,
    count,
    endpoints_by_listener,
    errors_and_warnings,
    probe_results,
    remedies_of_causes,
    verdict,
    worst,
)
from brokernat.text import printable

_DESCRIBED = 12
_SUBJECTS = 12
_APART = {"BN501": "different clusters", "BN502": "different listeners"}


def html_page(diagnosis: Diagnosis) -> str:
    """The whole page."""
    pages = _pages()
    style = pages.get_template("page.css").render()
    drawn = diagnosis.groups
    apart = next(((_APART[each.code], each.code) for each in diagnosis.findings if each.code in _APART), None)
    return pages.get_template("page.html").render(
        version=brokernat.__version__,
        style_hash=b64encode(sha256(style.encode()).digest()).decode(),
        evidence=diagnosis.evidence,
        taken_at=_when(diagnosis.evidence.taken_at),
        facts=tuple(_facts(diagnosis)),
        verdict=verdict(diagnosis),
        worst=worst(diagnosis),
        causes=tuple(remedies_of_causes(diagnosis)),
        entrances=diagnosis.evidence.bootstraps,
        wide=wide(drawn, apart),
        tall=tall(drawn, apart),
        description=_description(diagnosis),
        groups=by_code(diagnosis.findings, diagnosis.causes),
        probe_results=tuple(probe_results(diagnosis, every=True)),
        listener_table=tuple(endpoints_by_listener(diagnosis)),
        suppressed=by_code(diagnosis.suppressed),
        skipped=_by_reason(diagnosis.skipped),
        passed=sorted(diagnosis.passed),
        catalogue=catalogue(),
        subjects=_SUBJECTS,
    )


@cache
def _pages() -> Environment:
    pages = Environment(
        loader=PackageLoader("brokernat.doctor.reports", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda text: printable(text) if isinstance(text, str) and not isinstance(text, Markup) else text,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters |= {"marked": _marked, "sentence": lambda text: text[:1].upper() + text[1:]}
    return pages


def _facts(diagnosis: Diagnosis) -> Iterator[tuple[str, str]]:
    evidence = diagnosis.evidence
    if evidence.bootstraps:
        answering = sum(probe.answers for probe in evidence.bootstraps)
        yield "bootstrap servers", f"{len(evidence.bootstraps)}, of which {answering} accept clients"
        reachable = sum(route.state is State.OK for route in diagnosis.routes)
        yield "brokers", f"{len(evidence.paths)}, of which {reachable} are reachable"
        rules = evidence.rules
        yield "address map", "none" if rules is None else f"{count(len(rules), 'rule')}, unmapped: {evidence.unmapped}"
        yield "security", " ".join(filter(None, (evidence.security_protocol, evidence.mechanism)))
    if evidence.files:
        yield "brokers’ files", ", ".join(each.name for each in evidence.files)
    yield "found", errors_and_warnings(diagnosis)


def _description(diagnosis: Diagnosis) -> str:
    """The text alternative of the picture."""
    servers = (each for each in diagnosis.entrances if each.reach.state is not State.OK)
    routes = (each for each in diagnosis.routes if each.state is not State.OK)
    broken = [f"bootstrap {each.endpoint}: {each.reach.words}" for each in servers]
    broken += [f"node {each.node_id} at {each.advertised}: {each.end.words}" for each in routes]
    if not broken:
        return "Every bootstrap server answers, and every broker is reachable."
    more = f"; and {len(broken) - _DESCRIBED} more" if len(broken) > _DESCRIBED else ""
    return f"Broken or doubtful: {'; '.join(broken[:_DESCRIBED])}{more}."


def _by_reason(skipped: tuple[Skipped, ...]) -> list[tuple[str, list[Skipped]]]:
    """Skipped checks by reason; checks that need an option share the last entry."""
    options = {option for each in skipped for option in each.options}
    unasked = f"needs an option: {', '.join(f'`{option}`' for option in sorted(options))}"
    found: dict[str, list[Skipped]] = {}
    for each in sorted(skipped, key=lambda each: bool(each.options)):
        found.setdefault(unasked if each.options else each.reason, []).append(each)
    return list(found.items())


def _when(taken_at: str) -> str:
    """`21 November 2026, 12:00 UTC`; text that is not a time is returned unchanged."""
    try:
        moment = datetime.fromisoformat(taken_at).astimezone(UTC)
    except (ValueError, OverflowError):
        return taken_at
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"


def _marked(text: str) -> Markup:
    """Text with `code` in it, as remedies and docstrings have it."""
    parts = printable(text).split("`")
    if len(parts) % 2 == 0:
        return Markup.escape(printable(text))
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if n % 2 else Markup.escape(part) for n, part in enumerate(parts)
    )
