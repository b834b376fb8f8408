"""Any Python callable as a judge: `module:attribute`, a function in a notebook, an object with `score` or `compare`."""

from __future__ import annotations

import importlib
import inspect
import math
import sys
from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_audit.core.errors import Fault, InputError, MachineryError, UsageError
from judge_audit.core.timeouts import Hangs, within
from judge_audit.core.vocabulary import OVERALL, Choice, State
from judge_audit.judges.cards.card import Card
from judge_audit.judges.cards.card_errors import ADVICE
from judge_audit.judges.cards.identity import code_digest
from judge_audit.judges.pairwise.preference_parser import read_preference
from judge_audit.judges.pairwise.protocol import Comparison, Preference, without_scores
from judge_audit.judges.protocol import Judge, Reply, Stimulus

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

KIND = "callable"

TIMEOUT = 1800.0
"""Seconds for a batch of pictures, the first of which may have to load a model."""


@dataclass(frozen=True)
class CallableJudge:
    """A judge around a function of a list of images and a list of prompts.

    Attributes:
        function: The function.
        card: Its card.
    """

    function: Callable[..., Any]
    card: Card

    def score(self, stimuli: Sequence[Stimulus]) -> list[Reply]:
        """Call the function with images (height, width, 3; 8-bit sRGB) and prompts.

        Raises:
            MachineryError: If it hangs.
            UsageError: If it returns what is no list.
        """
        images, prompts = [entry.image for entry in stimuli], [entry.prompt for entry in stimuli]
        seconds = float(self.card.settings.get("timeout", TIMEOUT))
        try:
            answers = within(seconds, lambda: self.function(images, prompts))
        except Hangs as error:
            where = f" It stands at {error.place}." if error.place else ""
            raise MachineryError(
                f"the judge “{self.card.name}” gave no answer to {len(images)} pictures within {seconds:g} s: it "
                f"hangs.{where} Nothing committed is lost: the same command goes on from there. If it does need "
                "longer, write a card of kind: callable with a higher timeout: in seconds."
            ) from error
        wanted = "one number (or one mapping from dimension to number) per image"
        return [self._reply(answer) for answer in _listed(answers, self.card, wanted)]

    def _reply(self, answer: Any) -> Reply:  # noqa: ANN401 - whatever the function returned
        """Turn one answer into a reply."""
        if answer is None:
            return Reply(state=State.EMPTY)
        if isinstance(answer, Reply):
            return answer
        if isinstance(answer, dict):
            if not all(isinstance(value, Real) for value in answer.values()):
                return Reply(state=State.UNPARSABLE, raw=repr(answer)[:500])
            return Reply({str(name): float(value) for name, value in answer.items()})
        try:
            value = float(answer)
        except (TypeError, ValueError):
            return Reply(state=State.UNPARSABLE, raw=repr(answer)[:500])
        return Reply({OVERALL: value}) if not math.isnan(value) else Reply(state=State.UNPARSABLE, raw="nan")


@dataclass(frozen=True)
class CallableComparer:
    """A judge around a function of a list of left images, a list of right ones and a list of prompts.

    Attributes:
        function: The function.
        card: Its card.
    """

    function: Callable[..., Any]
    card: Card

    @classmethod
    def of(cls, thing: Any, name: str, card: Card | None = None) -> CallableComparer:  # noqa: ANN401
        """Make the judge of a function, or of an object with a method `compare`.

        Args:
            thing: The function or object.
            name: What it goes by; part of its identity.
            card: Its card; one is made if none is given.

        Raises:
            UsageError: If it cannot be called.
        """
        function = thing.compare if compares(thing) else thing
        if not callable(function):
            raise UsageError(
                f"a judge that compares must be callable as compare(lefts, rights, prompts); {thing!r:.80} is not."
            )
        card = card or Card(kind=KIND, name=name)
        return cls(function, replace(card, compares=True, weights=card.weights or code_digest(thing, name)))

    def score(self, stimuli: Sequence[Stimulus]) -> list[Reply]:
        """Say that it gives no score."""
        del stimuli
        raise without_scores(self.card)

    def compare(self, pairs: Sequence[Comparison]) -> list[Preference]:
        """Call the function with left and right images (height, width, 3; 8-bit sRGB) and prompts."""
        answers = self.function(
            [pair.left for pair in pairs], [pair.right for pair in pairs], [pair.prompt for pair in pairs]
        )
        wanted = "“left”, “right” or “tie” for each pair"
        return [_preference(answer) for answer in _listed(answers, self.card, wanted)]


