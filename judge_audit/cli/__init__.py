"""The command line: `judge-audit`.

Nothing heavy is imported before a command needs it, so that `--help` is quick.
"""

from __future__ import annotations

import os
import sys
import traceback

from judge_audit.core.errors import EXIT_GOOD, EXIT_MACHINERY, EXIT_USAGE, AuditError

EXIT_INTERRUPTED = 130
TRACEBACK = "--traceback"


def main() -> None:
    """Run the command line and end the process with its exit code."""
    sys.exit(run_command(sys.argv[1:]))


def run_command(arguments: list[str]) -> int:
    """Run one command.

    Args:
        arguments: What stands after `judge-audit`; `--traceback` may stand anywhere in it.

    Returns:
        0 good, 1 the judge failed what was asked, 2 wrong use or bad input, 3 the machinery failed, 130
        interrupted.
    """
    wordy = TRACEBACK in arguments
    words = [word for word in arguments if word != TRACEBACK]
    try:
        code = _run(words)
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_GOOD
    except AuditError as error:
        if wordy:
            traceback.print_exc()
        _say(str(error))
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - the last resort before the user's terminal
        if wordy:
            traceback.print_exc()
        hint = "" if wordy else f" Run it again with {TRACEBACK} to see where."
        _say(f"unexpected {type(error).__name__}: {error}.{hint} Nothing committed is lost.")
        return EXIT_MACHINERY
    if code == EXIT_INTERRUPTED:  # some versions of the parser return it, some raise
        _say("interrupted. Nothing committed is lost: the same command goes on from there.")
    return code


def _run(words: list[str]) -> int:
    """Answer a plain question at once; else build the tree of commands and run one."""
    from judge_audit.cli.questions import answer, question_in

    if (asked := question_in(words)) is not None:
        sys.stdout.write(answer(asked))
        return EXIT_GOOD
    from judge_audit.cli.app import Interrupted, WrongUse, build

    try:
        return build()(words)
    except WrongUse as error:
        error.show()
        return EXIT_USAGE
    except Interrupted:
        return EXIT_INTERRUPTED


def _say(text: str) -> None:
    """Write to the terminal's error stream."""
    print(f"judge-audit: {text}", file=sys.stderr)  # noqa: T201 - the command line speaks
