"""One line to what it means; pure.

A line says one thing: at most one row recognises it. The exception are wrappers (`Query … terminated with exception:`),
which repeat in one line what another line says; such a row is asked only when no other one knows the line.
"""

from __future__ import annotations

from dataclasses import dataclass

from brokernat.doctor.explaining.fragments import Fragments
from brokernat.doctor.explaining.hosts import told_by_host
from brokernat.doctor.explaining.naming import Named, named
from brokernat.doctor.explaining.symptom import Reading, Role, Symptom, Telling
from brokernat.doctor.explaining.table import SYMPTOMS

# A wrapper is asked only when no other row knows the line.
_PLAIN = Fragments(symptom for symptom in SYMPTOMS if symptom.telling is not Telling.WRAPPER)
_WRAPPERS = Fragments(symptom for symptom in SYMPTOMS if symptom.telling is Telling.WRAPPER)

# The checks that look where no rule leads elsewhere.
_WITHOUT_MAP = frozenset({"BN301", "BN302"})


@dataclass(frozen=True, slots=True)
class Recognised:
    """A row, and what this line names. `end` is where in the line it has been said."""

    symptom: Symptom
    named: Named
    end: int

    @property
    def reading(self) -> Reading:
        """The row's reading for the role of the line's node."""
        readings = self.symptom.readings
        return readings.get(self.named.role) or readings.get(Role.UNNAMED) or next(iter(readings.values()))

    @property
    def means(self) -> str:
        """What is wrong, in sentences that name the line's node and endpoint."""
        said = self.reading.means.format_map(self.named.words)
        if self.named.dialled:
            return f"{said} It was dialled at {self.named.dialled}, so an address map is in force."
        told = self._told_by_host
        return f"{said} {told[1]}" if told else said

    @property
    def do(self) -> str:
        """What helps."""
        return self.reading.do.format_map(self.named.words)

    @property
    def codes(self) -> tuple[str, ...]:
        """The checks that would prove it, the likeliest first."""
        if self.named.dialled:
            return tuple(code for code in self.reading.codes if code not in _WITHOUT_MAP) or self.reading.codes
        told = self._told_by_host
        return (*self.reading.codes, told[0]) if told else self.reading.codes

    @property
    def rule(self) -> str | None:
        """The rule of an address map to fill in; None where no advertised endpoint is named."""
        return f"{self.named.endpoint} = HOST:PORT" if self._lacks_rule and self.named.endpoint else None

    @property
    def then(self) -> str:
        """The command to run next."""
        return self.reading.then.format_map(self.named.words)

    @property
    def _lacks_rule(self) -> bool:
        advertised = self.named.role in (Role.ADVERTISED, Role.COORDINATOR)
        return advertised and not self.named.dialled and not _WITHOUT_MAP.isdisjoint(self.reading.codes[:2])

    @property
    def _told_by_host(self) -> tuple[str, str] | None:
        return told_by_host(self.named) if self._lacks_rule else None


def rows(line: str) -> list[Symptom]:
    """Every row that knows the line; more than one is a fault of the table, wrappers aside."""
    return [symptom for symptom in SYMPTOMS if symptom.match(line)]


def recognise(line: str) -> Recognised | None:
    """The row that a line belongs to; None for lines of no row."""
    for fragments in (_PLAIN, _WRAPPERS):
        for symptom in fragments.rows(line):
            match = symptom.compiled.search(line)
            if match:
                return Recognised(symptom, named(match), match.end())
    return None
