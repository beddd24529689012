"""A diagnosis of real brokers in every form but the one that is a snapshot."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

from jsonschema import Draft202012Validator

from brokernat.doctor.diagnosis import Diagnosis
from brokernat.doctor.reports.html import html_page
from brokernat.doctor.reports.json_v1 import json_v1, schema_v1


def assert_told_whole(diagnosis: Diagnosis) -> None:
    """The JSON is as its schema says, and the page is well-formed and names the root cause."""
    Draft202012Validator(json.loads(schema_v1())).validate(json_v1(diagnosis))
    text = "".join(ET.fromstring(html_page(diagnosis)).itertext())
    assert diagnosis.cause is not None
    assert diagnosis.cause.sentence.replace("`", "") in text
