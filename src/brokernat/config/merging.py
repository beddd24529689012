"""Merges proven rules into a text that already has rules; pure.

A rule with the proven target stays. A rule for the same endpoints with another target is replaced. If a wider rule has
another target, the proven rule is inserted before it, because the first match wins. All other proven rules are
appended. Rules about other endpoints and the user's comments stay. brokernat's own comments are updated only if more
than their date changes.

The text is YAML or a rules file: the caller passes the positions of the rules and the form of their lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from brokernat.address import AddressMap, Endpoint, Rule

_OURS = re.compile(
    r"node [\d+]+, by (?P<method>\S+), (?P<confidence>\w+) (?P<day>\d{4}-\d\d-\d\d)(?:, cluster (?P<cluster>\S+))?$"
)


@dataclass(frozen=True, slots=True)
class ProvenRule:
    """A rule, the advertised endpoints that it must translate, and its comment."""

    rule: Rule
    advertised: tuple[Endpoint, ...]
    comment: str


@dataclass(frozen=True, slots=True)
class Standing:
    """A rule in a text: from `start` to `end`, including quotes."""

    rule: Rule
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Form:
    """The format of a rule's line: prefix, quotes, line end."""

    lead: str
    quote: Callable[[str], str]
    line_end: str = "\n"

    def line(self, proven: ProvenRule) -> str:
        """The line, without its line end."""
        return f"{self.lead}{self.body(proven.rule)}  # {proven.comment}"

    def body(self, rule: Rule) -> str:
        """The rule with blanks around `=`."""
        return self.quote(str(rule).replace("=", " = "))


class _Step(Enum):
    KEEP = auto()
    REPLACE = auto()
    BEFORE = auto()


def merge(text: str, standing: Sequence[Standing], proven: Sequence[ProvenRule], form: Form) -> str:
    """The text with the proven rules; `standing` is not empty."""
    edits: list[tuple[int, int, str]] = []
    added: list[str] = []
    for new in proven:
        index = _deciding(standing, new)
        if index is None:
            added.append(form.line(new))
            continue
        edits += _edits(text, standing[index], new, _step(standing, index, new), form)
    last = _line_end(text, standing[-1].end)
    edits.append((last, last, "".join(form.line_end + line for line in added)))
    pieces: list[str] = []
    done = 0
    # The sort is stable: several lines before one rule keep their order.
    for start, end, words in sorted(edits, key=lambda edit: edit[:2]):
        pieces += text[done:start], words
        done = end
    return "".join((*pieces, text[done:]))


def leads(rules: Sequence[Rule], proven: Sequence[ProvenRule]) -> bool:
    """Whether the rules translate every advertised endpoint to its proven target; a template does so for no client."""
    found = ((AddressMap(tuple(rules)).find(each), new.rule, each) for new in proven for each in new.advertised)
    return all(
        rule is not None and not rule.needs_node_id and rule.translate(endpoint) == right.translate(endpoint)
        for rule, right, endpoint in found
    )


def _deciding(standing: Sequence[Standing], new: ProvenRule) -> int | None:
    return next((i for i, old in enumerate(standing) if any(map(old.rule.pattern.matches, new.advertised))), None)


def _step(standing: Sequence[Standing], index: int, new: ProvenRule) -> _Step:
    if leads([old.rule for old in standing], [new]):
        return _Step.KEEP
    return _Step.REPLACE if new.rule.pattern.contains(standing[index].rule.pattern) else _Step.BEFORE


def _edits(text: str, old: Standing, new: ProvenRule, step: _Step, form: Form) -> Iterator[tuple[int, int, str]]:
    start = text.rfind("\n", 0, old.start) + 1
    end = _line_end(text, old.end)
    alone = not text[start : old.start].strip("- \t") and text[old.end : end].lstrip()[:1] in ("", "#")
    if step is _Step.BEFORE:
        yield (
            (start, start, form.line(new) + form.line_end)
            if alone
            else (old.start, old.start, f"{form.body(new.rule)}, ")
        )
        return
    if step is _Step.REPLACE:
        yield old.start, old.end, form.body(new.rule)
    if alone and (step is _Step.REPLACE or old.rule == new.rule):
        behind = text[old.end : end]
        said = behind.lstrip(" \t#").rstrip()
        comment = _comment(said, new.comment)
        if comment != said:
            yield old.end, end, f"  # {comment}"


def _comment(said: str, new: str) -> str:
    """Keeps the user's comment; replaces brokernat's if more than its date has changed."""
    ours, ours_now = _OURS.search(said), _OURS.search(new)
    if ours and ours_now and (_fact(ours) == _fact(ours_now)):
        return said
    kept = (said[: ours.start()] if ours else said).rstrip("; ")
    return f"{kept}; {new}" if kept else new


def _fact(comment: re.Match[str]) -> str:
    return comment[0].replace(comment["day"], "")


def _line_end(text: str, position: int) -> int:
    found = text.find("\n", position)
    found = len(text) if found < 0 else found
    return found - 1 if text[found - 1 : found] == "\r" else found
