"""A whole log is folded into what it says, in bounded memory."""

import io
import json
import tracemalloc
from collections.abc import Iterator

import pytest

from brokernat.doctor.explain.explained_lines import MOST
from brokernat.doctor.explain.log import explain_log
from brokernat.doctor.explain.log_text import LONGEST, pieces
from brokernat.doctor.explain.report import log_text

DEAD = "{} WARN Connection to node {} (/10.0.{}.{}:9092) could not be established. Node may not be available.\n"
LATE = "org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a node assignment. Call: listTopics\n"


def line(second: int, node: int) -> str:
    return DEAD.format(f"2026-11-21 18:00:{second:02},000", node, node // 250, node % 250)


def test_lines_that_say_the_same_are_one_entry() -> None:
    log = [LATE, line(1, 1), "INFO all is well\n", line(2, 2), line(3, 1), LATE]
    found = explain_log(log)
    assert (found.lines, found.recognised) == (6, 5)
    assert [(each.match.peer.node, each.count) for each in found.explained] == [(1, 2), (2, 1), (None, 2)]
    first, _, late = found.explained
    assert (first.first_seen, first.last_seen) == ("2026-11-21 18:00:01,000", "2026-11-21 18:00:03,000")
    # A line without a time happened at that of the line above it.
    assert (late.first_seen, late.last_seen) == (None, "2026-11-21 18:00:03,000")


def test_a_stack_in_one_line_says_several_things_and_each_once() -> None:
    dead = line(1, 1).strip()
    stack = f"{dead}\n\tat x\nCaused by: {LATE}Caused by: {LATE}"
    docker = json.dumps({"log": stack, "time": "2026-11-21T17:00:01Z"}) + "\n"
    found = explain_log([docker, docker])
    assert (found.lines, found.recognised) == (2, 2)
    assert [(each.match.known.key, each.count) for each in found.explained] == [
        ("java-no-connection", 2),
        ("java-no-node", 2),
    ]
    assert found.explained[1].line == f"Caused by: {LATE.strip()}"
    # The client's own time, not the collector's, where it says one.
    assert {each.last_seen for each in found.explained} == {"2026-11-21 18:00:01,000"}


def test_a_collectors_time_is_better_than_none() -> None:
    found = explain_log([json.dumps({"log": LATE, "time": "2026-11-21T17:00:01Z"}) + "\n"])
    assert found.explained[0].first_seen == "2026-11-21T17:00:01Z"


def test_many_endpoints_are_counted_together() -> None:
    found = explain_log(line(1, node) for node in range(MOST + 100))
    assert len(found.explained) == MOST + 1
    assert found.recognised == MOST + 100
    assert sum(each.count for each in found.explained) == MOST + 100


def test_memory_does_not_grow_with_the_log() -> None:
    def much() -> Iterator[str]:
        for number in range(12_000):
            yield line(number % 60, number)

    tracemalloc.start()
    explain_log(much())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * 2**20


def test_a_long_line_comes_in_pieces_and_is_one_line() -> None:
    text = "x" * (3 * LONGEST) + "\n" + line(1, 1).rstrip()
    parts = list(pieces(io.StringIO(text)))
    assert max(map(len, parts)) == LONGEST
    found = explain_log(parts)
    assert (found.lines, found.recognised) == (2, 1)


def test_nothing() -> None:
    assert explain_log([]).lines == 0
    assert explain_log(pieces(io.StringIO(""))).explained == ()


PKIX = "javax.net.ssl.SSLHandshakeException: PKIX path building failed: sun.security.provider.certpath.X: unable to find valid certification path to requested target\n"  # noqa: E501
KAFKAS = "\tat org.apache.kafka.common.network.SslTransportLayer.handshake(SslTransportLayer.java:1)\n"
ANOTHERS = "\tat org.apache.http.impl.client.CloseableHttpClient.execute(CloseableHttpClient.java:1)\n"
ANYBODYS = "\tat java.base/sun.security.ssl.Alert.createSSLException(Alert.java:1)\n"
NOTHING = ["INFO all is well\n"] * 100


@pytest.mark.parametrize(
    ("log", "claimed"),
    [
        ([PKIX], True),
        ([PKIX, ANYBODYS], True),
        ([PKIX, ANYBODYS, KAFKAS], True),
        ([PKIX, ANYBODYS, ANOTHERS], False),
        ([PKIX, ANYBODYS, ANOTHERS, KAFKAS], False),
        ([line(1, 1), PKIX, ANYBODYS], True),
        ([line(1, 1), PKIX, ANYBODYS, ANOTHERS], False),
        (["INFO GET https://api/\n", PKIX], False),
        (["INFO GET https://api/\n", line(1, 1), PKIX], True),
        ([line(1, 1), *NOTHING, PKIX], False),
        ([*NOTHING, PKIX, ANYBODYS], False),
        ([*NOTHING, PKIX, ANYBODYS, KAFKAS, *NOTHING], True),
        ([PKIX, "INFO all is well\n", KAFKAS], True),
    ],
)
def test_borrowed_words_count_where_kafka_is_near(log: list[str], claimed: bool) -> None:
    found = explain_log(log).explained
    assert ("java-untrusted" in {each.match.known.key for each in found}) == claimed


def test_what_follows_a_borrowed_line_keeps_its_place() -> None:
    found = explain_log([PKIX, ANYBODYS, f"Caused by: {LATE}", KAFKAS, line(2, 2)])
    assert (found.lines, found.recognised) == (5, 3)
    assert {each.match.known.key for each in found.explained} == {
        "java-untrusted",
        "java-no-node",
        "java-no-connection",
    }


def test_the_cause_of_a_line_without_a_reason_counts() -> None:
    start = "ERROR Fatal error during KafkaServer startup. Prepare to shutdown (kafka.server.KafkaServer)"
    found = explain_log([f"{start}\n", "java.io.IOException: No space left on device\n"])
    assert [each.match.known.key for each in found.explained] == ["disk-full", "broker-start-failed"]


def test_the_line_below_corrects_what_a_line_seems_to_be() -> None:
    effect = (
        "WARN [Producer clientId=billing-1] Error connecting to node kafka-1.hq.internal:9092 (id: -1 rack: null)\n"
    )
    built = "java.io.IOException: Channel could not be created for socket java.nio.channels.SocketChannel[closed]\n"
    assert [each.match.known.key for each in explain_log([effect, built]).explained] == ["java-channel-not-built"]
    found = explain_log([effect, effect, built]).explained
    assert {each.match.known.key: each.count for each in found} == {
        "java-error-connecting": 1,
        "java-channel-not-built": 1,
    }
    apart = explain_log([effect, "INFO all is well\n", built]).explained
    assert len(apart) == 2


def test_what_only_follows_from_another_line_about_the_same_endpoint_is_left_out() -> None:
    refused = (
        "WARN Connection to node -1 (kafka-1/10.0.0.5:9092) could not be established. Node may not be available.\n"
    )
    closed = "WARN Bootstrap broker {} (id: -1 rack: null) disconnected (org.apache.kafka.clients.NetworkClient)\n"
    same = explain_log([refused, closed.format("kafka-1:9092")]).explained
    assert [each.match.known.key for each in same] == ["java-no-connection"]
    other = explain_log([refused, closed.format("kafka-2:9092")]).explained
    assert [each.match.known.key for each in other] == ["java-no-connection", "java-bootstrap-disconnected"]


_KILLED = (
    "[2026-11-20 10:11:12,123] ERROR WorkerSinkTask{id=orders-0} Task threw an uncaught and unrecoverable exception"
)


_FRAME = "\tat com.acme.Sink.put(Sink.java:1)"


@pytest.mark.parametrize(
    ("below", "cause"),
    [
        (["com.acme.SinkException: no such table", _FRAME], "com.acme.SinkException: no such table"),
        (["com.acme.SinkException: it failed", _FRAME, "Caused by: a.TokenError: no token"], "a.TokenError: no token"),
        (["[2026-11-20 10:11:13,000] INFO nothing", "com.acme.SinkException: of another line"], ""),
        ([], ""),
    ],
    ids=["below", "the last", "of another line", "none"],
)
def test_a_line_that_only_says_that_something_failed_shows_the_exception_below_it(below: list[str], cause: str) -> None:
    for prefix in ("", "connect_1  | ", "Aug 07 22:39:51 host connect[20400]: "):
        (explained,) = explain_log(f"{prefix}{line}\n" for line in (_KILLED, *below)).explained
        assert explained.match.known.key == "connect-task"
        assert explained.cause == cause


def test_an_exception_that_is_explained_is_no_cause_of_a_wrapper() -> None:
    below = (
        "Caused by: org.apache.kafka.common.errors.TopicAuthorizationException: Not authorized to access topics: [a]"
    )
    found = explain_log(f"{line}\n" for line in (_KILLED, "com.acme.SinkException: it failed", below)).explained
    assert len(found) == 2
    assert not any(each.cause for each in found)


_REBALANCE = "org.apache.kafka.streams.errors.StreamsException: stream-thread [t-1] Failed to rebalance"
_APPEND = (
    "[2016-07-12 10:36:21,408] ERROR [Replica Manager on Broker 1]: Error processing append operation on partition a-2 "
    "(kafka.server.ReplicaManager)"
)


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ([_KILLED, "com.acme.SinkException: no such column", _FRAME], "its text is not one that is known"),
        ([_KILLED, "com.acme.AcmeConfigException: `url` must be set"], "refuses a setting"),
        (
            [_KILLED, "org.apache.kafka.connect.errors.ConnectException: no", "...", "Caused by: a.LockException"],
            "file",
        ),
        ([_REBALANCE, "Caused by: java.lang.ArrayIndexOutOfBoundsException"], "fewer bytes or elements"),
        ([_APPEND, "kafka.common.KafkaException: ", "\tat kafka.message.X.makeNext(X.scala:1)"], "`X.makeNext`"),
        (
            [
                "ERROR [io.qua.run.Application] (main) Failed to start application: a.b.ConfigException: no x",
                "\tat io.smallrye.reactive.messaging.kafka.KafkaConnector.getPublisher(KafkaConnector.java:189)",
            ],
            "refuses",
        ),
    ],
)
def test_a_line_that_refers_to_an_exception_is_explained_with_that_exception(lines: list[str], text: str) -> None:
    explained = explain_log(f"{line}\n" for line in lines).shown[-1]
    assert explained.cause
    assert text in explained.means
    assert "does not contain" not in explained.means
    assert not explained.do.startswith("explain the ")


