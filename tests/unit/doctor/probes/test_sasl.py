"""SCRAM against the example of RFC 7677."""

import pytest

from brokernat.doctor.probes.channel import ChannelError
from brokernat.doctor.probes.sasl import scram_last

FIRST = "n=user,r=rOprNGfwEbeRWgbNEkqO"
SERVER = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"


def test_the_example_of_the_rfc() -> None:
    last, signature = scram_last("sha256", "pencil", FIRST, SERVER)
    assert last.endswith(b",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
    assert signature == "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


@pytest.mark.parametrize("server", ["", "r=other,s=AA==,i=4096", SERVER.replace("i=4096", "i=99999999"), "r=x,s=?,i=y"])
def test_a_hostile_server_costs_nothing(server: str) -> None:
    with pytest.raises(ChannelError):
        scram_last("sha256", "pencil", FIRST, server)
