"""Any program as a judge: it is kept running, reads pictures and prompts as JSON Lines, and writes scores so.

A question is `{"id": 3, "image": "/tmp/…/3.png", "prompt": "a cat"}`; an answer is the same `id` with one of
`score` (a number), `scores` (a number per dimension), `text` (read by the parser), `refused` or `error` (why).
The pictures are lossless and are gone once the batch is answered.
"""

from __future__ import annotations

import re
import shutil
import stat
import tempfile
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_audit.core.digests import canonical_json, text_digest
from judge_audit.core.errors import UsageError
from judge_audit.core.vocabulary import State
from judge_audit.judges.cards.card import LARGEST
from judge_audit.judges.cards.card_files import MIB, CardFiles
from judge_audit.judges.cards.prices import Prices, prices_of
from judge_audit.judges.cards.redaction import Secrets, read_key, refuse_key_in, secrets_around
from judge_audit.judges.cards.reply_rules import ReplyRule, rule_of
from judge_audit.judges.chat.chat_requests import png
from judge_audit.judges.pairwise.chat_judges import Comparer, ShownPair, reply_of
from judge_audit.judges.pairwise.preference_parser import VERSION
from judge_audit.judges.protocol import Judge, Reply, Stimulus, Unanswered
from judge_audit.judges.reply_parser import combined, read_reply, short
from judge_audit.judges.runtimes.subprocess_runtime import Command, Program, ProgramFailed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judge_audit.judges.cards.card import Card

KIND = "command"

GIVE_UP_AFTER = 8
"""Pictures that break the program one after another before the rest of a batch is not shown."""

MOST_FILE_BYTES = 65_536 * MIB

LAUNCHER = re.compile(
    r"(python|pypy|node|deno|bun|ruby|perl|php|Rscript|julia|java|lua|bash|sh|zsh|dash|env|uv|uvx|npx|conda|docker|"
    r"podman|apptainer|singularity|srun|ssh|torchrun|accelerate)[\d.]*(?:\.exe)?$"
)
"""Programs that start others: which one it is, and where it lies, says nothing of the judge."""


