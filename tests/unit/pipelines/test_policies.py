"""Every row of docs/reference/policies.md has a test, cases on real brokers, and every alert that it names exists."""

import ast
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from brokernat.pipelines.checkpoint.definition import CHANGES
from brokernat.pipelines.policies import POLICIES, Policy

ROOT = Path(__file__).resolve().parents[3]
PIPELINES = "tests/integration/pipelines"
SHOWN = {
    "brokers-away": f"{PIPELINES}/test_policies.py::test_a_sink_that_is_away_is_tried_again_in_the_same_run",
    "leader-unmapped": f"{PIPELINES}/test_policies.py::test_a_leader_that_moves_to_an_unmapped_broker_ends_the_run",
    "right-missing": f"{PIPELINES}/test_rights.py::test_each_missing_right_is_named_and_granting_what_is_named_heals",
    "record-too-large": f"{PIPELINES}/test_run.py::test_a_tag_that_is_too_large_stops_the_run_and_is_named",
    "retention-passed": f"{PIPELINES}/test_changing_source.py::"
    "test_records_that_retention_took_before_they_were_read_are_not_passed_over",
    "topic-removed": f"{PIPELINES}/test_changing_source.py::"
    "test_a_topic_that_is_removed_under_a_run_ends_it_and_the_check_names_it",
    "topic-made-again": f"{PIPELINES}/test_changing_source.py::"
    "test_a_topic_that_was_made_again_is_not_read_from_where_the_old_one_ended",
    "partition-added": f"{PIPELINES}/test_changing_source.py::"
    "test_new_partitions_and_batches_of_nothing_but_markers_are_read_without_a_restart",
    "poison": f"{PIPELINES}/test_run.py::test_every_record_becomes_a_tag_a_dead_letter_or_is_counted_as_filtered",
    "poison-above-limit": f"{PIPELINES}/test_policies.py::test_too_many_dead_letters_and_an_old_reference_stop_the_run",
    "reference-broken": f"{PIPELINES}/test_run.py::"
    "test_an_overwritten_reference_shows_in_the_tags_and_sigterm_finishes_the_batch",
    "reference-stale": f"{PIPELINES}/test_policies.py::test_too_many_dead_letters_and_an_old_reference_stop_the_run",
    "counts-differ": f"{PIPELINES}/test_run.py::test_what_a_transform_duplicates_is_an_error_and_nothing_is_written",
    "killed": f"{PIPELINES}/test_kill.py::test_killed_until_a_kill_has_hurt",
    "checkpoint-lost": "tests/integration/reconcile/test_pipeline.py::"
    "test_tags_dead_letters_and_filtered_are_all_and_what_the_sink_loses_is_named",
}

DEFINITION = "tests/unit/pipelines/test_definition.py::test_what_has_changed_is_named"
OWNER = "tests/integration/steps/test_state.py::test_a_checkpoint_is_gone_on_with_only_by_its_owner"
CHANGED = {
    "decode": f"{PIPELINES}/test_old_checkpoint.py::test_a_checkpoint_of_an_older_version_is_gone_on_with",
    **dict.fromkeys(["transform", "enrich", "key", "encode", "mode", "topics", "starting_offsets"], DEFINITION),
    "sink": f"{PIPELINES}/test_run.py::test_a_tag_that_is_too_large_stops_the_run_and_is_named",
    **dict.fromkeys(["dead_letters", "spark"], DEFINITION),
    "gone": OWNER,
    "made-again": SHOWN["topic-made-again"],
    "source": f"{PIPELINES}/test_run.py::test_check_of_a_pipeline_in_order_is_quiet_and_a_foreign_checkpoint_is_not",
    "name": OWNER,
}


def test_each_row_is_shown_once() -> None:
    assert list(SHOWN) == [policy.name for policy in POLICIES]
    assert list(CHANGED) == [change.name for change in CHANGES]


@pytest.mark.parametrize("shown", sorted({*SHOWN.values(), *CHANGED.values()}))
def test_the_tests_exist(shown: str) -> None:
    file, _, name = shown.partition("::")
    functions = [node.name for node in ast.parse((ROOT / file).read_text()).body if isinstance(node, ast.FunctionDef)]
    assert name in functions


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_what_pages_is_an_alert(policy: Policy) -> None:
    rules = YAML(typ="safe", pure=True).load((ROOT / "examples/operating/alerts.yaml").read_text())["groups"][0][
        "rules"
    ]
    assert set(policy.alerts) <= {rule["alert"] for rule in rules}