def test_of_two_lines_with_one_reason_the_special_one_is_shown() -> None:
    sink = "org.apache.kafka.connect.errors.ConnectException: Exiting WorkerSinkTask due to unrecoverable exception."
    log = (_KILLED, sink, "Caused by: com.acme.AcmeException: no")
    (explained,) = explain_log(f"{line}\n" for line in log).shown
    assert (explained.line, explained.cause) == (sink, "com.acme.AcmeException: no")


def test_a_wrapper_whose_exception_has_a_kind_of_its_own_refers_to_that_line() -> None:
    tolerance = "org.apache.kafka.connect.errors.ConnectException: Tolerance exceeded in error handler"
    first, second = explain_log(f"{line}\n" for line in (_KILLED, tolerance, _FRAME)).shown
    assert (first.match.known.key, second.match.known.key) == ("connect-task", "connect-tolerance")
    assert second.match.known.title in first.means
    assert "not one that is known" not in first.means


def test_an_exception_by_its_class_has_no_block_beside_the_line_that_names_its_code() -> None:
    lines = (_KILLED, "java.lang.NullPointerException", _FRAME)
    (explained,) = explain_log(f"{line}\n" for line in lines).shown
    assert explained.match.known.key == "connect-task"
    assert "`Sink.put`" in explained.means
    # It occurs once more, so the line names only one of the two.
    twice = (*lines, "[2026-11-20 10:11:14,000] ERROR kafka: java.lang.NullPointerException", _FRAME)
    assert "jvm-exception" in [each.match.known.key for each in explain_log(f"{line}\n" for line in twice).shown]


