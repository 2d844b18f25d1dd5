"""The HTTP side of ``openai:MODEL``: one request, a deadline, bounded retries, errors without secrets."""

from __future__ import annotations

import json
import os
import random
import time
import weakref
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
import tenacity

from tracestore.embedders.remote import RefusedError
from tracestore.errors import ConfigError, EmbeddingError, InputError

TIMEOUT_VARIABLE = "TRACESTORE_EMBEDDING_TIMEOUT"
DEFAULT_TIMEOUT = 120.0
LARGEST_BODY = 512 * 2**20

_REFUSED = {400, 413, 422}
_RETRIED = {408, 409, 429, 500, 502, 503, 504}
_HINTS = {
    401: "check OPENAI_API_KEY",
    403: "check OPENAI_API_KEY",
    404: "check the model's name and OPENAI_BASE_URL (it usually ends in /v1)",
}


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often to try and how long to wait (seconds); ``longest_wait`` also caps ``Retry-After``."""

    attempts: int = 6
    first_wait: float = 0.5
    longest_wait: float = 60.0


class _TransientError(Exception):
    """Worth another attempt; ``retry_after`` is the server's wish in seconds."""

    def __init__(self, problem: str, retry_after: float | None = None) -> None:
        super().__init__(problem)
        self.retry_after = retry_after


class HttpEndpoint:
    """``POST {base_url}/embeddings``. The key is kept out of every message and of ``repr``."""

    def __init__(
        self,
        base_url: str,
        key: str = "",
        *,
        timeout: float | None = None,
        retries: RetryPolicy | None = None,
    ) -> None:
        self._url = _embeddings_url(base_url)
        self._shown_url = str(self._url.copy_with(userinfo=b"", query=None, fragment=None))
        self._key = _checked_key(key, self._url)
        self._timeout = _environment_timeout() if timeout is None else timeout
        self._retries = retries or RetryPolicy()
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        self._client = httpx.Client(headers=headers, timeout=httpx.Timeout(self._timeout, connect=10.0))
        self._closer = weakref.finalize(self, self._client.close)

    def close(self) -> None:
        """Close the connections; also done when the endpoint is dropped."""
        self._closer()

    def post(self, payload: dict[str, Any]) -> object:
        """Send ``payload`` and return the parsed JSON, after at most ``attempts`` requests."""
        body = json.dumps(payload).encode()
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(self._retries.attempts),
            wait=self._wait,
            retry=tenacity.retry_if_exception_type(_TransientError),
            reraise=True,
        )
        try:
            return retrying(self._once, body)
        except _TransientError as problem:
            raise EmbeddingError(
                f"the embedding server {self._shown_url} failed {self._retries.attempts} times, last: {problem}",
                hint="check that the server is up; a build that is run again goes on where it stopped",
            ) from problem

    def _wait(self, state: tenacity.RetryCallState) -> float:
        """Wait as the server says, else exponentially with jitter; never longer than the cap."""
        problem = state.outcome.exception() if state.outcome else None
        if isinstance(problem, _TransientError) and problem.retry_after is not None:
            wanted = problem.retry_after
        else:
            wanted = self._retries.first_wait * 2.0 ** (state.attempt_number - 1) * random.uniform(0.5, 1.0)
        return min(wanted, self._retries.longest_wait)

    def _once(self, body: bytes) -> object:
        """Make one attempt."""
        headers = {"Content-Type": "application/json"}
        try:
            with self._client.stream("POST", self._url, content=body, headers=headers) as response:
                content = self._read(response)
        except httpx.TimeoutException as problem:
            raise _TransientError(f"no answer within {self._timeout:g} s") from problem
        except httpx.HTTPError as problem:
            raise _TransientError(self._clean(str(problem) or type(problem).__name__)) from problem
        if response.status_code == httpx.codes.OK:
            return self._parse(response, content)
        raise self._failure(response, content)

    def _read(self, response: httpx.Response) -> bytes:
        """Read the body before the deadline: httpx's own limit restarts with every byte that trickles in."""
        deadline = time.monotonic() + self._timeout
        content = bytearray()
        for piece in response.iter_bytes():
            content += piece
            if time.monotonic() > deadline:
                raise _TransientError(f"no complete answer within {self._timeout:g} s")
            if len(content) > LARGEST_BODY:
                raise EmbeddingError(f"the embedding server {self._shown_url} answered more than 512 MiB")
        return bytes(content)

    def _parse(self, response: httpx.Response, content: bytes) -> object:
        try:
            return json.loads(content)
        except (ValueError, RecursionError) as problem:
            kind = response.headers.get("content-type", "no content type")
            raise EmbeddingError(
                f"the embedding server {self._shown_url} answered something that is not JSON ({self._clean(kind)})",
                hint="check OPENAI_BASE_URL (it usually ends in /v1)",
            ) from problem

    def _failure(self, response: httpx.Response, content: bytes) -> Exception:
        """Turn a status into what to do about it."""
        status = response.status_code
        said = f"HTTP {status} {self._clean(_message(content))}".rstrip()
        if status in _REFUSED:
            return RefusedError(said)
        if status in _RETRIED:
            return _TransientError(said, _retry_after(response.headers.get("retry-after")))
        return EmbeddingError(
            f"the embedding server {self._shown_url} refused: {said}", hint=_HINTS.get(status)
        )

    def _clean(self, text: str) -> str:
        """Shorten to one line and take the key out: servers like to repeat it."""
        line = " ".join(text.split())
        return (line.replace(self._key, "[key]") if self._key else line)[:200]


def _embeddings_url(base_url: str) -> httpx.URL:
    with suppress(httpx.InvalidURL):
        url = httpx.URL(base_url.strip())
        if url.scheme in {"http", "https"} and url.host:
            return url.copy_with(path=url.path.rstrip("/") + "/embeddings")
    raise ConfigError(
        "OPENAI_BASE_URL is not an http(s) address", hint="example: OPENAI_BASE_URL=http://127.0.0.1:11434/v1"
    )


def _checked_key(key: str, url: httpx.URL) -> str:
    """Refuse a key that no header can carry: the client's own error would print it."""
    key = key.strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ConfigError(
            "OPENAI_API_KEY holds characters that no key has", hint="copy it again, without quotes"
        )
    if not key and url.host == "api.openai.com":
        raise ConfigError(
            "OPENAI_API_KEY is not set", hint="set it, or set OPENAI_BASE_URL to a server of your own"
        )
    return key


def _environment_timeout() -> float:
    text = os.environ.get(TIMEOUT_VARIABLE, "")
    try:
        seconds = float(text) if text else DEFAULT_TIMEOUT
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise InputError(f"{TIMEOUT_VARIABLE} must be a number of seconds above 0, not {text!r}")
    return seconds


def _message(content: bytes) -> str:
    """Find the server's words: ``error.message``, ``error``, ``detail`` or ``message``, else the raw text."""
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError):
        return content[:1000].decode(errors="replace")
    fields = parsed if isinstance(parsed, dict) else {}
    found = fields.get("error") or fields.get("detail") or fields.get("message") or ""
    return str(found.get("message", "") if isinstance(found, dict) else found)


def _retry_after(value: str | None) -> float | None:
    """Read seconds or an HTTP date (RFC 9110, 10.2.3); ``None`` for neither."""
    if value is None:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())
