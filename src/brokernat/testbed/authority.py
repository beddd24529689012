"""An authority of the testbed's own, which clients trust, and certificates that it signs.

Each key gets two: one whose time is over, in its store, and its renewal in `<store>-renewed.p12`, so that a test can
heal a broker on the same listener. `<store>.crt` beside each is the chain that is in it.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from brokernat.testbed.keytool import run_all, store
from brokernat.testbed.listeners import Certificate

AUTHORITY = "authority"
RENEWED = "-renewed"
_TIMES = {"": ("-startdate", "-30d", "-validity", "10"), RENEWED: ("-validity", "30")}


def is_signed(certificate: Certificate) -> bool:
    """Whether the authority signs it."""
    return certificate is Certificate.EXPIRED


def sign_all(names: Mapping[str, Sequence[str]], folder: Path, keytool: Path) -> None:
    """Have the certificates of these stores signed.

    Args:
        names: keytool's arguments for what the certificate names, by store.
        folder: where the stores are, and that of the authority.
        keytool: the program.

    Raises:
        WorldError: keytool failed; with what it said.
    """
    if not names:
        return
    signing = store(folder / f"{AUTHORITY}.p12")
    run_all(
        [
            [str(keytool), "-certreq", "-alias", "broker", *store(folder / f"{name}.p12"),
             "-file", str(folder / f"{name}.csr")]
            for name in names
        ]
    )  # fmt: skip
    run_all(
        [
            [str(keytool), "-gencert", "-rfc", "-alias", "broker", *signing, *named, *times,
             "-infile", str(folder / f"{name}.csr"), "-outfile", str(folder / f"{name}{which}.crt")]
            for name, named in names.items()
            for which, times in _TIMES.items()
        ]
    )  # fmt: skip
    own = (folder / f"{AUTHORITY}.pem").read_text()
    for name in names:
        shutil.copyfile(folder / f"{name}.p12", folder / f"{name}{RENEWED}.p12")
        for which in _TIMES:
            with (folder / f"{name}{which}.crt").open("a") as chain:
                chain.write(own)
    run_all(
        [
            [str(keytool), "-importcert", "-noprompt", "-alias", "broker", *store(folder / f"{name}{which}.p12"),
             "-file", str(folder / f"{name}{which}.crt")]
            for name in names
            for which in _TIMES
        ]
    )  # fmt: skip