@dataclass(frozen=True, slots=True)
class CommandJudge:
    """The judge; each thread that asks has a running program of its own.

    Attributes:
        card: Its card.
        command: What is started.
        rule: How texts are read.
        prices: What a picture costs.
    """

    card: Card
    command: Command
    rule: ReplyRule
    prices: Prices
    _hidden: Secrets = field(repr=False)
    _idle: deque[Program] = field(default_factory=deque, repr=False)

    @property
    def currency(self) -> str:
        """What its prices are in."""
        return self.prices.currency

    def most_cost(self, height: int, width: int, prompt: str) -> float:
        """Say what one answer costs: pictures have one price."""
        del height, width, prompt
        return self.prices.cost(0, 0)

    def score(self, stimuli: Sequence[Stimulus]) -> list[Reply]:
        """Have a running program answer; one that ends or hangs is started again, and goes on picture by picture.

        Raises:
            Unanswered: If pictures failed; carries all replies.
            UsageError: If the program cannot be started at all.
        """
        with tempfile.TemporaryDirectory(prefix="judge-audit-") as folder:
            questions = [_question(Path(folder), at, stimulus) for at, stimulus in enumerate(stimuli)]
            replies = self._answers(questions)
        failed = [reply.raw for reply in replies if reply.state == State.FAILED and reply.attempts]
        if failed:
            raise Unanswered(failed[-1], replies)
        return replies

    def _answers(self, questions: Sequence[Mapping[str, Any]]) -> list[Reply]:
        """Ask all at once; once the program has broken, what is left one by one, so that one picture fails alone."""
        replies: list[Reply | None] = [None] * len(questions)
        program, broken, in_a_row = self._take(), False, 0
        try:
            while (
                left := [at for at, reply in enumerate(replies) if reply is None]
            ) and in_a_row < GIVE_UP_AFTER:
                asked = left[:1] if broken else left
                try:
                    program = program or self._started()
                    for place, answer in program.ask([questions[at] for at in asked]):
                        replies[asked[place]] = self._reply(answer)
                        in_a_row = 0
                except ProgramFailed as error:
                    if program is not None:
                        program.kill()
                    if broken or len(asked) == 1:
                        replies[asked[0]] = Reply(
                            state=State.FAILED, raw=short(str(error)), attempts=1 + broken
                        )
                        in_a_row += 1
                    program, broken = None, True
        finally:
            if program is not None:
                self._idle.append(program)
        not_shown = Reply(state=State.FAILED, raw="not shown: the program had stopped answering", attempts=0)
        return [not_shown if reply is None else reply for reply in replies]

    def close(self) -> None:
        """End the programs that have nothing to do."""
        while (program := self._take()) is not None:
            program.close()

    def _take(self) -> Program | None:
        """Take a program that runs and has nothing to do, if there is one: each worker borrows one."""
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def _started(self) -> Program:
        """Start a program.

        Raises:
            UsageError: If it does not start or does not answer the greeting.
        """
        try:
            return Program(self.command, self._hidden)
        except ProgramFailed as error:
            raise UsageError(
                f"judge “{self.card.name}”, field command: the program does not answer: {error} It is greeted with "
                f'{{"id": 0, "hello": 1}} and must answer a line with "id": 0.'
            ) from None

    def _reply(self, answer: Mapping[str, Any]) -> Reply:
        """Read one answer."""
        paid, used = _number(answer.get("cost")), _number(answer.get("tokens"))
        paid = self.prices.cost(0, 0) if paid is None else paid
        return replace(self._read(answer), cost=max(0.0, paid), tokens=max(0, int(used or 0)))

    def _read(self, answer: Mapping[str, Any]) -> Reply:
        raw = self._hidden.clean(short(canonical(answer)))
        for name, state in (("error", State.FAILED), ("refused", State.REFUSED)):
            if answer.get(name):
                return Reply(state=state, raw=raw)
        if self.card.compares:
            return _choice(answer, raw)
        if isinstance(answer.get("text"), str):
            values = read_reply(answer["text"], self.rule)
        else:
            scored = answer.get("scores")
            scored = scored if isinstance(scored, dict) else {self.card.dimensions[0]: answer.get("score")}
            known = {str(name): value for name, value in scored.items() if str(name) in self.card.dimensions}
            values = {name: _found(value) for name, value in known.items()}
        values |= combined(values, self.rule)
        scores = {name: value for name, (value, _) in values.items() if value is not None}
        states = {name: state for name, (value, state) in values.items() if value is None}
        state = State.OK if scores else next(iter(states.values()), State.EMPTY)
        return Reply(
            scores, state, "" if scores and "text" not in answer and not states else raw, states=states
        )


def canonical(answer: Mapping[str, Any]) -> str:
    """Write an answer as it is kept, without its number."""
    try:
        return canonical_json({name: value for name, value in answer.items() if name != "id"})
    except ValueError:  # NaN and infinities are no JSON
        return repr({name: value for name, value in answer.items() if name != "id"})


