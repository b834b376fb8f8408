"""The template engine of every page: everything is escaped, an undefined name is an error."""

from __future__ import annotations

import jinja2


def strict_environment(*folders: str) -> jinja2.Environment:
    """Set up the engine for the report's templates; the caller adds globals and filters.

    Args:
        folders: Packages whose templates are looked for before those of the report.
    """
    return jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(name) for name in (*folders, "judge_audit.report")]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
