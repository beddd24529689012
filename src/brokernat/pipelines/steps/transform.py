"""The user's own step: `module:function`, DataFrame -> DataFrame.

It gets the decoded and enriched columns and `brokernat_src`, and must return the latter unchanged, because it
identifies the record of each tag. The module is searched in the folder of the configuration file first. It is pickled
by value, because executors cannot import a file next to `brokernat.yaml`.
"""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from brokernat.clients.spark.functions import RESERVED_PREFIX
from brokernat.errors import BrokernatError
from brokernat.pipelines.steps.envelope import COORDINATES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class TransformError(BrokernatError):
    """A transform that cannot be imported, raises, or returns no valid tags."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Transform:
    """A user's function and the name it has in the file."""

    name: str
    function: Callable[[DataFrame], object]

    def __call__(self, records: DataFrame) -> DataFrame:
        """Calls the function and checks the columns of the result; rows are counted elsewhere.

        Raises:
            TransformError: the function raised, or its result is no DataFrame, lacks `brokernat_src`, or has no other
                column.
        """
        from pyspark.sql import DataFrame

        try:
            result = self.function(records)
        except Exception as error:  # the user's code may raise anything
            from brokernat.pipelines.root_cause import root_cause

            raise TransformError(f"transform `{self.name}` raised {root_cause(error)}{self._place(error)}") from error
        if not isinstance(result, DataFrame):
            raise TransformError(
                f"transform `{self.name}` returned {type(result).__name__}, not a DataFrame",
                hint="write `def tag(records: DataFrame) -> DataFrame` and return the frame",
            )
        self._check_columns(records, result)
        return result

    def _place(self, error: Exception) -> str:
        """The line of the function's file that raised: Spark's message names a column, not a line."""
        code = getattr(self.function, "__code__", None)
        frames = traceback.extract_tb(error.__traceback__)
        line = next((each.lineno for each in reversed(frames) if code and each.filename == code.co_filename), None)
        return f" ({Path(code.co_filename).name} line {line})" if code and line else ""

    def _check_columns(self, records: DataFrame, result: DataFrame) -> None:
        columns = result.columns
        if COORDINATES not in columns or result.schema[COORDINATES].dataType != records.schema[COORDINATES].dataType:
            raise TransformError(
                f"transform `{self.name}` lost the column `{COORDINATES}`",
                hint=f'keep it: `.select("{COORDINATES}", ...)`; it identifies the record of each tag',
            )
        if repeated := sorted({column for column in columns if columns.count(column) > 1}):
            raise TransformError(f"transform `{self.name}` returned several columns {', '.join(repeated)}")
        own = [column for column in columns if column != COORDINATES]
        if not own or any(column.startswith(RESERVED_PREFIX) for column in own):
            raise TransformError(
                f"transform `{self.name}` returned the columns {', '.join(columns)}",
                hint=f"a tag needs at least one column, and names with `{RESERVED_PREFIX}` are reserved",
            )


def load_transform(name: str, folder: Path) -> Transform:
    """Imports `module:function`.

    Args:
        folder: the folder of the configuration file.

    Raises:
        TransformError: there is no such module, it raises, or it has no such function.
    """
    module_name, _, function_name = name.partition(":")
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # the user's code may raise anything
        raise TransformError(
            f"transform `{name}`: `import {module_name}` raised {type(error).__name__}: {error}",
            hint=f"modules are searched in {folder} and on Python's path",
        ) from error
    function = getattr(module, function_name, None)
    if not callable(function):
        raise TransformError(f"transform `{name}`: {module.__file__} has no function `{function_name}`")
    _send_by_value(module, folder)
    return Transform(name, function)


def _send_by_value(module: ModuleType, folder: Path) -> None:
    if module.__file__ and module.__file__.startswith(str(folder)):
        from pyspark import cloudpickle

        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
