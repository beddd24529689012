"""What a pipeline keeps beside Spark's checkpoint, in the same folder: whose it is, copies of references, the log.

One folder, so that what belongs together is moved, saved and removed together. Spark passes over names that begin with
an underscore. The folder says which pipeline, which cluster and which topics its offsets are of: offsets hold a topic's
name and no cluster, and read against another cluster, or against a topic that was removed and made again, they would
skip or repeat records without a word.
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
_START_ANEW = "give this pipeline a `checkpoint` of its own, or remove the folder to start anew"


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose checkpoint a folder is. The cluster is named by Kafka's own id, topics by theirs where they have one."""

    pipeline: str
    source_cluster: str
    topics: tuple[str, ...]
    topic_ids: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class State:
    """The places under one checkpoint folder."""

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
        """Where a run begins that finds no offsets of Spark's, instead of at `starting_offsets` of the file."""
        return f"{self.checkpoint}/{FOLDER}/starting-offsets.json"

    @property
    def replay_folder(self) -> str:
        """Where a replay keeps its ledger and its own copies of references."""
        return f"{self.checkpoint}/{FOLDER}/replay"

    def reference_folder(self, name: str) -> str:
        """Where the copies of a reference are kept."""
        return f"{self.checkpoint}/{FOLDER}/references/{name}"

    def local_folder(self, pipeline: str) -> Path:
        """Where logs go: beside the checkpoint where that is local, else under the user's own state folder."""
        if is_local(self.checkpoint):
            return Path(local_path(self.checkpoint)) / FOLDER
        return user_folder(pipeline)

    def owner(self, files: Files) -> Owner | None:
        """Whose it is, None for a new one.

        Raises:
            ConfigError: it cannot be told: another program has begun it, or the note is damaged.
        """
        text = files.read_text(self.owner_file)
        if text is None:
            if files.exists(f"{self.checkpoint}/offsets"):
                message = f"the checkpoint {self.checkpoint} was begun by another program: {self.owner_file} is missing"
                raise ConfigError(Finding("foreign-checkpoint", message, _START_ANEW))
            return None
        try:
            known = json.loads(text)
            topics, topic_ids = tuple(known["topics"]), dict(known.get("topic_ids", {}))
            return Owner(known["pipeline"], known["source_cluster"], topics, topic_ids)
        except (ValueError, TypeError, KeyError, AttributeError):
            message = f"{self.owner_file} is damaged: it does not say whose the checkpoint is"
            raise ConfigError(Finding("damaged-checkpoint", message, _START_ANEW)) from None

    def has_begun(self, files: Files) -> bool:
        """Whether Spark has written there: it goes on from what it finds."""
        return any(files.exists(f"{self.checkpoint}/{name}") for name in ("metadata", "sources", "offsets", "commits"))

    def require_unused(self, files: Files) -> None:
        """Does nothing where no query has begun with this checkpoint.

        Raises:
            ConfigError: one has.
        """
        if self.has_begun(files):
            message = f"{self.checkpoint} holds a checkpoint, and a run goes on from it"
            hint = "where it is damaged, move the whole folder away first"
            raise ConfigError(Finding("checkpoint-exists", message, hint))

    def starting_offsets(self, files: Files) -> Offsets | None:
        """The offsets that `start_from` has noted, None without.

        Raises:
            ConfigError: the note is damaged.
        """
        text = files.read_text(self.starting_file)
        try:
            return None if text is None else offsets(text)
        except (ValueError, TypeError, LookupError, AttributeError):
            message = f"{self.starting_file} is damaged: it does not say where to begin"
            hint = "`brokernat pipeline reconcile NAME --propose-offsets --write` writes it again"
            raise ConfigError(Finding("damaged-checkpoint", message, hint)) from None

    def start_from(self, files: Files, starting: Offsets) -> None:
        """Notes where the first run with this checkpoint begins."""
        files.write_text(self.starting_file, as_option(starting))

    def definition(self, files: Files) -> dict[str, str]:
        """What the pipeline was when it last started, see `definition.py`; empty where that is not known."""
        try:
            noted = json.loads(files.read_text(self.definition_file) or "{}")
            return {name: part for name, part in noted.items() if isinstance(part, str)}
        except (ValueError, AttributeError):
            # Only what a check says depends on it.
            return {}

    def define(self, files: Files, definition: Mapping[str, str]) -> None:
        """Notes what the pipeline is from now on."""
        files.write_text(self.definition_file, json.dumps(definition))

    def claim(self, files: Files, owner: Owner) -> None:
        """Notes whose it is from now on."""
        files.write_text(self.owner_file, json.dumps(asdict(owner)))

    def count_start(self, files: Files) -> int:
        """Notes one more start of the pipeline with this checkpoint, and returns how many there were."""
        text = files.read_text(self.starts_file) or ""
        # Nothing depends on it, so what cannot be read begins anew.
        starts = 1 + (int(text) if text.isdecimal() else 0)
        files.write_text(self.starts_file, str(starts))
        return starts


def user_folder(name: str) -> Path:
    """Where logs go that have no local folder: in `$XDG_STATE_HOME/brokernat`, or `~/.local/state/brokernat`."""
    return state_dir() / name


def foreign(found: Owner | None, owner: Owner) -> tuple[Finding, ...]:
    """Why a checkpoint must not be gone on with."""
    if found is None:
        return ()
    hint = _START_ANEW
    problems = []
    if found.pipeline != owner.pipeline:
        problems.append(Finding("foreign-checkpoint", f"the checkpoint belongs to pipeline `{found.pipeline}`", hint))
    if found.source_cluster != owner.source_cluster:
        message = (
            f"the checkpoint holds offsets of the Kafka cluster {found.source_cluster}, "
            f"the source is {owner.source_cluster} now"
        )
        problems.append(Finding("foreign-checkpoint", message, hint))
    if gone := [topic for topic in found.topics if topic not in owner.topics]:
        message = f"the checkpoint holds offsets of {', '.join(gone)}, which the source does not name any more"
        problems.append(Finding("foreign-checkpoint", message, hint))
    if anew := [topic for topic, known in found.topic_ids.items() if owner.topic_ids.get(topic, known) != known]:
        message = f"{', '.join(anew)} was removed and made again: the checkpoint holds offsets of the one that is gone"
        problems.append(Finding("foreign-checkpoint", message, hint))
    return tuple(problems)


@contextmanager
def log_folder(folder: Path) -> Iterator[None]:
    """The folder of a pipeline's lock and logs, made where it is missing; for whoever writes into it.

    Raises:
        ConfigError: it cannot be made or written.
    """
    with writing(folder, "the folder for logs", moved_by=f"`checkpoint` or {STATE_VARIABLE}"):
        folder.mkdir(parents=True, exist_ok=True)
        yield


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Holds the folder for this process: two runs of one pipeline would write each batch twice.

    Raises:
        ConfigError: another process holds it.
    """
    with log_folder(folder):
        file = (folder / "lock").open("w")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = f"another process runs this pipeline already: {folder / 'lock'} is held"
            raise ConfigError(Finding("pipeline-runs", message, "stop it first")) from None
        yield
