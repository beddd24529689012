"""As much of Kafka's protocol as the testbed needs to serve itself, over plain connections.

Not a client for anybody's work: no groups, no transactions, no retries of a record. It is here because each start of
Kafka's own tools costs two seconds, and because a test that writes and reads through other code than the code under
test proves more.
"""

from brokernat.testbed.kafka.operations import Operations, Topic
from brokernat.testbed.kafka.records import Record

__all__ = ["Operations", "Record", "Topic"]
