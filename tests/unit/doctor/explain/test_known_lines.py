"""The data as a whole: distinct kinds, codes that exist, sentences that can be filled, patterns that end."""

import re
import string
from collections.abc import Iterable, Iterator
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

from tests.unit.doctor.explain.vectors import holds_for_each, key_of

from brokernat.doctor.checks import catalogue
from brokernat.doctor.explain.known_lines import Explanation, KnownLine, causes, host_hints, known_lines
from brokernat.doctor.explain.peers import UNNAMED

EXPLANATIONS = [(known, each) for known in known_lines() for each in known.explanations]
CODES = set(catalogue())


def placeholders(explanation: Explanation) -> set[str]:
    texts = (explanation.sentences, explanation.steps, explanation.run)
    return {name for text in texts for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_keys_are_distinct() -> None:
    keys = [known.key for known in known_lines()]
    assert len(keys) == len(set(keys)) >= 320


def test_every_code_is_a_check() -> None:
    assert {code for _, each in EXPLANATIONS for code in each.codes} <= CODES
    assert {hint.code for hint in host_hints()} <= CODES


def test_each_cause_is_whole() -> None:
    assert {code for cause in causes() for code in cause.codes} <= CODES
    for cause in causes():
        named = [{name for _, name, _, _ in string.Formatter().parse(text) if name} for text in (cause.means, cause.do)]
        assert named[0] == {"system"}
        assert named[1] <= {"system", "setting"}
        assert not list(_unbounded(_parser.parse(cause.pattern)))
    for known in known_lines():
        named_in_system = {name for _, name, _, _ in string.Formatter().parse(known.system) if name}
        assert named_in_system <= set(known.compiled.groupindex) | set(UNNAMED)
    assert all(known.system for known in known_lines() if known.setting != "the configured address")


def test_a_sentence_names_only_what_its_line_can_name() -> None:
    def holds(of: tuple[KnownLine, Explanation]) -> None:
        known, explanation = of
        groups = set(known.compiled.groupindex)
        assert placeholders(explanation) <= groups | set(UNNAMED)
        assert set(explanation.conditions) <= groups | set(UNNAMED) | {"role", "host_kind"}
        for pattern in explanation.conditions.values():
            re.compile(pattern)

    holds_for_each(EXPLANATIONS, holds, lambda of: of[0].key)


def test_no_condition_takes_a_value_that_the_line_does_not_name_for_one() -> None:
    def holds(of: tuple[KnownLine, Explanation]) -> None:
        for name in of[1].conditions.keys() & UNNAMED.keys():
            pattern, unnamed = of[1].conditions[name], UNNAMED[name]
            named = any(re.fullmatch(pattern, each) for each in ("1", "kafka-1", "kafka-1:9092"))
            assert not (unnamed and named and re.fullmatch(pattern, unnamed))

    holds_for_each(EXPLANATIONS, holds, lambda of: of[0].key)


def test_each_kind_is_whole() -> None:
    def holds(known: KnownLine) -> None:
        assert all((known.title, known.holds, known.example, known.seen))
        assert all(known.holds)
        assert any(text in known.example for text in known.holds)
        # The last one is what holds when no condition does.
        assert all(each.conditions for each in known.explanations[:-1])
        for each in known.explanations:
            assert len(each.codes) == len(set(each.codes))
            assert each.means.endswith((".", ": {reason}"))
            assert each.steps
            assert not each.steps.endswith(".")

    holds_for_each(known_lines(), holds, key_of)


def test_no_pattern_repeats_what_repeats() -> None:
    def holds(known: KnownLine) -> None:
        # `(a+)+` takes exponential time where it does not match.
        tree = _parser.parse(known.pattern)
        assert [inner for repeat in _unbounded(tree) for inner in _unbounded(repeat)] == []
        # Alternatives and lookaheads count, too; in a row each further one would multiply the time by the length.
        assert sum(1 for _ in _unbounded(tree)) <= 16

    holds_for_each(known_lines(), holds, key_of)


def _unbounded(tree: Iterable[Any]) -> Iterator[Any]:
    """What is repeated without a limit, the outermost of each."""
    for op, argument in tree:
        if op in (ops.MAX_REPEAT, ops.MIN_REPEAT) and argument[1] is ops.MAXREPEAT:
            yield argument[2]
            continue
        for part in _parts(argument):
            yield from _unbounded(part)


def _parts(argument: Any) -> Iterator[Any]:
    if isinstance(argument, _parser.SubPattern):
        yield argument
    elif isinstance(argument, tuple | list):
        for each in argument:
            yield from _parts(each)
