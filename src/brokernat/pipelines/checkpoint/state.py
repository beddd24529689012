"""The files of a pipeline in the folder of Spark's checkpoint: the owner, copies of references, the log.

They are in one folder so that they are moved, saved and removed together. Spark ignores names that begin with an
underscore. The owner names the pipeline, the cluster and the topics of the offsets: Spark's offsets have only topic
names, and with another cluster or a recreated topic they would silently skip or repeat records.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from brokernat.errors import ConfigError, Finding
from brokernat.paths import STATE_VARIABLE, state_dir, writing
from brokernat.pipelines.checkpoint.committed import Offsets, as_option, offsets
from brokernat.pipelines.checkpoint.files import Files, is_local, local_path

FOLDER = "_brokernat"
_START_AGAIN = "set another `checkpoint` for this pipeline, or remove the folder to start again"


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of a checkpoint: pipeline, Kafka's cluster id, and topic ids where brokers have them (2.8)."""

    pipeline: str
    source_cluster: str
    topics: tuple[str, ...]
    topic_ids: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class State:
    """The files and folders under one checkpoint folder."""

    checkpoint: str

    @property
    def owner_file(self) -> str:
        return f"{self.checkpoint}/{FOLDER}/owner.json"

    @property
    def starts_file(self) -> str:
        return f"{self.checkpoint}/{FOLDER}/starts"

    @property
    def definition_file(self) -> str:
        return f"{self.checkpoint}/{FOLDER}/definition.json"

    @property
    def starting_file(self) -> str:
        """Start offsets for a run without Spark's offsets; they replace `starting_offsets` of the file."""
        return f"{self.checkpoint}/{FOLDER}/starting-offsets.json"

    @property
    def replay_folder(self) -> str:
        """The folder in which a replay keeps its ledger and its own copies of references."""
        return f"{self.checkpoint}/{FOLDER}/replay"

    def reference_folder(self, name: str) -> str:
        """The folder in which the copies of a reference are kept."""
        return f"{self.checkpoint}/{FOLDER}/references/{name}"

    def local_folder(self, pipeline: str) -> Path:
        """The folder for logs: next to a local checkpoint, else under the user's state folder."""
        if is_local(self.checkpoint):
            return Path(local_path(self.checkpoint)) / FOLDER
        return user_folder(pipeline)

    def owner(self, files: Files) -> Owner | None:
        """The owner, None for a new checkpoint.

        Raises:
            ConfigError: the owner is unknown: another program has created the checkpoint, or the file is damaged.
        """
        text = files.read_text(self.owner_file)
        if text is None:
            if files.exists(f"{self.checkpoint}/offsets"):
                message = (
                    f"the checkpoint {self.checkpoint} was created by another program: {self.owner_file} is missing"
                )
                raise ConfigError(Finding("foreign-checkpoint", message, _START_AGAIN))
            return None
        try:
            known = json.loads(text)
            topics, topic_ids = tuple(known["topics"]), dict(known.get("topic_ids", {}))
            return Owner(known["pipeline"], known["source_cluster"], topics, topic_ids)
        except (ValueError, TypeError, KeyError, AttributeError):
            message = f"{self.owner_file} is damaged: the owner of the checkpoint is unknown"
            raise ConfigError(Finding("damaged-checkpoint", message, _START_AGAIN)) from None

    def has_begun(self, files: Files) -> bool:
        """Whether Spark has written to the checkpoint, so a run continues from it."""
        return any(files.exists(f"{self.checkpoint}/{name}") for name in ("metadata", "sources", "offsets", "commits"))

    def require_unused(self, files: Files) -> None:
        """Checks that no query has started with this checkpoint.

        Raises:
            ConfigError: a query has started with it.
        """
        if self.has_begun(files):
            message = f"{self.checkpoint} has a checkpoint, and a run continues from it"
            hint = "if it is damaged, move the whole folder away first"
            raise ConfigError(Finding("checkpoint-exists", message, hint))

    def starting_offsets(self, files: Files) -> Offsets | None:
        """The offsets that `start_from` has stored, or None.

        Raises:
            ConfigError: the file is damaged.
        """
        text = files.read_text(self.starting_file)
        try:
            return None if text is None else offsets(text)
        except (ValueError, TypeError, LookupError, AttributeError):
            message = f"{self.starting_file} is damaged: the start offsets are unknown"
            hint = "write it again with `brokernat pipeline reconcile NAME --propose-offsets --write`"
            raise ConfigError(Finding("damaged-checkpoint", message, hint)) from None

    def start_from(self, files: Files, starting: Offsets) -> None:
        """Stores the offsets at which the first run with this checkpoint starts."""
        files.write_text(self.starting_file, as_option(starting))

    def definition(self, files: Files) -> dict[str, str]:
        """The definition at the last start, see `definition.py`; empty if unknown."""
        try:
            stored = json.loads(files.read_text(self.definition_file) or "{}")
            return {name: part for name, part in stored.items() if isinstance(part, str)}
        except (ValueError, AttributeError):
            # Only the warnings of `pipeline check` depend on it.
            return {}

    def define(self, files: Files, definition: Mapping[str, str]) -> None:
        """Stores the definition."""
        files.write_text(self.definition_file, json.dumps(definition))

    def claim(self, files: Files, owner: Owner) -> None:
        """Stores the owner."""
        files.write_text(self.owner_file, json.dumps(asdict(owner)))

    def count_start(self, files: Files) -> int:
        """Increments the number of starts with this checkpoint and returns it."""
        text = files.read_text(self.starts_file) or ""
        # Nothing depends on the count, so it restarts if the file cannot be read.
        starts = 1 + (int(text) if text.isdecimal() else 0)
        files.write_text(self.starts_file, str(starts))
        return starts


