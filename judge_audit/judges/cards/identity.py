"""What a Python judge is: its code, and whatever it holds that changes what it answers."""

from __future__ import annotations

import functools
import inspect
from pathlib import PurePath
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.core.digests import file_digest, text_digest
from judge_audit.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PLAIN = (type(None), bool, int, float, complex, str, bytes)
DEPTH = 12
"""How deep a judge's state is followed."""


def code_digest(function: Any, name: str) -> str:  # noqa: ANN401 - anything callable
    """Digest what a callable answers with: a change of it is a new judge.

    That is the source of the module it comes from (else its bytecode), and what it holds: an object's
    attributes, a function's closure and defaults, the weights of a torch module. An attribute `identity`
    (a text) on the callable stands for all that it holds.

    Args:
        function: The callable.
        name: The name it goes by; part of the digest.

    Raises:
        UsageError: If it holds something that cannot be read, so that a change of it would go unseen.
    """
    return text_digest(*_code(function, name), *_held(function, name))


def _code(function: Any, name: str) -> list[str]:  # noqa: ANN401 - anything callable
    """Give the source of a callable's module, else its own source, else its bytecode."""
    while isinstance(function, functools.partial):
        function = function.func
    if not hasattr(function, "__code__") and not inspect.isclass(function):
        function = getattr(function, "__func__", type(function))
    module = inspect.getmodule(function)
    try:
        if module is not None and module.__name__ != "__main__":
            return ["source", name, inspect.getsource(module)]
        return ["source", name, inspect.getsource(function)]
    except (OSError, TypeError):
        code = getattr(function, "__code__", None)
        return ["code", name, *(_code_words(code) if code else (function.__qualname__,))]


def _code_words(code: CodeType) -> list[str]:
    """Give what bytecode alone leaves out as well: constants (functions within by their own code) and names."""
    words = [code.co_code.hex(), *code.co_names]
    for constant in code.co_consts:
        words += _code_words(constant) if isinstance(constant, CodeType) else [repr(constant)]
    return words


def _held(function: Any, name: str) -> list[str]:  # noqa: ANN401 - anything callable
    """Give what a callable holds, as texts."""
    declared = getattr(function, "identity", None)
    if isinstance(declared, str) and declared:
        return ["identity", declared]
    try:
        return list(_words(function, "", frozenset(), top=True))
    except _Unreadable as error:
        raise UsageError(
            f"the judge “{name}” holds {error}, which cannot be read into its identity: if it changed, old answers "
            "would pass for new ones. Give the judge an attribute `identity` (a text that changes when it does, "
            "e.g. the version or checksum of its weights), or name it by a card with `weights:`."
        ) from error


class _Unreadable(Exception):  # noqa: N818 - never leaves this file
    """Something whose content cannot be told."""


def _words(  # noqa: C901, PLR0912 - one kind of value a branch
    value: Any,  # noqa: ANN401 - whatever a judge holds
    place: str,
    above: frozenset[int],
    *,
    top: bool = False,
) -> Iterator[str]:
    """Write a value as texts that differ whenever the value does."""
    if isinstance(value, (*PLAIN, PurePath, np.generic, np.dtype)):
        yield from (type(value).__name__, repr(value))
        return
    if id(value) in above:
        yield "above"
        return
    if len(above) > DEPTH:
        raise _Unreadable(f"{place or 'something'} nested too deeply")
    inner = above | {id(value)}
    yield type(value).__qualname__
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        yield from (str(value.dtype), str(value.shape), file_digest(np.ascontiguousarray(value).tobytes()))
    elif isinstance(value, (np.random.Generator, np.random.RandomState)):
        return  # chance is not identity: each process draws its own
    elif isinstance(value, (list, tuple)):
        for number, entry in enumerate(value):
            yield from _words(entry, f"{place}[{number}]", inner)
    elif isinstance(value, (set, frozenset)):
        yield from sorted("\0".join(_words(entry, place, inner)) for entry in value)
    elif isinstance(value, dict):
        yield from _of_mapping(value, place, inner)
    elif isinstance(value, functools.partial):
        yield from _words([value.func, value.args, value.keywords], place, inner)
    elif isinstance(value, MethodType):
        yield from _words([value.__func__, value.__self__], place, inner)
    elif isinstance(value, FunctionType):
        yield from _of_function(value, place, inner, top=top)
    elif isinstance(value, (type, ModuleType)):
        yield getattr(value, "__module__", "") + value.__name__
    elif callable(getattr(value, "state_dict", None)):
        yield from _of_mapping(value.state_dict(), f"{place}.state_dict()", inner)
    elif callable(getattr(value, "detach", None)) and callable(getattr(value, "numpy", None)):
        yield from _words(value.detach().cpu().numpy(), place, inner)
    else:
        yield from _of_object(value, place, inner)


def _of_mapping(value: Mapping[Any, Any], place: str, above: frozenset[int]) -> Iterator[str]:
    for key in sorted(value, key=repr):
        yield from _words(key, place, above)
        yield from _words(value[key], f"{place}.{key}".removeprefix("."), above)


def _of_function(function: FunctionType, place: str, above: frozenset[int], *, top: bool) -> Iterator[str]:
    if not top:
        yield from _code(function, function.__qualname__)
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    closure: dict[str, Any] = {}
    for name, cell in cells:
        try:
            closure[name] = cell.cell_contents
        except ValueError:  # a cell not filled yet
            continue
    yield from _of_mapping(closure, place, above)
    yield from _words([function.__defaults__, function.__kwdefaults__], place, above)


def _of_object(value: Any, place: str, above: frozenset[int]) -> Iterator[str]:  # noqa: ANN401 - any object
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    if not hasattr(value, "__dict__") and not slots:
        raise _Unreadable(f"{place or 'itself'} ({type(value).__qualname__})")
    attributes = {name: getattr(value, name) for name in slots if hasattr(value, name) and name != "__dict__"}
    yield from _of_mapping({**attributes, **getattr(value, "__dict__", {})}, place, above)
