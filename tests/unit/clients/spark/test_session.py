"""What a session refuses before anything is asked of it."""

from typing import cast

import pytest
from pyspark.sql import SparkSession

from brokernat.clients.spark import prove
from brokernat.clients.spark.session import ClassicSession
from brokernat.errors import ConfigError


class RemoteSession:
    """Known by its module alone: importing the real one needs grpc."""


RemoteSession.__module__ = "pyspark.sql.connect.session"


def test_a_connect_session_is_refused_in_words() -> None:
    remote = cast(SparkSession, RemoteSession())
    with pytest.raises(ConfigError, match=r"Spark Connect .*can neither configure nor check") as caught:
        ClassicSession(remote)
    assert "classic session" in (caught.value.hint or "")
    with pytest.raises(ConfigError, match="Spark Connect"):
        prove(remote, [])