def test_an_exception_is_the_reason_only_if_all_events_have_it() -> None:
    first, second = (f"{_KILLED.replace(':12', f':{second}')}\n" for second in (12, 13))
    no, other = "com.acme.AcmeException: no\n", "com.acme.AcmeException: bucket 2\n"
    for log, same in (
        ([first, no, second, no], True),
        ([first, no, second, other], False),
        ([first, second, no], False),
    ):
        (explained,) = explain_log(log).shown
        assert (explained.count, explained.reason is not None) == (2, same)


def test_lines_without_a_time_have_the_reason_of_their_own_stack_each_time() -> None:
    refused = (
        'refused: 10.0.0.{0}:9092 has no rule in the address map of client a; add "10.0.0.{0}:9092 = REACHABLE:9092"'
    )
    event = (
        f"[main] WARN io.brokernat.agent - {refused}\n"
        "[main] WARN org.apache.kafka.clients.NetworkClient - [Consumer clientId=a, groupId=b] "
        "Error connecting to node 10.0.0.{0}:9092 (id: {0} rack: null)\n"
        f"java.net.ConnectException: {refused}\n"
        "\tat io.brokernat.agent.Dialler.refusal(Dialler.java:59)\n"
    )
    ended = (
        "[main] ERROR org.apache.kafka.tools.consumer.ConsoleConsumer - Error processing message, terminating consumer "
        "process: \norg.apache.kafka.common.errors.TimeoutException\n"
    )
    found = explain_log(io.StringIO("".join(event.format(node) for node in (2, 3, 2, 3)) + ended))
    assert [each.match.known.key for each in found.shown] == [
        "brokernat-refused",
        "brokernat-refused",
        "tool-console-end",
    ]


def test_a_wrapper_of_several_events_that_are_explained_is_not_shown() -> None:
    tolerance = "org.apache.kafka.connect.errors.ConnectException: Tolerance exceeded in error handler\n"
    reason = (
        "Caused by: org.apache.kafka.common.errors.SerializationException: Error deserializing Avro message for id 7\n"
    )
    log = [f"{_KILLED}\n", tolerance, reason] * 2
    assert [each.match.known.tells.name for each in explain_log(log).shown] == ["FAULT", "WRAPPER"]


def test_a_line_that_refers_to_an_explained_exception_names_its_kind() -> None:
    below = "Caused by: org.apache.kafka.streams.errors.LockException: task directory [/tmp/0_1] is locked"
    explained, lock = explain_log(f"{line}\n" for line in (_REBALANCE, below)).shown
    assert explained.means.endswith(f"The line below it contains the reason: {lock.match.known.title}.")
    assert explained.do.startswith("do what the explanation of that line says; restart")


def test_how_the_registry_failed_explains_the_stack_above_it() -> None:
    stack = (
        _KILLED,
        "Caused by: org.apache.kafka.connect.errors.DataException: Failed to deserialize data for topic a to Avro: ",
        "Caused by: org.apache.kafka.common.errors.SerializationException: Error deserializing Avro message for id 7",
        "Caused by: java.net.ConnectException: Connection refused (Connection refused)",
    )
    explained, *others = explain_log(f"{line}\n" for line in stack).shown
    assert "connection to Schema Registry was refused" in explained.means
    assert all(each.settled for each in others)


def test_the_exception_within_a_line_is_its_cause() -> None:
    line = (
        "org.springframework.kafka.listener.ListenerExecutionFailedException: Listener method 'x' threw exception; "
        "nested exception is java.lang.ClassCastException: class A cannot be cast to class B"
    )
    (explained,) = explain_log([f"{line}\n"]).explained
    assert explained.cause == "java.lang.ClassCastException: class A cannot be cast to class B"


