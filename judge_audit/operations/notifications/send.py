"""Handing a notice over: to a command on its standard input, to a webhook as the body of a POST.

Nothing that comes back is read but the exit code or the status, and no error is reported with the address, an argument
or a header in it: any of them may be a secret.
"""

from __future__ import annotations

import http.client
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from judge_audit.core.errors import UsageError
from judge_audit.core.network import is_loopback
from judge_audit.core.timeouts import Hangs, within
from judge_audit.operations.notifications.hook import Unset

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge_audit.operations.notifications.hook import Hook, Webhook

TRIES = 3
FIRST_WAIT = 1.0
"""Seconds before the second request; before the third twice as many."""

AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Answers after which another try may help."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of a notice.

    Attributes:
        told_to: Whom it went to, without anything secret.
        delivered: Whether it arrived.
        attempts: How often it was tried.
        reason: Why it did not arrive, "" if it did.
    """

    told_to: str
    delivered: bool
    attempts: int
    reason: str = ""


def deliver(hook: Hook, content: bytes) -> list[Delivery]:
    """Hand a notice to everybody the hook names; whatever goes wrong is reported and never raised.

    Args:
        hook: Whom to tell.
        content: The notice as JSON.
    """
    deliveries = []
    if hook.command:
        deliveries.append(_guarded(hook.command_name, lambda: run_command(hook, content)))
    if (webhook := hook.webhook) is not None:
        deliveries.append(_guarded(webhook.name, lambda: post(webhook, content, hook.timeout)))
    return deliveries


def _guarded(told_to: str, send: Callable[[], Delivery]) -> Delivery:
    try:
        return send()
    except Exception as error:  # noqa: BLE001 - a hook never changes what a run came to
        return Delivery(told_to, delivered=False, attempts=1, reason=f"unexpected {type(error).__name__}")


def run_command(hook: Hook, content: bytes) -> Delivery:
    """Run the command with the notice on its standard input; what it prints goes to our error stream."""
    name = hook.command_name
    try:
        process = subprocess.Popen(  # noqa: S603 - no shell; who writes audit.yaml may run programs anyway
            hook.command,
            cwd=hook.folder or None,
            stdin=subprocess.PIPE,
            stdout=sys.__stderr__ or subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        return Delivery(name, delivered=False, attempts=1, reason=f"it cannot be started: {why}")
    try:
        process.communicate(content, timeout=hook.timeout)
    except subprocess.TimeoutExpired:
        _end(process)
        reason = f"it had not ended after {hook.timeout:g} s and was stopped"
        return Delivery(name, delivered=False, attempts=1, reason=reason)
    except BaseException:
        _end(process)
        raise
    code = process.returncode
    return Delivery(name, code == 0, 1, "" if code == 0 else f"it ended with code {code}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Stop a command with whatever it started."""
    with suppress(OSError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=5)


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follow no redirect: what is sent is meant for one host."""

    def redirect_request(self, *_: Any) -> None:  # noqa: ANN401 - the library's own types
        """Refuse."""


def post(webhook: Webhook, content: bytes, timeout: float) -> Delivery:
    """Send the notice to the webhook, again where that may help."""
    name = webhook.name
    try:
        address, headers = webhook.address(), webhook.headers()
    except (Unset, UsageError) as error:
        return Delivery(name, delivered=False, attempts=0, reason=str(error))
    headers |= {"Content-Type": "application/json; charset=utf-8", "User-Agent": "judge-audit"}
    reason, tries = "", 0
    for tries in range(1, TRIES + 1):
        try:  # however slowly the bytes of its answer come
            reason, again = within(timeout, lambda: _request(timeout, address, headers, content))
        except Hangs:
            reason, again = f"no answer within {timeout:g} s", True
        if not reason or not again or tries == TRIES:
            break
        time.sleep(FIRST_WAIT * 2 ** (tries - 1))
    return Delivery(name, not reason, tries, reason)


def _request(timeout: float, address: str, headers: dict[str, str], content: bytes) -> tuple[str, bool]:
    """Send one request; give what is wrong ("" if nothing is), and whether another try may help."""
    # an address on this machine is asked directly, whatever proxy the environment names for the others
    direct = [urllib.request.ProxyHandler({})] if is_loopback(urlsplit(address).hostname or "") else []
    opener = urllib.request.build_opener(*direct, _Stay())
    request = urllib.request.Request(address, data=content, headers=headers, method="POST")  # noqa: S310 - checked
    try:
        with opener.open(request, timeout=timeout) as answer:
            status = answer.status
    except urllib.error.HTTPError as error:
        status = error.code
        error.close()
    except urllib.error.URLError as error:
        return _why(error.reason)
    except (OSError, http.client.HTTPException, ValueError) as error:
        return _why(error)
    if 200 <= status < 300:
        return "", False
    if 300 <= status < 400:
        return f"it answered {status}; redirects are not followed", False
    return f"it answered {status}", status in AGAIN


def _why(error: object) -> tuple[str, bool]:
    """Say why there was no answer, in words of our own."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return "its certificate is not valid", False
    if isinstance(error, TimeoutError):
        return "no answer in time", True
    if isinstance(error, socket.gaierror):
        return "its name is not known", True
    if isinstance(error, OSError) and error.strerror:
        return f"it cannot be reached: {error.strerror}", True
    return f"it cannot be reached ({type(error).__name__})", True
