"""What the probes do when they are imported."""

import subprocess
import sys
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[4] / "src"


def test_an_import_leaves_nothing_in_the_folder(tmp_path: Path) -> None:
    using_kio = [file for file in SOURCES.rglob("doctor/**/*.py") if "kio" in file.read_text("utf-8")]
    names = [".".join(file.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__") for file in using_kio]
    assert "brokernat.doctor.probes.sasl" in names
    program = f"import hypothesis, {', '.join(names)}; from hypothesis import strategies"
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, timeout=60)
    assert list(tmp_path.iterdir()) == []