def user_folder(name: str) -> Path:
    """The folder for logs of a checkpoint that is not local.

    In `$XDG_STATE_HOME/brokernat` or `~/.local/state/brokernat`.
    """
    return state_dir() / name


def foreign(found: Owner | None, owner: Owner) -> tuple[Finding, ...]:
    """The reasons why a run must not continue with a checkpoint of `found`."""
    if found is None:
        return ()
    hint = _START_AGAIN
    problems = []
    if found.pipeline != owner.pipeline:
        problems.append(Finding("foreign-checkpoint", f"the checkpoint belongs to pipeline `{found.pipeline}`", hint))
    if found.source_cluster != owner.source_cluster:
        message = (
            f"the checkpoint has offsets of the Kafka cluster {found.source_cluster}, "
            f"but the source is now {owner.source_cluster}"
        )
        problems.append(Finding("foreign-checkpoint", message, hint))
    if gone := [topic for topic in found.topics if topic not in owner.topics]:
        message = f"the checkpoint has offsets of {', '.join(gone)}, which is no longer in `source.topics`"
        problems.append(Finding("foreign-checkpoint", message, hint))
    if recreated := [topic for topic, known in found.topic_ids.items() if owner.topic_ids.get(topic, known) != known]:
        message = f"{', '.join(recreated)} was deleted and recreated: the checkpoint has offsets of the deleted one"
        problems.append(Finding("foreign-checkpoint", message, hint))
    return tuple(problems)


@contextmanager
def log_folder(folder: Path) -> Iterator[None]:
    """Creates the folder of a pipeline's lock and logs, which the block may then write to.

    Raises:
        ConfigError: it cannot be created or written.
    """
    with writing(folder, "the folder for logs", moved_by=f"`checkpoint` or {STATE_VARIABLE}"):
        folder.mkdir(parents=True, exist_ok=True)
        yield


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Locks the folder for this process: two runs of one pipeline would write each batch twice.

    Raises:
        ConfigError: another process has the lock.
    """
    with log_folder(folder):
        file = (folder / "lock").open("w")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = f"another process already runs this pipeline: {folder / 'lock'} is locked"
            raise ConfigError(Finding("pipeline-runs", message, "stop it first")) from None
        yield
