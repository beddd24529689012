"""What is served, by a real client over a real socket."""

import json
import socket
from collections.abc import Iterator
from http.client import HTTPConnection

import pytest
from tests.unit.pipelines.status.runs import PIPELINE, PROOF, START, running

from brokernat.address import Endpoint
from brokernat.errors import ConfigError, IncompleteError
from brokernat.pipelines.status.board import DeadLetterView, ShownDeadLetter, StatusBoard, readable
from brokernat.pipelines.status.server import answer, serving

Response = tuple[int, dict[str, str], str]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture
def board() -> StatusBoard:
    return StatusBoard(PIPELINE)


@pytest.fixture
def endpoint(board: StatusBoard) -> Iterator[Endpoint]:
    endpoint = Endpoint("127.0.0.1", free_port())
    with serving(endpoint, board):
        yield endpoint


def get(endpoint: Endpoint, path: str, *, method: str = "GET", host: str | None = None) -> Response:
    connection = HTTPConnection(endpoint.host, endpoint.port, timeout=30)
    try:
        connection.request(method, path, headers={"Host": host or str(endpoint)})
        response = connection.getresponse()
        return response.status, dict(response.getheaders()), response.read().decode()
    finally:
        connection.close()


def test_health_is_503_with_a_reason_until_the_query_runs(board: StatusBoard, endpoint: Endpoint) -> None:
    assert get(endpoint, "/health")[::2] == (503, "the query has not started yet\n")
    board.status = board.status.proved(PROOF).started(1, board.status.started_at)
    assert get(endpoint, "/health")[::2] == (200, "ok\n")
    with pytest.raises(IncompleteError), board.until_the_end():
        raise IncompleteError("the query failed at last", hint="start it again")
    assert get(endpoint, "/health")[::2] == (503, "the query failed: the query failed at last\n")


def test_each_path_has_its_type_and_nothing_may_be_loaded_from_elsewhere(endpoint: Endpoint) -> None:
    types = {
        "/": "text/html; charset=utf-8",
        "/page.css": "text/css; charset=utf-8",
        "/page.js": "text/javascript; charset=utf-8",
        "/metrics": "text/plain; version=0.0.4; charset=utf-8",
        "/status.json?x=1": "application/json",
        "/dead-letters.json": "application/json",
    }
    for path, content_type in types.items():
        code, headers, body = get(endpoint, path)
        assert (code, headers["Content-Type"]) == (200, content_type)
        assert headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")
        assert headers["Server"] == "brokernat"
        assert "http://" not in body.replace("http://www.w3.org/2000/svg", "")
    assert get(endpoint, "/../server.py")[0] == 404
    assert get(endpoint, "/", method="POST")[0] == 501
    code, headers, body = get(endpoint, "/", method="HEAD")
    assert (code, body) == (200, "")
    assert int(headers["Content-Length"]) > 1000


@pytest.mark.parametrize(
    ("host", "code"),
    [
        ("localhost:8088", 200),
        ("127.0.0.1", 200),
        ("[::1]:8088", 200),
        ("evil.example:8088", 403),
        ("localhost.evil.example:8088", 403),
        ("127.0.0.1.evil.example", 403),
        (":", 403),
    ],
)
def test_another_name_for_this_machine_is_refused(endpoint: Endpoint, host: str, code: int) -> None:
    assert get(endpoint, "/status.json", host=host)[0] == code


def test_a_port_that_is_taken_is_one_clear_error(endpoint: Endpoint) -> None:
    with pytest.raises(ConfigError) as raised, serving(endpoint, StatusBoard(PIPELINE)):
        pass
    assert str(raised.value).splitlines() == [
        f"the status page cannot listen on {endpoint}: Address already in use",
        "hint: choose another address or port: `--status HOST:PORT`",
    ]


def test_the_json_of_a_run(board: StatusBoard) -> None:
    board.status = running()
    status = json.loads(answer("/status.json", board, START + 31).body)
    assert (status["version"], status["healthy"], status["phase"], status["starts"]) == (1, True, "running", 2)
    assert status["records"]["causes"] == {"MissingReference": 9, "WrongType": 3}
    assert status["partitions"][0] == {"topic": "orders", "partition": 0, "end": 150, "latest": 157, "lag": 7}
    assert status["references"] == [{"name": "customers", "version": "0f3b", "age": 91.0, "trouble": None}]
    assert len(status["history"]) == 3
    assert status["history"][-1] == {"at": START + 30, "lag": 7, "received_rate": 10.0, "dead_letter_rate": 0.4}
    assert status["routes"][0]["proved_by"] == ["driver", "1"]


def test_the_json_of_dead_letters(board: StatusBoard) -> None:
    letter = ShownDeadLetter(START, "c/orders/0/7", "WrongType", "field `amount`", None, "{", 1)
    board.dead_letters = lambda: DeadLetterView((letter,))
    view = json.loads(answer("/dead-letters.json", board, START).body)
    assert view["letters"][0]["cause"] == "WrongType"
    assert view["problem"] is None


def test_bytes_are_readable_and_obeyed_by_nothing() -> None:
    assert readable("für <b>".encode()) == "für <b>"
    assert readable(b"\xff\x00\x1b[31m" + "\u202e".encode()) == "\\xff\\x00\\x1b[31m\\u202e"
