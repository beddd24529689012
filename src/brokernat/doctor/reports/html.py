"""The diagnosis as one HTML page: nothing is loaded, nothing runs, and what a broker says is text.

`page/page.html` is a Jinja2 template with escaping switched on for everything, so that no value can forget it. The
page's own policy (CSP) allows its one style sheet, by its hash, and nothing else: were a value ever to become markup, a
browser would still neither run nor fetch it.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined

import brokernat
from brokernat.doctor.catalogue import catalogue
from brokernat.doctor.reports.grouping import by_code, remedy_of
from brokernat.doctor.reports.printable import printable
from brokernat.doctor.reports.verdict import count, verdict, worst

if TYPE_CHECKING:
    from brokernat.doctor.runner import Diagnosis


def html_page(diagnosis: Diagnosis) -> str:
    """The whole page."""
    cause = diagnosis.cause
    pages = Environment(
        loader=PackageLoader("brokernat.doctor.reports", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = pages.get_template("page.css").render()
    return pages.get_template("page.html").render(
        version=brokernat.__version__,
        style_hash=b64encode(sha256(style.encode()).digest()).decode(),
        evidence=diagnosis.evidence,
        verdict=verdict(diagnosis),
        worst=worst(diagnosis),
        cause=cause,
        remedy=remedy_of(each for each in diagnosis.findings if cause is not None and each.code == cause.code),
        groups=by_code(diagnosis.findings),
        suppressed=by_code(diagnosis.suppressed),
        skipped=diagnosis.skipped,
        passed=diagnosis.passed,
        catalogue=catalogue(),
        count=count,
    )


def _shown(value: object) -> object:
    return printable(value) if isinstance(value, str) else value