def _preference(answer: Any) -> Preference:  # noqa: ANN401 - whatever the function returned
    """Turn one answer into a preference."""
    if isinstance(answer, Preference):
        return answer
    if answer is None:
        return Preference(state=State.EMPTY)
    if isinstance(answer, Choice):
        return Preference(answer)
    if isinstance(answer, str):
        return read_preference(answer)
    return Preference(state=State.UNPARSABLE, raw=repr(answer)[:500])


def _listed(answers: Any, card: Card, wanted: str) -> list[Any]:  # noqa: ANN401 - whatever the function returned
    """Give the answers as a list, or say what it must hold."""
    try:
        return list(answers)
    except TypeError as error:
        raise UsageError(
            f"the judge “{card.name}” returned {type(answers).__name__}; it must return a list with {wanted}."
        ) from error


def compares(thing: Any) -> bool:  # noqa: ANN401 - anything handed over
    """Tell whether something has a method `compare`."""
    return callable(getattr(thing, "compare", None))


def build(card: Card, *, project: Path | None = None) -> Judge:
    """Load the callable a card names by `target`.

    Raises:
        InputError: If there is no such thing, or importing it fails.
    """
    try:
        loaded = load_target(card.target, project)
    except UsageError as error:
        if card.origin is None:
            raise
        message = f'{error} For example: target: "my_judge:score".'
        raise InputError([Fault(card.origin.name, 0, "target", message)], ADVICE) from error
    if isinstance(loaded, Judge):
        return loaded
    if card.compares or compares(loaded):
        pinned = card.pinned or says_pinned(loaded)
        return CallableComparer.of(loaded, card.target, replace(card, pinned=pinned))
    weights = card.weights or code_digest(loaded, card.target)
    return wrap(loaded, replace(card, weights=weights, pinned=card.pinned or says_pinned(loaded)))


def says_pinned(function: Any) -> bool:  # noqa: ANN401 - anything callable
    """Tell whether a callable says, by an attribute `pinned`, that its digest holds all that it answers with.

    What it loads elsewhere (a file beside its module, a service) is in no digest, so without a word it is not.
    """
    return getattr(function, "pinned", False) is True


def wrap(function: Any, card: Card | None = None) -> Judge:  # noqa: ANN401 - anything handed over
    """Make a judge of a function, or give back what already is one.

    Raises:
        UsageError: If it cannot be called, or only as one that compares.
    """
    if isinstance(function, Judge):
        return function
    if compares(function):
        return CallableComparer.of(function, type(function).__qualname__)
    if not callable(function):
        raise UsageError(f"a judge must be callable as score(images, prompts); {function!r:.80} is not.")
    name = getattr(function, "__qualname__", type(function).__name__)
    if not _takes(function, 2) and _takes(function, 3):
        raise UsageError(
            f"{name} takes three lists, and a judge that scores is called as score(images, prompts). One that compares "
            "two pictures as compare(lefts, rights, prompts) needs a card that says so: kind: callable, target: "
            "module:attribute, compares: true."
        )
    if card is None:
        weights = code_digest(function, name)
        home = getattr(function, "__module__", None) or type(function).__module__
        card = Card(kind=KIND, name=f"{home}:{name}", weights=weights, pinned=says_pinned(function))
    return CallableJudge(function, card)


def _takes(function: Any, count: int) -> bool:  # noqa: ANN401 - anything callable
    """Tell whether something can be called with so many arguments; True if it does not say."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def load_target(target: str, project: Path | None) -> Any:  # noqa: ANN401 - whatever the module holds
    """Import `module:attribute`, looking in the project's folder (or the current one) too.

    Raises:
        UsageError: If module or attribute is not there, or importing it fails; says which.
    """
    module_name, _, attribute = target.partition(":")
    if not module_name or not attribute:
        raise UsageError(f"judge “{target}”: write it as module:attribute, e.g. my_judge:score.")
    folder = str((project or Path.cwd()).resolve())
    added = folder not in sys.path
    if added:
        sys.path.append(folder)
    try:
        loaded = importlib.import_module(module_name)
        for part in attribute.split("."):
            loaded = getattr(loaded, part)
    except ModuleNotFoundError as error:
        raise UsageError(f"judge “{target}”: there is no module “{error.name}” here or installed.") from error
    except AttributeError as error:
        raise UsageError(f"judge “{target}”: {module_name} has no “{attribute}”.") from error
    except Exception as error:
        raise UsageError(f"judge “{target}”: importing {module_name} failed: {error!r}.") from error
    finally:
        if added:
            sys.path.remove(folder)
    return loaded
