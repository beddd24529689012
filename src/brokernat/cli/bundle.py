"""`brokernat bundle`: collects, verifies and installs the files for a network without registries."""

from __future__ import annotations

from pathlib import Path

import click

from brokernat.cli import console
from brokernat.cli.options import PATH, format_option
from brokernat.text import counted


@click.command()
@click.argument("folder", metavar="DIR", type=PATH)
@click.option("--extra", "extras", multiple=True, metavar="NAME", help="Include this extra; default: all that are "
              "installed here. Repeatable.")  # fmt: skip
@click.option("--verify", "only_verify", is_flag=True, help="Compare the files of DIR with its SHA256SUMS.")
@click.option("--install", "into_cache", is_flag=True, help="Verify DIR, then put its jars into this user's cache.")
@format_option
def bundle(folder: Path, extras: tuple[str, ...], only_verify: bool, into_cache: bool, output: str) -> None:
    """Collect wheels, jars and the agent in DIR, with their SHA-256, for a network without registries.

    \b
    There:
        pip install --no-index --find-links DIR/wheels 'brokernat[...]'
        brokernat bundle --install DIR
    """
    if only_verify and into_cache:
        raise click.UsageError("`--verify` cannot be combined with `--install`, which verifies first")
    if extras and (only_verify or into_cache):
        raise click.UsageError("`--extra` cannot be combined with `--verify` or `--install`")
    action = _verify if only_verify else _install if into_cache else _collect
    data, lines = action(folder, extras)
    if output == "json":
        console.json_data({"version": 1, "folder": str(folder), **data})
    else:
        for line in lines:
            console.data(line)


def _collect(folder: Path, extras: tuple[str, ...]) -> tuple[dict[str, object], list[str]]:
    from brokernat.bundle import collect

    made = collect(folder, extras or None)
    names = ",".join(made.description.extras)
    wanted = f"'brokernat[{names}]'" if names else "brokernat"
    console.note(f"made for Python {made.description.python} on {made.description.platform}; install it there with:")
    console.note(f"    pip install --no-index --find-links {folder}/wheels {wanted}")
    console.note(f"    brokernat bundle --install {folder}")
    return {"extras": list(made.description.extras), "files": made.files}, list(made.files)


def _verify(folder: Path, _: tuple[str, ...]) -> tuple[dict[str, object], list[str]]:
    from brokernat.bundle import verify

    files = verify(folder)
    return {"files": files}, [f"{counted(len(files), 'file matches', 'files match')} SHA256SUMS"]


def _install(folder: Path, _: tuple[str, ...]) -> tuple[dict[str, object], list[str]]:
    from brokernat.bundle import install

    done = install(folder)
    return {"cache": str(done.cache), "artifacts": list(done.artifacts)}, [
        str(done.cache / name) for name in done.artifacts
    ]
