import copy
import importlib
import inspect
import pickle
import re
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

import brokernat
from brokernat.errors import (
    BrokernatError,
    ConfigError,
    DamagedBundleError,
    Finding,
    IncompleteError,
    Location,
    MissingToolError,
    NotExpressibleError,
    NothingReachableError,
    ProofFailedError,
    UnmappedEndpointError,
    WorldError,
)
from brokernat.shipping.block import Destination


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (BrokernatError("m"), 1),
        (ConfigError(Finding("k", "m")), 2),
        (MissingToolError("m"), 2),
        (WorldError("m"), 2),
        (NothingReachableError("m"), 3),
        (UnmappedEndpointError("a:1", "a:1 = HOST:PORT"), 5),
        (ProofFailedError("m"), 5),
        (DamagedBundleError("m"), 5),
        (NotExpressibleError("m"), 5),
        (IncompleteError("m"), 6),
    ],
)
def test_exit_codes(error: BrokernatError, code: int) -> None:
    assert error.exit_code == code


def test_the_fact_and_the_advice_are_apart() -> None:
    error = MissingToolError("no Java", hint="install openjdk-17-jre-headless")
    assert error.message == "no Java"
    assert str(error) == "no Java\nhint: install openjdk-17-jre-headless"
    assert str(BrokernatError("no hint")) == "no hint"
    assert error.report() == "error: no Java\n\nhint: install openjdk-17-jre-headless"
    assert BrokernatError("no hint").report() == "error: no hint"


def test_one_problem_reads_like_any_other_error() -> None:
    place = Location("brokernat.yaml", 4, 5, "clusters.hq.broker_nat")
    problem = Finding("unpaired", "lists differ", "add one entry", place, details=("unpaired: kafka-3:9092",))
    error = ConfigError(problem)
    fact = "lists differ: brokernat.yaml line 4, column 5, clusters.hq.broker_nat\nunpaired: kafka-3:9092"
    assert error.message == fact
    assert str(error) == f"{fact}\nhint: add one entry"
    assert error.hint == "add one entry"
    assert error.report() == f"error: {fact}\n\nhint: add one entry"


def test_several_problems_are_blocks_with_their_number() -> None:
    error = ConfigError(Finding("a", "first", "hint a"), Finding("b", "second"))
    assert error.message == "first\nsecond"
    assert str(error) == "first\nhint: hint a\nsecond"
    assert error.hint is None
    assert error.report() == "error: first\n\nhint: hint a\n\nerror: second\n\n2 problems"


def test_an_error_without_problems_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="at least one"):
        ConfigError()


@pytest.mark.parametrize(
    ("location", "text"),
    [
        (Location(), ""),
        (Location("f"), "f"),
        (Location("f", 3), "f line 3"),
        (Location("f", 3, 7), "f line 3, column 7"),
        (Location(None, 3, 7), "line 3, column 7"),
        (Location("f", None, None, "a.b"), "f, a.b"),
        (Location("f", 3, 7, "a[1]"), "f line 3, column 7, a[1]"),
    ],
)
def test_locations(location: Location, text: str) -> None:
    assert str(location) == text


def test_the_rule_to_add_is_in_the_hint() -> None:
    error = UnmappedEndpointError("10.0.0.9:9092", "10.0.0.9:9092 = HOST:PORT")
    assert "10.0.0.9:9092" in str(error)
    assert error.hint is not None
    assert "`10.0.0.9:9092 = HOST:PORT`" in error.hint


_KINDS = {"ErrorCode": ErrorCode.not_controller, "Destination": Destination("hq", "audit")}
"""By annotation, what a constructor takes that is no text."""


def every_kind_of_error() -> Iterator[BrokernatError]:
    """One of each class of the package, whatever its constructor takes."""
    package = Path(brokernat.__file__).parent
    for file in package.rglob("*.py"):
        if re.search(r"^class \w+Error\(", file.read_text("utf-8"), re.MULTILINE):
            importlib.import_module(".".join(("brokernat", *file.relative_to(package).with_suffix("").parts)))
    kinds: list[Any] = [BrokernatError]
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        wanted = [each for each in inspect.signature(kind).parameters.values() if each.default is each.empty]
        if issubclass(kind, ConfigError):
            yield kind(Finding("a", "first", "hint a", Location("f", 3)), Finding("b", "second"))
        else:
            yield kind(*(_KINDS.get(each.annotation, f"value of {each.name}") for each in wanted))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_error_crosses_to_another_process(copied: Callable[[BrokernatError], BrokernatError]) -> None:
    errors = list(every_kind_of_error())
    assert len(errors) > 20
    for error in errors:
        error.add_note("a note")
        again = copied(error)
        assert type(again) is type(error)
        assert again.report() == error.report()
        assert str(again) == str(error)
        assert again.args == error.args
        assert vars(again) == vars(error)


def test_a_traceback_shows_the_hint_and_the_terminal_shows_it_once() -> None:
    error = UnmappedEndpointError("10.0.0.9:9092", "10.0.0.9:9092 = HOST:PORT")
    assert "hint: add a rule" in "".join(traceback.format_exception(error))
    assert error.report().count("hint: ") == 1
