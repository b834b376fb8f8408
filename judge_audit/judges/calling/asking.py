"""Asking a judge a batch of questions, whether each shows one picture or two: budget, failures, one answer each.

One picture that fails alone is a row; picture after picture is an error.

`scoring` and `comparing` say how the two kinds of question are put; everything else is the same for both.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from judge_audit.core.errors import AuditError, UsageError
from judge_audit.core.vocabulary import State
from judge_audit.judges.pairwise.protocol import Comparison, Preference
from judge_audit.judges.protocol import PricedJudge, Reply, Stimulus, Unanswered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from judge_audit.judges.calling.budget import Budget
    from judge_audit.judges.pairwise.protocol import ComparingJudge
    from judge_audit.judges.protocol import Judge

GIVE_UP = 8
"""Pictures that fail one after another, without an answer between them, before the judge is given up."""

Question = TypeVar("Question", Stimulus, Comparison)
Answer = TypeVar("Answer", Reply, Preference)
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class BatchOutcome(Generic[Result]):
    """One batch with what it says of the judge.

    Attributes:
        result: The batch.
        answers: Answers in it, refusals among them.
        new_failures: What failed for the first time.
        error: The last error, None if there was none.
        spent: Whether the budget did not reach for all of it.
    """

    result: Result
    answers: int
    new_failures: int
    error: Exception | None
    spent: bool = False


class Planned(Protocol):
    """What a batch is made of: something drawn, which may show nothing new and may have failed before."""

    @property
    def inert(self) -> bool:
        """Whether it shows the original, or the same picture twice, so that nothing is asked."""
        ...

    @property
    def failed_before(self) -> bool:
        """Whether it was asked before and failed."""
        ...


Shown = TypeVar("Shown", bound=Planned)


@dataclass(frozen=True, slots=True)
class Asker(Generic[Question, Answer]):
    """How one kind of question is put to a judge.

    Attributes:
        name: The judge's name.
        ask: Puts questions and gives one answer each.
        answer: The class of an answer, made of a state, a text and a number of attempts.
        price: What one answer may cost at most, paid from a budget.
        noun: What one question is called.
    """

    name: str
    ask: Callable[[Sequence[Question]], Sequence[Answer]]
    answer: type[Answer]
    price: Callable[[Budget, Question], float]
    noun: str

    def once(self, questions: Sequence[Question]) -> Sequence[Answer]:
        """Ask once, whatever becomes of single questions.

        Raises:
            UsageError: If the judge fails altogether, or gives more or fewer answers than it was asked.
        """
        answers, error = self._attempt(questions)
        if answers is None:
            raise UsageError(
                f"the judge “{self.name}” failed on {len(questions)} {self.noun}s: "
                f"{type(error).__name__}: {error}"
            ) from error
        return answers

    def _attempt(self, questions: Sequence[Question]) -> tuple[list[Answer] | None, Exception | None]:
        """Ask once: the answers, None where there are none at all, and the error."""
        error: Exception | None = None
        try:
            answers = self.ask(questions)
        except AuditError:
            raise
        except Unanswered as caught:
            if not all(isinstance(reply, self.answer) for reply in caught.replies):
                return None, caught
            answers, error = caught.replies, caught
        except Exception as caught:  # noqa: BLE001 - a judge may raise anything
            return None, caught
        if len(answers) != len(questions):
            raise UsageError(
                f"the judge “{self.name}” gave {len(answers)} answers to {len(questions)} {self.noun}s; "
                f"it must give one per {self.noun}, in order."
            )
        return list(answers), error

    def all(self, questions: Sequence[Question]) -> tuple[list[Answer], Exception | None]:
        """Ask; a batch that fails is asked again one by one, so that one question fails alone."""
        answers, error = self._attempt(questions)
        if answers is not None:
            return answers, error
        if len(questions) == 1:
            return [self._failed(error, 1)], error
        replies: list[Answer] = []
        last: Exception | None = None
        for question in questions:
            alone, error = self._attempt([question])
            replies += [self._failed(error, 2)] if alone is None else alone
            last = error if alone is None else last
        return replies, last

    def _failed(self, error: Exception | None, attempts: int) -> Answer:
        text = f"{type(error).__name__}: {error}"[:500]
        return self.answer(state=State.FAILED, raw=text, attempts=attempts)

    def paid(
        self, questions: Sequence[Question], budget: Budget | None
    ) -> tuple[list[Answer], Exception | None]:
        """Ask as many questions as the budget reaches, from the first on."""
        if budget is None or not questions:
            return self.all(questions) if questions else ([], None)
        replies: list[Answer] = []
        last: Exception | None = None
        while len(replies) < len(questions):
            left = questions[len(replies) :]
            with budget.taken([self.price(budget, entry) for entry in left]) as taken:
                if not taken.count:
                    break
                answers, error = self.all(left[: taken.count])
                taken.settled = sum(answer.cost for answer in answers)
            replies += answers
            last = error or last
        return replies, last


def scoring(judge: Judge) -> Asker[Stimulus, Reply]:
    """Say how a judge is asked to score pictures."""
    return Asker(
        judge.card.name,
        judge.score,
        Reply,
        lambda budget, stimulus: budget.most_cost(judge, stimulus),
        "picture",
    )


def comparing(judge: ComparingJudge) -> Asker[Comparison, Preference]:
    """Say how a judge is asked to compare; a comparison costs at most two pictures of the larger one's size."""

    def price(budget: Budget, pair: Comparison) -> float:
        if not isinstance(judge, PricedJudge):
            return 0.0
        larger = max((pair.left, pair.right), key=lambda image: image.shape[0] * image.shape[1])
        return budget.most_cost(judge, Stimulus(larger, pair.prompt))

    return Asker(
        judge.card.name,
        judge.compare,
        Preference,
        price,
        "comparison",
    )