@pytest.mark.parametrize(
    ("error", "frame"),
    [
        (
            "NoMethodError: undefined method `join' for 3:Integer",
            "  from racecar (2.2.0) lib/racecar/runner.rb:9:in `run'",
        ),
        ("panic: kafka: it broke", "github.com/IBM/sarama.(*consumerGroup).handleError(0x1, 0x2)"),
        (
            "{{:badmatch, []},",
            " [{:brod_consumer, :handle_fetch_response, 2, [file: 'src/brod_consumer.erl', line: 3]}",
        ),
        ("java.lang.IllegalStateException: it broke", "\tat org.apache.kafka.clients.Metadata.update(Metadata.java:3)"),
        ("RangeError: Invalid time value", "    at Object.f (/app/node_modules/kafkajs/src/consumer/runner.js:3:9)"),
    ],
)
def test_a_stack_of_a_kafka_library_shows_the_error_above_its_frames(error: str, frame: str) -> None:
    (explained,) = explain_log([f"{error}\n", f"{frame}\n"]).explained
    assert (explained.match.known.key, explained.cause) == ("library-failed", error)
    refused = "ERROR Bootstrap broker kafka-1:9092 (id: -1 rack: null) disconnected"
    assert len(explain_log([f"{error}\n", f"{frame}\n", f"{refused}\n"]).explained) == 1


def test_the_last_line_of_a_python_traceback_is_its_cause() -> None:
    frame = '  File "/venv/lib/python3.12/site-packages/confluent_kafka/avro/__init__.py", line 7, in register'
    (explained,) = explain_log([f"{frame}\n", "AttributeError: 'str' object has no attribute 'to_json'\n"]).explained
    assert explained.cause == "AttributeError: 'str' object has no attribute 'to_json'"


def test_what_healthy_programs_print_is_told_where_it_says_more() -> None:
    calm = "INFO [QuorumController id=0] In the new epoch 4538, the leader is (none). (org.apache.kafka.controller.X)"
    wrapper = "ERROR WorkerSinkTask{id=orders-0} Task threw an uncaught and unrecoverable exception"
    fault = "ConfigException: No resolvable bootstrap urls given in bootstrap.servers"
    for other, told in ((wrapper, True), (fault, False)):
        keys = {each.match.known.key for each in explain_log([f"{calm}\n", f"{other}\n"]).explained}
        assert ("broker-no-controller-leader" in keys) == told


def test_marks_of_a_web_page_do_not_hide_a_line() -> None:
    dead = "Connection to node -1 could not be established. Broker may not be available."
    for pasted in (f"**{dead}**", f"> {dead}", f"`{dead}`", dead.replace("-1", "`-1`"), dead.replace("node", "_node_")):
        assert [each.match.known.key for each in explain_log([f"{pasted}\n"]).explained] == ["java-no-connection"]
    start = "> ERROR Fatal error during KafkaServer startup. Prepare to shutdown (kafka.server.KafkaServer)\n"
    quoted = explain_log([start, "> java.lang.IllegalStateException: it broke\n"])
    assert [each.cause for each in quoted.explained] == ["java.lang.IllegalStateException: it broke"]


def test_a_fault_that_is_the_whole_reason_settles_the_lines_above_it() -> None:
    worker = "ERROR Uncaught exception in herder work thread, exiting:  (org.apache.kafka.connect.Herder)\n"
    setting = "org.apache.kafka.common.config.ConfigException: Invalid value foo for configuration acks: x\n"
    fault, effect = explain_log([worker, setting]).explained
    assert (fault.settled, effect.settled) == ("", fault.match.known.title)
    assert fault.match.known.title in effect.means
    assert (effect.codes, effect.run) == ((), "")
    # The same line without that fault may have another reason.
    fault, effect = explain_log([worker, setting, worker, "INFO all is well\n"]).explained
    assert effect.settled == ""
    assert effect.codes == effect.match.codes


ELASTIC = (
    "[{}] WARN Bulk request 5 failed. Retrying request. (io.confluent.connect.elasticsearch.ElasticsearchClient:335)\n"
)
REGISTRY = "org.apache.kafka.common.errors.SerializationException: Error serializing Avro message\n"


@pytest.mark.parametrize(
    ("log", "text"),
    [
        ([REGISTRY, "Caused by: java.net.ConnectException: Connection refused\n"], "Schema Registry was refused"),
        ([REGISTRY, "Caused by: java.net.UnknownHostException: registry\n"], "of Schema Registry does not resolve"),
        ([REGISTRY, "\tat x\n", "Caused by: java.net.SocketTimeoutException: connect timed out\n"], "in time"),
        ([REGISTRY, "Caused by: java.net.NoRouteToHostException: No route to host\n"], "no route to Schema Registry"),
        ([ELASTIC.format("2021-10-12 12:02:30,727"), "java.net.ConnectException: Connection refused\n"], "was refused"),
        (
            [
                "[error] client orders failed to connect to kafka-1:9092\n",
                "reason:[{{:kafka, 9092}, {:econnrefused, []}}]\n",
            ],
            "the broker at kafka-1:9092 was refused",
        ),
        (["{ [NoKafkaConnectionError: Error: connect ECONNREFUSED]\n"], "connection to the broker was refused"),
        (["NoKafkaConnectionError [kafka-1:6667]: Error: read ECONNRESET\n"], "the other side or a device on the path"),
        (
            ["WARN Write of 1 records failed, remainingRetries=9\n", "E: Connection to db:1 refused\n"],
            "the database was",
        ),
    ],
)
def test_the_cause_in_the_stack_decides_between_the_reasons_of_a_kind(log: list[str], text: str) -> None:
    (found,) = explain_log(log).explained
    assert text in found.means
    assert found.means != found.match.means
    assert found.do != found.match.do
    assert not {"BN404", "BN403"} & set(found.codes)


