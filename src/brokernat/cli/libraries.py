"""The libraries for a program that a user configures: `brokernat agent`, `plugin` and `spark-packages`; and all files
for a network without registries: `bundle`.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from brokernat.cli import console
from brokernat.cli.options import PATH, format_option
from brokernat.paths import replacing, writing
from brokernat.text import counted


@click.command()
@click.option("--path", "show_path", is_flag=True, help="Print the jar's path (the default).")
@click.option("--copy-to", metavar="DIR", type=PATH, help="Copy the jar into a folder.")
@format_option
def agent(show_path: bool, copy_to: Path | None, output: str) -> None:
    """Print the path of the Java agent, or copy it.

    For example: java -javaagent:/opt/brokernat/brokernat-agent.jar=RULES ...
    """
    from brokernat.jvm import agent_jar

    if show_path and copy_to is not None:
        raise click.UsageError("`--path` cannot be combined with `--copy-to`")
    jar = agent_jar()
    if copy_to is not None:
        jar = copy_into(copy_to, jar)
    if output == "json":
        console.json_data({"version": 1, "path": str(jar)})
    else:
        console.data(str(jar))


@click.command()
@click.option("--path", "show_path", is_flag=True, help="Print the library's path (the default).")
@click.option("--copy-to", metavar="DIR", type=PATH, help="Copy the library into a folder.")
@click.option("--preload", is_flag=True, help="Use the library for LD_PRELOAD instead of the plug-in.")
@format_option
def plugin(show_path: bool, copy_to: Path | None, preload: bool, output: str) -> None:
    """Print the path of the librdkafka plug-in, or copy it.

    For example: kcat -X plugin.library.paths=... -X brokernat.map=RULES ...
    """
    from brokernat.clients import librdkafka

    if show_path and copy_to is not None:
        raise click.UsageError("`--path` cannot be combined with `--copy-to`")
    library = librdkafka.preload_library() if preload else librdkafka.plugin_library()
    if copy_to is not None:
        library = copy_into(copy_to, library)
    if output == "json":
        console.json_data({"version": 1, "path": str(library)})
    else:
        console.data(str(library))


@click.command()
@click.option("--coordinates", is_flag=True, help="Print Maven's coordinates of the connector, for `--packages`.")
@click.option("--class-data", is_flag=True, help="Also write Spark's class data, from which drivers start faster.")
@format_option
def spark_packages(coordinates: bool, class_data: bool, output: str) -> None:
    """Print the jars for `spark-submit --jars`: this PySpark's Kafka connector, the agent, and brokernat's functions.

    The connector has the version and the Scala of the Spark that runs here (SPARK_HOME, else PySpark). It is downloaded
    once, and compared with its SHA-256.
    """
    from brokernat.clients.spark import environment
    from brokernat.clients.spark.connector import connector_jars
    from brokernat.jvm import agent_jar, spark_functions_jar

    release = environment.installed_spark()
    found = connector_jars(release)
    if class_data:
        java = environment.java_of(release)
        archive = environment.class_data(java)
        console.note(f"writing class data of PySpark {release.version} and Java {java.version}; this takes a minute")
        environment.write_class_data(java, archive)
        console.note(f"class data: {archive} ({archive.stat().st_size >> 20} MiB)")
    jars, combination = [str(jar) for jar in found.jars], found.combination
    own = {"agent": str(agent_jar()), "functions": str(spark_functions_jar())}
    if output == "json":
        facts = {"pyspark": release.version, "scala": release.scala, "coordinates": list(combination.coordinates)}
        console.json_data({"version": 1, **facts, "jars": jars, **own})
    elif coordinates:
        console.data(",".join(combination.coordinates))
    else:
        console.data(",".join((*jars, *own.values())))


def copy_into(folder: Path, file: Path) -> Path:
    """Copy atomically, so that a program that starts meanwhile sees the old file or the new one.

    Raises:
        ConfigError: code `file-unwritable`.
    """
    target = folder / file.name
    with writing(target, moved_by="`--copy-to DIR`"):
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(target) as new:
            shutil.copyfile(file, new)
    return target


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