def _number(value: Any) -> float | None:  # noqa: ANN401 - whatever the program wrote
    """Give a number that a table can hold, None if it is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < LARGEST:
        return None
    return float(value)


def _found(value: Any) -> tuple[float | None, State]:  # noqa: ANN401 - whatever the program wrote
    """Read one number; the scale is looked at by whoever keeps it."""
    number = _number(value)
    if number is not None:
        return number, State.OK
    return None, State.EMPTY if value is None else State.UNPARSABLE


def _choice(answer: Mapping[str, Any], raw: str) -> Reply:
    """Read which of two pictures the program named."""
    choice = answer.get("choice", answer.get("text"))
    reply = reply_of(choice) if isinstance(choice, str) else Reply(state=State.EMPTY)
    if choice is not None and not isinstance(choice, str):
        reply = Reply(state=State.UNPARSABLE)
    return reply if reply.state == State.OK and "text" not in answer else replace(reply, raw=raw)


def _question(folder: Path, at: int, stimulus: Stimulus) -> dict[str, Any]:
    if isinstance(stimulus, ShownPair):
        named = {"left": stimulus.image, "right": stimulus.second}
        paths = {name: folder / f"{at}-{name}.png" for name in named}
        for name, path in paths.items():
            path.write_bytes(png(named[name]))
        return {**{name: str(path) for name, path in paths.items()}, "prompt": stimulus.prompt}
    path = folder / f"{at}.png"
    path.write_bytes(png(stimulus.image))
    return {"image": str(path), "prompt": stimulus.prompt}


def build(card: Card, *, project: Path | None = None) -> Judge:
    """Make the judge that a card describes; the program is started when it is first asked.

    Raises:
        InputError: With everything that is wrong with the card and its files.
    """
    files = CardFiles(card, project)
    none = ("target", "preprocessing", "prompt_template")
    files.refuse(card, none, "what the program does is its own business.")
    rule = rule_of(card)
    key = read_key(card, files)
    folder = (card.origin.parent if card.origin else project or Path.cwd()).resolve()
    words = [str(word) for word in card.settings["command"]]
    parts = _identity_of(card, files, folder, words)
    program = _program_of(files, folder, words)
    refuse_key_in(card, key, files)
    files.raise_faults()
    identified = replace(
        card,
        target=canonical_json(parts),
        weights=card.weights or text_digest(*(part for part in parts if part.startswith("sha256:"))),
        pinned=card.pinned or not card.weights,
        parser_version=f"{card.parser_version}/{f'pairs {VERSION}' if card.compares else rule.version}",
        runtime=f"{program.name}",
    )
    judge = CommandJudge(
        card=identified,
        command=Command(
            (str(program), *words[1:]),
            folder,
            float(card.settings.get("start_timeout", 300)),
            float(card.settings.get("timeout", 120)),
        ),
        rule=rule,
        prices=replace(prices_of(card), pictures=2 if card.compares else 1),
        _hidden=secrets_around(key),
    )
    return Comparer(judge) if card.compares else judge


def _program_of(files: CardFiles, folder: Path, words: Sequence[str]) -> Path:
    """Find the program: beside the card if it is written as a path, else where programs lie."""
    first = words[0]
    path = shutil.which(str(folder / first) if "/" in first or "\\" in first else first)
    if path is None:
        example = 'For example: command: ["python3", "score.py"].'
        files.fault("command", f"there is no program {first} that can be started. {example}")
        return Path(first)
    return Path(path)


def _identity_of(card: Card, files: CardFiles, folder: Path, words: Sequence[str]) -> list[str]:
    """Give the words of the command with digests in place of the files they name, and those of further files.

    A program of which nothing is digested or declared is refused: a new version of it would go unseen.
    """
    parts, unread = [], []
    for at, word in enumerate(words):
        if at == 0 and (launcher := LAUNCHER.match(Path(word).name)):
            parts.append(launcher[1])
            continue
        path = folder / word
        named = at > 0 or "/" in word or "\\" in word
        mode = 0
        with suppress(OSError, ValueError):
            mode = path.stat().st_mode if named else 0
        if stat.S_ISREG(mode):
            name = f"command: {word}"
            files.read(name, word, MOST_FILE_BYTES)
            parts.append(files.digests.get(name, word))
        else:
            parts.append(word)
            if stat.S_ISDIR(mode):
                unread.append(word)
    for name in card.settings.get("files", ()):
        files.read(f"files: {name}", name, MOST_FILE_BYTES)
        parts.append(files.digests.get(f"files: {name}", name))
    if card.weights:
        return parts
    if unread:
        files.fault(
            "weights",
            f"{', '.join(unread)} is a folder, of which no digest is taken. Say by weights: what version it is, e.g. "
            "weights: 2026-11-03.",
        )
    elif not any(part.startswith("sha256:") for part in parts):
        files.fault(
            "files",
            "nothing tells one version of this program from another. Name its files, for example files: [score.py, "
            "weights.bin], or declare its version by weights: 2026-11-03.",
        )
    return parts