def test_a_cause_decides_only_if_all_lines_show_it() -> None:
    first, second = (ELASTIC.format(f"2021-10-12 12:02:3{second},727") for second in (0, 1))
    refused, late = (
        "java.net.ConnectException: Connection refused\n",
        "java.net.SocketTimeoutException: Read timed out\n",
    )
    for log in ([first, refused, second, late], [first, refused, second], [first, second, refused]):
        # A refused connection that is not the cause of all may be explained by itself.
        *_, found = explain_log(log).explained
        assert (found.count, found.means, found.do) == (2, found.match.means, found.match.do)
    (found,) = explain_log([first, refused, refused, second, refused]).explained
    assert "was refused" in found.means
    # The registry answered, and its own connection was refused.
    (found,) = explain_log([REGISTRY, "Caused by: X: Connection refused; error code: 50003\n"]).explained
    assert found.means == found.match.means
    # The line of another event is not its cause.
    (found,) = explain_log([first, f"2021-10-12 12:02:32,000 ERROR x {refused}"]).explained
    assert found.means == found.match.means


STREAMS = (
    "org.apache.kafka.streams.errors.StreamsException: Exception caught in process. taskId=0_0, processor=KSTREAM-1, "
    "topic=orders, partition=0, offset=0, stacktrace=java.lang.RuntimeException: no\n"
)


@pytest.mark.parametrize(
    ("log", "shown_key"),
    [
        # A text of a program, of a logger or of Streams before the exception that it refers to.
        (
            [
                "ERROR c.d.X: Error establishing Kafka producer client!\n",
                "org.apache.kafka.common.KafkaException: Failed to construct kafka producer\n",
            ],
            "java-not-constructed",
        ),
        (
            [
                "ERROR o.a.k.s.processor.internals.TaskManager : stream-thread [x] Failed to process stream "
                "task 0_0:\n",
                STREAMS,
            ],
            "streams-process",
        ),
        (
            [
                "ERROR org.apache.kafka.streams.KafkaStreams : stream-client [x] Encountered the following "
                "exception during processing and sent shutdown request.\n",
                "\n",
                STREAMS,
            ],
            "streams-process",
        ),
        # A tool, and a listener of Spring, before the client's own exception.
        (
            [
                "Error when sending message to topic: 'clicks', with key: '4', and value: '[ 1 ]'\n",
                "org.apache.kafka.common.errors.TimeoutException: Topic clicks not present in metadata after 9 ms.\n",
            ],
            "java-topic-not-in-metadata",
        ),
        # A text of every program beside one of a program with Kafka.
        (
            [
                "ERROR org.springframework.boot.SpringApplication - Application run failed\n",
                "org.springframework.context.ApplicationContextException: Failed to start bean 'x'; nested "
                "exception is org.springframework.cloud.stream.binder.BinderException: Cannot initialize "
                "binder:\n",
            ],
            "logger-binder",
        ),
        # An error by its name above the line of a client in one stack.
        (
            [
                "Caused by: org.apache.kafka.common.errors.SerializationException: Error deserializing Avro "
                "message for id -1\n",
                "Caused by: org.apache.kafka.common.errors.SerializationException: Unknown magic byte!\n",
            ],
            "schema-magic-byte",
        ),
        # librdkafka logs the text of OpenSSL in a line of its own.
        (
            [
                "%3|1505223116.779|SSL|rdkafka#consumer-1| [thrd:app]: pem_lib.c:701: error:0906D06C:PEM "
                "routines:PEM_read_bio:no start line: Expecting: ANY PRIVATE KEY\n",
                "% ERROR: Failed to create producer: ssl.key.location failed: ssl_rsa.c:649: error:140B0009:SSL "
                "routines:SSL_CTX_use_PrivateKey_file:PEM lib:\n",
            ],
            "rdkafka-ca-missing",
        ),
    ],
)
def test_a_line_that_only_refers_to_an_explained_one_has_no_block(log: list[str], shown_key: str) -> None:
    assert [each.match.known.key for each in explain_log(log).shown] == [shown_key]


def test_a_wrapper_with_a_cause_of_its_own_keeps_its_block() -> None:
    log = [
        "ERROR stream-client [x] Encountered the following exception during processing and stops\n",
        "java.lang.IllegalStateException: no\n",
    ]
    assert [each.cause for each in explain_log(log).shown] == ["java.lang.IllegalStateException: no"]


def test_only_a_sink_has_a_dead_letter_queue() -> None:
    error = "org.apache.kafka.connect.errors.ConnectException: Tolerance exceeded in error handler\n"
    at = "\tat org.apache.kafka.connect.runtime.{}.{}(X.java:3)\n"
    operator = at.format("errors.RetryWithToleranceOperator", "execute")
    for task in ("WorkerSourceTask", "AbstractWorkerSourceTask"):
        source = at.format(task, "convertTransformedRecord")
        assert [each.match.known.key for each in explain_log([error, operator, source]).explained] == [
            "connect-tolerance-source"
        ]
        # The frame alone, in the stack of another error.
        assert [each.match.known.key for each in explain_log(["E: no\n", source]).explained] == ["library-failed"]
    sink = at.format("WorkerSinkTask", "convertAndTransformRecord")
    assert [each.match.known.key for each in explain_log([error, operator, sink]).explained] == ["connect-tolerance"]


