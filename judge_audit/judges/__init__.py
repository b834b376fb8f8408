"""The judges: what is asked of one, how it is described by a card, loaded, called and watched.

It may import `lake`, `stimuli`, `measures` and `core`, and nothing of `people`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_audit.core.discovery import modules_stating
from judge_audit.core.errors import MachineryError, UsageError
from judge_audit.judges.cards.card import Card, read_card

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

    from judge_audit.judges.protocol import Judge

    Build = Callable[..., Judge]


def builtin_kinds() -> dict[str, ModuleType]:
    """Give the files of judge kinds by the name of the kind.

    Raises:
        MachineryError: If a file that states a `KIND` is no judge kind; names the file.
    """
    kinds = {}
    for module in modules_stating(f"{__name__}.adapters", "KIND"):
        kinds[kind_of(module, module.__name__.rpartition(".")[2])] = module
    return kinds


def kind_of(module: ModuleType, origin: str) -> str:
    """Name the judge kind that a file holds.

    Raises:
        MachineryError: If it holds none.
    """
    kind = getattr(module, "KIND", None)
    if not isinstance(kind, str) or not kind or not callable(getattr(module, "build", None)):
        raise MachineryError(
            f"judges/{origin}.py: a judge kind has a KIND and a function build(card, *, project)."
        )
    return kind


def builtin_cards() -> dict[str, Card]:
    """Give the cards of the judges that come with the package, by name."""
    cards = [getattr(module, "CARD", None) for module in builtin_kinds().values()]
    return {card.name: card for card in cards if card is not None}


def load_judge(
    spec: Any,  # noqa: ANN401 - a name, a path or a callable
    *,
    project: Path | None = None,
    kinds: Mapping[str, ModuleType] | None = None,
    requests: int = 0,
) -> Judge:
    """Load a judge.

    Args:
        spec: A built-in name, the name or path of a card, `module:attribute`, a callable, or a judge.
        project: The team's folder, where modules and cards (in `cards/`) are looked for.
        kinds: Judge kinds by name; the built-in ones if not given.
        requests: Requests that it may have under way at most, where this process is one of several; 0 for what
            its card says.

    Raises:
        UsageError: If there is no such judge or it cannot be loaded; says what to write.
    """
    kinds = builtin_kinds() if kinds is None else kinds
    if not isinstance(spec, (str, Path)):
        judge: Judge = kinds["callable"].wrap(spec)
        return judge
    text = str(spec)
    own = project / "cards" / f"{text}.yaml" if project and text == Path(text).name else None
    if own is not None and own.is_file():
        if text in builtin_cards():
            raise UsageError(f"judge “{text}”: {own} bears the name of a built-in judge. Rename the card.")
        card = read_card(own, kinds)
    elif text in builtin_cards():
        card = builtin_cards()[text]
    elif text.lower().endswith((".yaml", ".yml")):
        path = Path(text) if Path(text).is_absolute() or project is None else project / text
        card = read_card(path if path.exists() else Path(text), kinds)
    elif ":" in text:
        card = Card(kind="callable", name=text, target=text)
    else:
        names = ", ".join(sorted(builtin_cards()))
        raise UsageError(
            f"there is no judge “{text}”. Name a built-in one ({names}), a callable as module:attribute, "
            "or the path of a card (.yaml)."
        )
    if card.kind not in kinds:
        raise UsageError(
            f"judge “{card.name}”: there is no kind “{card.kind}”; the kinds are {', '.join(sorted(kinds))}."
        )
    if requests:
        card = replace(card, concurrency=min(card.concurrency, requests))
    built: Judge = kinds[card.kind].build(card, project=project)
    return built
