"""The `agentlab` command: its frame. Each command lives in a module of its own, with ``register(app)``.

Bad input costs one line on stderr and exit status 2. A command's module imports what is heavy
inside its functions, so that ``agentlab --help`` answers at once.
"""

import io
import os
import sys
from contextlib import suppress

try:
    import shutil
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Annotated

    import typer

    import agentlab
    from agentlab.cli import approvals, doctor, lab, learn, messages, run, size, sweep, tokens
    from agentlab.cli import call as call_command
    from agentlab.cli.output import print_line, printable
    from agentlab.errors import AgentlabError
except KeyboardInterrupt:  # loading them takes long enough for a Ctrl-C, and nobody above could catch it
    sys.stderr.write("agentlab: stopped\n")
    sys.exit(130)

COMMANDS: tuple[ModuleType, ...] = (
    doctor,
    lab,
    learn,
    size,
    sweep,
    tokens,
    messages,
    run,
    call_command,
    approvals,
)
"""In the order in which ``agentlab --help`` shows them."""

BAD_INPUT = 2
INTERRUPTED = 130  # 128 + SIGINT, what a shell reports for Ctrl-C
PIPE_CLOSED = 141  # 128 + SIGPIPE, what a shell reports for a writer whose reader went away

# typer exports BadParameter only; older releases take it from click, newer ones from a copy of
# their own. Its second base class is what every mistake in the arguments is (ClickException).
_PARSER_ERROR: type[Exception] = typer.BadParameter.__mro__[2]


def build_app() -> typer.Typer:
    """The typer application with every command on it."""
    app = typer.Typer(
        name="agentlab",
        help="Look under the hood of an AI agent: run it, break it, measure it, govern it.",
        add_completion=False,
        context_settings={"help_option_names": ["--help", "-h"]},  # the commands take it over
        rich_markup_mode=None,  # plain help: it fits 40 columns, any encoding, and loads nothing
        pretty_exceptions_enable=False,
    )
    app.callback()(_options)
    for command in COMMANDS:
        command.register(app)
    return app


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and leave the process with its exit status."""
    sys.exit(call(sys.argv[1:] if arguments is None else arguments))


def call(arguments: Sequence[str]) -> int:
    """Run the command with `arguments` and return its exit status: 0, 1 (a check failed), 2 (bad input), 130 or 141.

    A command may have further ones; its own module says which."""
    _prepare_streams()
    try:
        command = typer.main.get_command(build_app())
        columns = shutil.get_terminal_size().columns
        with command.make_context(
            "agentlab", list(arguments) or ["--help"], terminal_width=min(columns, 100)
        ) as context:
            command.invoke(context)
        status = 0
    except typer.Exit as exit_request:
        status = exit_request.exit_code
    except AgentlabError as error:
        status = _refuse(str(error))
    except _PARSER_ERROR as error:
        status = _refuse(_usage_line(error, arguments))
    except (KeyboardInterrupt, typer.Abort):
        print_line("agentlab: stopped", err=True)
        status = INTERRUPTED
    except BrokenPipeError:
        return _drop_output(PIPE_CLOSED)
    except OSError as error:
        status = _refuse(_system_line(error))
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return _drop_output(PIPE_CLOSED)
    except OSError as error:
        # Said once: the same full disk may have been met above.
        return _drop_output(status if status == BAD_INPUT else _refuse(_system_line(error)))
    return status


def _print_version(wanted: bool) -> None:
    if wanted:
        print_line(f"agentlab {agentlab.__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Nothing to do: the options of `agentlab` itself act in their callbacks."""


def _refuse(message: str) -> int:
    with suppress(OSError):  # where stderr takes nothing either, the status still tells
        print_line("agentlab: " + printable(message), err=True)
    return BAD_INPUT


def _system_line(error: OSError) -> str:
    """What the operating system refused, for what no command foresaw: the last net, never the first."""
    what = "the output or the current folder" if error.filename is None else str(error.filename)
    return f"{what} cannot be used: {error.strerror or error}; give another one"


def _usage_line(error: Exception, arguments: Sequence[str]) -> str:
    """The parser's message, and the help page of the command that it is about."""
    message: str = getattr(error, "format_message", error.__str__)()
    context = getattr(error, "ctx", None)
    if context is not None:
        page = context.command_path
    else:  # the parser does not always say where it was
        names = [command.__name__.rpartition(".")[2] for command in COMMANDS]
        page = " ".join(["agentlab", *[first for first in arguments[:1] if first in names]])
    return f"{message.rstrip('. ')}; see {page} --help"


def _prepare_streams() -> None:
    # A stream that was closed before the start (>&-) is None.
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
    # A terminal that knows only ASCII gets a ? for a character it lacks, not a UnicodeEncodeError.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _drop_output(status: int) -> int:
    # Python flushes stdout once more on its way out; without this it would complain there.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status