def test_a_frame_corrects_what_an_exception_seems_to_be() -> None:
    error = "org.apache.kafka.common.protocol.types.SchemaException: Error reading field 'version'\n"
    frame = "\tat org.apache.kafka.common.protocol.types.Schema.read(Schema.java:76)\n"
    assignment = "\tat org.apache.kafka.clients.consumer.internals.ConsumerProtocol.deserializeAssignment(X.java:1)\n"
    found = explain_log([f"ERROR {error}", error, frame, assignment]).explained
    assert [each.match.known.key for each in found] == ["java-member-unreadable"]
    assert [each.match.known.key for each in explain_log([error, frame]).explained] == ["java-class-schema"]


def test_a_text_over_several_lines_is_one_line() -> None:
    folded = ['x: "ConfigException: Class org.apache.kafka.X\\\n', '    \\ could not be found."\n', "after\\\n"]
    found = explain_log(folded)
    assert [each.match.known.key for each in found.explained] == ["java-class-not-found"]
    assert found.lines == 3
    wrapped = ["  message: Class org.apache.kafka.X\n", "    could not be found\n"]
    assert [each.match.known.key for each in explain_log(wrapped).explained] == ["java-class-not-found"]


def test_lines_of_one_kind_that_mean_different_things_are_apart() -> None:
    rejoins = "Group member (shop,coor=#PID<0.9.0>): re-joining group, reason::{}\n"
    found = explain_log(map(rejoins.format, ("rebalance_in_progress", "unknown_member_id", "rebalance_in_progress")))
    assert [(each.match.known.key, each.count) for each in found.explained] == [("brod-rejoin", 2), ("brod-rejoin", 1)]
    assert len({each.means for each in found.explained}) == 2
    # Two explanations of one text are one.
    late = "%4|1616160592.294|FAIL|rdkafka#producer-1| [thrd:b]: b:9095/1: {}\n"
    texts = ("1 request(s) timed out: disconnect (after 62549ms in state UP)", "Timed out 1 in-flight, 0 retry-queued")
    assert [each.count for each in explain_log(map(late.format, texts)).explained] == [2]
    # So are an exception and its cause.
    error = "org.apache.kafka.common.errors.SerializationException: Error deserializing JSON message from topic: t\n"
    cause = "Caused by: java.lang.IllegalArgumentException: Can't coerce string to type. targetType: BIGINT\n"
    assert [each.match.known.key for each in explain_log([error, cause]).explained] == ["ksqldb-record"]


def test_no_line_is_called_harmless_beside_a_failure_that_is_not_known() -> None:
    step = "INFO Kafka version: 3.9.0 (org.apache.kafka.common.utils.AppInfoParser)\n"
    assert [each.match.known.key for each in explain_log([step]).explained] == ["kafka-steps"]
    for trouble in ("giving up after 10 attempts\n", "the job failed\n", "exit status 1\n"):
        assert explain_log([step, trouble]).explained == ()
        assert explain_log(["12:00:00 [info] the kafka input has started\n", trouble]).explained == ()
    assert explain_log([step, "kafka DEBUG the fetch returned (error=NONE, errors: null)\n"]).explained


def test_a_wrapper_in_a_wrapper_does_not_guess_beside_a_reason() -> None:
    reason = "WARN Couldn't resolve server kafka:9092 from bootstrap.servers as DNS resolution failed for kafka\n"
    start = "ERROR Fatal error during KafkaServer startup. Prepare to shutdown (kafka.server.KafkaServer)\n"
    inner = "org.apache.kafka.common.KafkaException: Failed to construct kafka producer\n"
    keys = [each.match.known.key for each in explain_log([reason, start, inner]).explained]
    assert keys == ["java-bootstrap-unresolved", "broker-start-failed"]
    assert "java-not-constructed" in [each.match.known.key for each in explain_log([start, inner]).explained]


def test_a_text_of_every_program_counts_beside_kafka_alone() -> None:
    missing = "java.lang.NoClassDefFoundError: org/apache/avro/Schema\n"
    assert explain_log([missing]).explained == ()
    frame = "\tat io.confluent.kafka.serializers.KafkaAvroSerializer.serialize(KafkaAvroSerializer.java:66)\n"
    found = explain_log([missing, frame]).explained
    assert [each.match.known.key for each in found] == ["class-of-library-missing"]


def test_a_logger_of_spring_shows_kafka() -> None:
    line = "ERROR 1 --- [main] o.s.k.support.Sender : javax.net.ssl.SSLHandshakeException: PKIX path building failed\n"
    assert explain_log([line]).explained != ()
    assert explain_log([line.replace("o.s.k.", "o.s.w.")] * 31).explained == ()


def test_an_endpoint_that_the_line_does_not_name_is_not_quoted() -> None:
    (found,) = explain_log(
        ["WARN Connection to node -1 could not be established. Broker may not be available.\n"]
    ).explained
    assert found.means == "The bootstrap server does not accept connections from here."
    assert "does not name" not in found.do
    assert "compare the configured address with" in found.do
    (other,) = explain_log(
        ["WARN Connection to node 7 could not be established. Broker may not be available.\n"]
    ).explained
    assert other.means.startswith("Node 7 advertises an endpoint that the line does not name, ")


