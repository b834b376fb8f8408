"""The hook of a team: the command or webhook of its audit.yaml that is notified when something happened."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from judge_audit.core.audit_blocks import NotifyBlock, WebhookBlock
from judge_audit.core.errors import UsageError
from judge_audit.core.network import is_loopback

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judge_audit.core.configuration import Configuration

GATE_SHUT = "gate_shut"
AUDIT_FAILED = "audit_failed"
EPOCH_CHANGED = "epoch_changed"
STALE = "stale"
TRIAL = "trial"


class Unset(Exception):  # noqa: N818 - what is the matter
    """A variable of the environment that the hook names is not set."""


class Webhook(WebhookBlock):
    """An address that takes JSON by POST. Secrets are named, and read when they are needed."""

    def address(self) -> str:
        """Give the address.

        Raises:
            Unset: If the variable that holds it is not set.
            UsageError: If nothing may be sent to it.
        """
        address = self.url or _of_environment(self.url_env)
        checked_address(address, f"the variable {self.url_env}" if self.url_env else "notify.webhook.url")
        return address

    def headers(self) -> dict[str, str]:
        """Give the secret header, none if there is none.

        Raises:
            Unset: If the variable that holds its value is not set, or holds more than a line.
        """
        return {self.header: _of_environment(self.header_env)} if self.header else {}

    @property
    def name(self) -> str:
        """What may be said of the address: scheme and host. A path or a query may be a secret."""
        try:
            return f"webhook {place_of(urlsplit(self.address()))}"
        except (Unset, UsageError, ValueError):
            return "webhook"


class Hook(NotifyBlock):
    """Whom a team wants notified, and of what; the command runs in `folder`, "" for the current one."""

    webhook: Webhook | None = None
    folder: str = ""

    def wants(self, event: str) -> bool:
        """Say whether an event is notified."""
        return event == TRIAL or event in self.events

    @property
    def command_name(self) -> str:
        """What may be said of the command: its program. An argument may be a secret."""
        return f"command {Path(self.command[0]).name}"


def hook_of(configuration: Configuration) -> Hook | None:
    """Give the hook of a configuration, None if it names none.

    Raises:
        UsageError: If nothing may be sent to the webhook's address.
    """
    return hook_from(configuration.notify, configuration.project) if configuration.notify else None


def hook_from(given: Mapping[str, Any], folder: str = "") -> Hook:
    """Make a hook of the key `notify` of an audit.yaml, whose shape was checked by its schema.

    Raises:
        UsageError: If nothing may be sent to the webhook's address.
    """
    hook = Hook.model_validate({**given, "folder": folder})
    if hook.webhook is not None and hook.webhook.url:
        checked_address(hook.webhook.url, "notify.webhook.url")
    return hook


def checked_address(url: str, where: str) -> None:
    """See that something may be sent to an address: https, or http on this machine; no password in it.

    Raises:
        UsageError: If it may not; the address itself is not repeated, it may be a secret.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        host, parts = "", SplitResult("", "", "", "", "")
    if not host or not url.isascii() or not url.isprintable() or " " in url:
        raise UsageError(f"{where}: it is no address; write https://host/path.")
    if "@" in parts.netloc:
        raise UsageError(
            f"{where}: the address holds a name or password. Leave it out; a secret header is named by "
            "header and header_env."
        )
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(host)):
        raise UsageError(
            f"{where}: {parts.scheme or 'it'} is not https; http may only be spoken to this machine (localhost)."
        )


def place_of(parts: SplitResult) -> str:
    """Give scheme, host and port of an address."""
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")


def _of_environment(name: str) -> str:
    value = os.environ.get(name, "").strip()
    if not value:
        raise Unset(f"the environment variable {name} is not set")
    if not (value.isascii() and value.isprintable()):
        raise Unset(f"the environment variable {name} holds characters that no header or address has")
    return value
