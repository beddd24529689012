"""The Java programs of the matrix, compiled once for this folder."""

import pytest
from tests.matrix.programs import Programs


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return Programs.compile(tmp_path_factory.mktemp("programs"))