def test_lines_that_differ_in_the_endpoint_have_one_block() -> None:
    report = explain_log([line(1, 1), line(2, 2), line(3, 3), line(4, 3), "kafka: no broker\n"])
    text = log_text(report, 100)
    assert text.count("Java client: no connection to a node") == 1
    assert "also   10.0.0.1:9092 (node 1), 10.0.0.2:9092 (node 2)\n" in text
    assert [each for each in text.splitlines() if "rule   " in each] == [
        f"  rule   10.0.0.{node}:9092 = HOST:PORT" for node in (3, 1, 2)
    ]
    # A broker on the client's own machine is another matter.
    loopback = line(1, 4).replace("10.0.0.4", "127.0.0.1")
    assert log_text(explain_log([line(1, 1), loopback]), 100).count("no connection to a node") == 2


def test_a_list_of_seed_brokers_in_one_text_is_several_lines() -> None:
    inspected = (
        'error_class=Kafka::ConnectionError error="Could not connect to any of the seed brokers:'
        '\\n- kafka://127.0.0.1:9092: Connection refused - connect(2) for 127.0.0.1:9092"\n'
    )
    assert [each.match.known.key for each in explain_log([inspected]).explained] == ["ruby-seed", "ruby-no-seed"]


@pytest.mark.parametrize(
    ("text", "healthy_before"),
    [
        ("b:9092/bootstrap: 1 request(s) timed out: disconnect (after 62549ms in state UP)", True),
        ("b:9092/bootstrap: 1 request(s) timed out: disconnect (after 10002ms in state APIVERSION_QUERY)", False),
        ("b:9092/bootstrap: Timed out MetadataRequest in flight (after 59267ms, timeout #0)", True),
        ("b:9092/bootstrap: Timed out ApiVersionRequest in flight (after 10000ms, timeout #0)", False),
        ("b:9095/0: Timed out 1 in-flight, 0 retry-queued, 0 out-queue, 0 partially-sent requests", True),
    ],
)
def test_a_connection_that_worked_has_the_right_protocol(text: str, healthy_before: bool) -> None:
    (found,) = explain_log([f"%4|1616160592.294|FAIL|rdkafka#producer-1| [thrd:b]: {text}\n"]).explained
    assert ("had been ready" in found.means) is healthy_before
    assert ("security.protocol" in found.do) is not healthy_before


@pytest.mark.parametrize(("status", "of"), [(404, "has nothing at"), (401, "client id or secret"), (503, "overloaded")])
def test_the_status_decides_what_the_authorization_server_means(status: int, of: str) -> None:
    error = f"HttpException: POST request to http://sso/token failed with status {status}: x"
    (found,) = explain_log([f"io.strimzi.kafka.oauth.common.{error}\n"]).explained
    assert of in found.means


def test_an_exception_of_code_names_the_first_frame_that_is_not_the_languages() -> None:
    def means(*lines: str) -> str:
        return explain_log(f"{line}\n" for line in lines).explained[0].means

    java = means(
        'java.lang.NumberFormatException: For input string: "n/a"',
        "\tat java.base/java.lang.Long.parseLong(Long.java:711)",
        "\tat com.acme.Price.parse(Price.java:12)",
        "\tat org.apache.kafka.streams.kstream.internals.KStreamMap.process(KStreamMap.java:41)",
    )
    assert '"n/a" is not a number.' in java
    assert "`Price.parse` (Price.java:12), code of the program or plug-in itself" in java
    library = means(
        "java.lang.NullPointerException",
        "\tat org.springframework.kafka.support.serializer.JsonSerializer.serialize(JsonSerializer.java:134)",
        "\tat org.apache.kafka.clients.producer.KafkaProducer.doSend(KafkaProducer.java:783)",
        "\tat com.acme.Sender.send(Sender.java:9)",
    )
    assert "`JsonSerializer.serialize` (JsonSerializer.java:134), code of spring-kafka" in library
    assert "The record was not sent" in library
    assert "own code is `Sender.send` (Sender.java:9)" in library
    scala = means(
        "java.lang.ArrayIndexOutOfBoundsException: 94",
        "\tat com.acme.Job$$anonfun$fill$1.apply(Job.scala:53)",
        "\tat org.apache.kafka.streams.KafkaStreams.run(KafkaStreams.java:1)",
    )
    assert "index 94" in scala
    assert "`Job.fill` (Job.scala:53)" in scala
    go = means(
        "panic: runtime error: index out of range [5] with length 3",
        "goroutine 44 [running]:",
        "\t/usr/local/go/src/runtime/panic.go:884 +0x212",
        "github.com/segmentio/kafka-go/protocol.(*decoder).readBytes(...)",
        "\t/go/pkg/mod/github.com/segmentio/kafka-go@v0.4.2/protocol/decode.go:300",
    )
    assert "decode.go:300, code of the library `github.com/segmentio/kafka-go`" in go
    without_modules = means(
        "panic: assignment to entry in nil map",
        "github.com/Shopify/sarama.(*client).registerBroker(0xc2094c2180)",
        "\t/home/app/go/src/github.com/Shopify/sarama/client.go:367 +0xac",
    )
    assert "client.go:367, code of the library `github.com/Shopify/sarama`" in without_modules


