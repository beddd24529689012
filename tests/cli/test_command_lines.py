"""Every command line that is shown, in a help, in the README, in a guide, is one that the program takes.

Lines are parsed by the program's own commands and not run: names of commands, options and their values are held
against it, files and clusters need not be there.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from brokernat.cli import app
from brokernat.cli.examples import EXAMPLES, examples

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
PLACEHOLDERS = {"…", "..."}
WIDTH = 80


def take(words: list[str], command: click.Command = app.cli, parent: click.Context | None = None) -> None:
    """Parse what would be run.

    Raises:
        click.ClickException: the program does not take it.
    """
    try:
        # Not by the method of `exec`, which has an exit code of its own for a line that it does not take.
        context = click.Command.make_context(command, command.name or "brokernat", words, parent=parent)
    except click.exceptions.Exit:
        # `--help`, `--schema`.
        return
    if isinstance(command, click.Group) and (rest := [*context._protected_args, *context.args]):
        _, below, rest = command.resolve_command(context, rest)
        assert below is not None
        take(rest, below, context)


def command_lines(line: str) -> Iterator[list[str]]:
    """The words after each `brokernat` of a shell's line; placeholders are left out."""
    lexer = shlex.shlex(line.replace("$(", "; "), posix=True, punctuation_chars="|&;<>()")
    lexer.whitespace_split = True
    words: list[str] | None = None
    for word in [*lexer, ";"]:
        if not set(word) - set("|&;<>()"):
            if words is not None:
                yield words
            words = None
        elif words is not None:
            words += () if word in PLACEHOLDERS else (word,)
        elif word.rpartition("/")[2] == "brokernat":
            words = []


def shown(page: Path) -> Iterator[str]:
    """The lines of a page that a reader would paste."""
    text = page.read_text("utf-8")
    for block in re.findall(r"^```\w*\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE):
        for line in block.replace("\\\n", " ").splitlines():
            if re.match(r"\s*(\$ .*\bbrokernat |brokernat [a-z])", line):
                yield line.strip().removeprefix("$ ")


def within_sentences(page: Path) -> Iterator[str]:
    """What stands between single backquotes; it may be cut short."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    yield from re.findall(r"`(brokernat [a-z][^`]*)`", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_program_takes_what_a_page_shows(page: Path) -> None:
    for line in shown(page):
        for words in command_lines(line):
            take(words)
    for line in within_sentences(page):
        for words in command_lines(line):
            try:
                take(words)
            except (click.MissingParameter, click.BadOptionUsage, click.exceptions.NoArgsIsHelpError):
                continue


def test_the_pages_show_as_much_as_is_looked_for() -> None:
    found = [words for page in PAGES for line in shown(page) for words in command_lines(line)]
    assert len(found) > 60
    assert {words[0] for words in found} >= set(app.COMMANDS) - {"init", "demo"}


@pytest.mark.parametrize("line", EXAMPLES.replace("\\\n", " ").splitlines())
def test_the_program_takes_its_own_examples(line: str) -> None:
    for words in command_lines(line):
        take(words)


def commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    for name, below in command.commands.items() if isinstance(command, click.Group) else ():
        yield from commands(below, f"{path} {name}")


def all_commands() -> list[tuple[str, click.Command]]:
    context = click.Context(app.cli)
    top = ((name, app.cli.get_command(context, name)) for name in app.COMMANDS)
    return [found for name, command in top if command for found in commands(command, name)]


@pytest.mark.parametrize(("path", "command"), all_commands(), ids=lambda value: value if isinstance(value, str) else "")
def test_every_help_ends_with_examples_and_fits_a_terminal(path: str, command: click.Command) -> None:
    # With the settings of the whole: click keeps the option for help that a command has first been asked for.
    context = click.Context(command, info_name=f"brokernat {path}", terminal_width=WIDTH, **app.cli.context_settings)
    text = command.get_help(context)
    assert examples(path)
    assert text.rstrip().endswith(examples(path)[-1].splitlines()[-1].strip())
    assert [line for line in text.splitlines() if len(line) > WIDTH] == []
    listed = text.partition("Commands:")[2].partition("Examples:")[0]
    assert "..." not in listed, "a summary is cut short"