def ask_batch(
    way: Asker[Question, Answer],
    batch: Sequence[Shown],
    question: Callable[[Shown], Question],
    budget: Budget | None,
    write: Callable[[Shown, Answer, float], None],
    result: Callable[[int], Result],
) -> BatchOutcome[Result]:
    """Ask for a batch, as far as the budget reaches, and write down what came of it.

    Args:
        way: How the questions are put.
        batch: What was drawn.
        question: Makes the question of one that shows something new.
        budget: What answers are paid from.
        write: Keeps one answer with its milliseconds; of what shows nothing new, the state says so.
        result: Gives what was kept, from how many were left unasked.
    """
    wanted = [shown for shown in batch if not shown.inert]
    started = time.perf_counter()
    answers, error = way.paid([question(shown) for shown in wanted], budget)
    latency = 1000 * (time.perf_counter() - started) / max(len(answers), 1)
    answer_of: dict[int, Any] = {id(shown): answer for shown, answer in zip(wanted, answers, strict=False)}
    left = {id(shown) for shown in wanted[len(answers) :]}
    for shown in batch:
        if shown.inert:
            write(shown, way.answer(state=State.INERT, attempts=0), 0.0)
        elif id(shown) not in left:
            write(shown, answer_of[id(shown)], latency)
    failed = [
        shown for shown in wanted if id(shown) in answer_of and answer_of[id(shown)].state == State.FAILED
    ]
    fresh = sum(not shown.failed_before for shown in failed)
    return BatchOutcome(result(len(left)), len(answers) - len(failed), fresh, error, spent=bool(left))


def passed_on(judge: Judge, asked: Iterator[BatchOutcome[Result]], *, known: bool) -> Iterator[Result]:
    """Pass batches on, holding failures back until the judge has answered something since.

    A picture that fails alone is a row; a judge that answers nothing is an error, and nothing of it is kept.

    Args:
        judge: The judge.
        asked: Batches as they come.
        known: Whether the lake already holds answers of this judge.
    """
    waiting: list[Result] = []
    failures = 0
    last: Exception | None = None
    for heard in asked:
        waiting.append(heard.result)
        last = heard.error or last
        known = known or heard.answers > 0
        failures = 0 if heard.answers else failures + heard.new_failures
        if failures >= GIVE_UP and last is not None:
            raise failing_judge(judge, last) from last
        if not failures and (known or last is None):
            yield from waiting
            waiting = []
        if heard.spent:
            break
    if last is not None and not known:
        raise failing_judge(judge, last) from last
    yield from waiting


def failing_judge(judge: Judge, error: Exception) -> UsageError:
    """Say that a judge answers nothing."""
    return UsageError(
        f"the judge “{judge.card.name}” failed on picture after picture; the last error was "
        f"{type(error).__name__}: {error}"
    )