def test_a_line_of_an_exception_that_was_broken_names_its_frame_too() -> None:
    report = explain_log(
        [
            'java.lang.NullPointerException: Cannot invoke "String.getBytes()" because "org.json.JSONObject.\n',
            'toString()" is null\n',
            "        at com.acme.OrderSerializer.serialize(OrderSerializer.java:68)\n",
            "        at org.apache.kafka.clients.producer.KafkaProducer.doSend(KafkaProducer.java:945)\n",
        ]
    )
    assert "`OrderSerializer.serialize`" in report.explained[0].means


@pytest.mark.parametrize(
    ("lines", "brokers"),
    [
        (["ERROR [KafkaApi-1] error (kafka.server.KafkaApis)", "java.lang.NullPointerException",
          "\tat kafka.server.KafkaApis.handle(KafkaApis.scala:68)"], True),
        (["[2018-04-24 00:20:21,253] ERROR Processor got uncaught exception. (kafka.network.Processor)",
          "java.lang.NullPointerException",
          "\tat org.apache.kafka.common.requests.RequestHeader.parse(RequestHeader.java:68)"], True),
        # The line of the exception is broken, as a terminal breaks it.
        (['java.lang.NullPointerException: Cannot invoke "String.getBytes()" because "org.json.JSONObject.',
          'toString()" is null', "\tat kafka.server.KafkaApis.handle(KafkaApis.scala:68)"], True),
        (["java.lang.NullPointerException",
          "\tat org.apache.kafka.clients.NetworkClient.poll(NetworkClient.java:68)"], False),
    ],
)  # fmt: skip
def test_no_broker_reports_the_exception_of_a_client_alone(lines: list[str], brokers: bool) -> None:
    found = explain_log(f"{line}\n" for line in lines).explained
    means = " ".join(each.means for each in found if each.match.known.key == "jvm-exception")
    assert "NullPointerException" in " ".join(each.line for each in found)
    assert ("No broker reported this" not in means) is brokers


def test_a_sum_means_what_the_lines_before_it_mean_for_the_same_broker() -> None:
    line = "%4|1684400210.456|REQTMOUT|rdkafka#consumer-1| [thrd:{0}:9093/2]: {0}:9093/2: {1}\n"
    first, all_of_them = "Timed out ApiVersionRequest in flight (after 10107ms, timeout #0)", "Timed out 1 in-flight"
    same = explain_log([line.format("a", first), line.format("a", all_of_them)]).explained
    assert [each.count for each in same] == [2]
    other = explain_log([line.format("a", first), line.format("b", all_of_them)]).explained
    assert [("had been ready" in each.means, each.count) for each in other] == [(False, 1), (True, 1)]


def test_an_error_of_everybodys_is_kafkas_beside_one_of_kafkas_own() -> None:
    assert explain_log(["[Errno 111]: Connection refused\n"]).explained == ()
    (found,) = explain_log(["Unable connect to node with id x: [Errno 111]: Connection refused\n"]).explained
    assert found.match.known.key == "net-refused"


@pytest.mark.parametrize(
    ("reason", "key"),
    [
        ("org.apache.zookeeper.KeeperException$NoAuthException: KeeperErrorCo", "zookeeper-no-auth"),
        ("java.net.UnknownHostException: zookeeper", "java-unknown-host"),
        ("com.acme.KeyVaultException: the vault is sealed", "broker-start-failed"),
    ],
)
def test_an_exception_in_the_line_of_a_broker_that_does_not_start_is_its_reason(reason: str, key: str) -> None:
    line = f"Fatal error during KafkaServer startup. Prepare to shutdown (kafka.server.KafkaServer) {reason}\n"
    (found,) = explain_log([line]).explained
    assert found.match.known.key == key
    assert "does not contain the reason" not in found.means


@pytest.mark.parametrize(
    ("above", "key"),
    [
        ("SerializationException: Error deserializing Avro message for id 5", "record-ends-early"),
        ("com.fasterxml.jackson.databind.JsonMappingException: no content", "record-ends-early"),
        ("java.io.IOException: Connection to kafka-1:9092 was lost", "net-ended"),
    ],
)
def test_an_end_of_data_under_a_parser_is_no_lost_connection(above: str, key: str) -> None:
    lines = ["ERROR a record failed (org.apache.kafka.connect.runtime.Task)", above, "Caused by: java.io.EOFException"]
    assert key in [each.match.known.key for each in explain_log(f"{line}\n" for line in lines).explained]


def test_two_lines_that_refer_to_each_other_leave_one() -> None:
    """The first one's reason is the exception below it, and what that exception is, is said by the first."""
    lines = [
        "[2019-05-15 22:03:20,645] ERROR Stopping due to error (org.apache.kafka.connect.mirror.MirrorMaker:238)\n",
        "java.lang.NullPointerException\n",
        "\tat org.apache.kafka.connect.mirror.MirrorMaker.main(MirrorMaker.java:72)\n",
    ]
    found = explain_log(lines)
    assert len(found.explained) == 2
    assert len(found.shown) == 1


def test_what_is_a_reason_only_below_a_line_of_its_own_is_none_elsewhere() -> None:
    reader = "WARN org.apache.beam.sdk.io.kafka.KafkaUnboundedReader [] - Reader-0: Unexpected\n"
    text = log_text(explain_log([reader, "java.lang.InterruptedException: null\n"]), 80)
    assert "controller" not in text
