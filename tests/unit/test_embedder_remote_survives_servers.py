"""``openai:MODEL`` against a server that answers well, badly, late, partly or not at all."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tracestore.embedders import embed_passages, embed_query, load_embedder, plan_truncation
from tracestore.embedders.remote import OpenAIEmbedder
from tracestore.errors import ConfigError, EmbeddingError, InputError
from tracestore.recipes import PROBE_TEXT, parse_recipe_id, probe_vector

httpx = pytest.importorskip("httpx", reason="needs the extra tracestore[openai]")
pytest.importorskip("tenacity", reason="needs the extra tracestore[openai]")

from tracestore.embedders import remote_http  # noqa: E402 - only where the extra is installed
from tracestore.embedders.remote_http import HttpEndpoint, RetryPolicy  # noqa: E402

CASES = Path(__file__).parents[1] / "cases"
KEY = "sk-secret-5f2c"
QUICK = RetryPolicy(attempts=3, first_wait=0.001, longest_wait=0.002)

Reply = tuple[int, dict[str, str], bytes]
Script = Callable[[dict[str, Any]], Reply]


def vectors(payload: dict[str, Any]) -> Reply:
    """Embed the length and the first letter; the last input first."""
    data = [
        {"index": index, "embedding": [float(len(text)), float(ord(text[0])), 1.0]}
        for index, text in enumerate(payload["input"])
    ]
    return 200, {"Content-Type": "application/json"}, json.dumps({"data": data[::-1]}).encode()


def case(name: str) -> Script:
    body = (CASES / f"embeddings-{name}.json").read_bytes()
    return lambda _payload: (200, {"Content-Type": "application/json"}, body)


class Server:
    """Plays a list of replies, the last one for ever, and keeps what it was sent."""

    def __init__(self) -> None:
        self.script: list[Script] = [vectors]
        self.payloads: list[dict[str, Any]] = []
        self.requests: list[tuple[str, str | None]] = []
        self.release = threading.Event()
        self._lock = threading.Lock()
        self.url = ""

    def reply(self, path: str, key: str | None, payload: dict[str, Any]) -> Reply:
        with self._lock:
            self.requests.append((path, key))
            self.payloads.append(payload)
            step = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        return step(payload)

    def hang(self, payload: dict[str, Any]) -> Reply:
        self.release.wait()
        return vectors(payload)

    @property
    def sent(self) -> list[list[str]]:
        return [payload["input"] for payload in self.payloads]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Run a server of this process on a free port of 127.0.0.1."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    played = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, headers, body = played.reply(self.path, self.headers.get("Authorization"), payload)
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(ConnectionError):  # the client has given up
                self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Write nothing: stderr belongs to the test."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        played.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        yield played
        played.release.set()
        http.shutdown()
        thread.join()


def connect(server: Server, recipe_id: str = "openai:m;dim=3", **options: Any) -> OpenAIEmbedder:
    options = {"timeout": 20.0, "retries": QUICK, **options}
    return OpenAIEmbedder(parse_recipe_id(recipe_id), HttpEndpoint(server.url, KEY, **options))


def failing(status: int, body: bytes = b"", **headers: str) -> Script:
    return lambda _payload: (status, {name.replace("_", "-"): value for name, value in headers.items()}, body)


def test_texts_get_their_own_vectors_and_the_request_is_the_standard_one(server: Server) -> None:
    texts = ["alpha", "be", "gamma ray", "d"]
    found = embed_passages(connect(server), texts, batch_size=3)
    for text, vector in zip(texts, found, strict=True):
        assert vector is not None
        assert vector[:2] / vector[2] == pytest.approx([len(text), ord(text[0])], rel=1e-5)
    assert server.requests == [("/v1/embeddings", f"Bearer {KEY}")] * 2
    assert server.payloads[0] == {
        "model": "m",
        "input": ["alpha", "be", "gamma ray"],
        "encoding_format": "float",
        "dimensions": 3,
    }


def test_without_dim_the_server_is_asked_once_with_the_probe_text(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url + "/")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    embedder = load_embedder("openai:org/m:latest;max_tokens=4")
    assert (embedder.recipe.dimension, embedder.recipe.model) == (3, "org/m:latest")
    assert server.sent == [[PROBE_TEXT]]
    assert "dimensions" not in server.payloads[0]
    assert probe_vector(embedder).shape == (3,)
    assert plan_truncation(embedder, ["one two", "one two three four five"]) == [False, True]


def test_prefixes_are_added_by_kind(server: Server) -> None:
    embedder = connect(server, "openai:m;dim=3;passage=passage%3A%20;query=query%3A%20")
    embed_passages(embedder, ["text"])
    embed_query(embedder, "question")
    assert server.sent == [["passage: text"], ["query: question"]]


@pytest.mark.parametrize(
    ("name", "count", "at_fault"),
    [("short", 3, ["t1"]), ("nan", 5, ["t1", "t2", "t4"]), ("mixed-dims", 2, ["t1"])],
)
def test_wrong_answers_are_errors_that_name_the_inputs(
    server: Server, name: str, count: int, at_fault: list[str]
) -> None:
    server.script = [case(name)]
    with pytest.raises(EmbeddingError) as caught:
        embed_passages(connect(server), [f"t{i}" for i in range(count)])
    assert list(caught.value.inputs) == at_fault
    assert f"input {at_fault[0][1:]} 't" in caught.value.message
    assert len(server.sent) == 1


def test_out_of_order_answers_are_paired(server: Server) -> None:
    server.script = [case("out-of-order")]
    found = embed_passages(connect(server), ["t0", "t1", "t2"])
    assert [vector.tolist() for vector in found if vector is not None] == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_passing_failures_are_tried_again(server: Server, status: int) -> None:
    server.script = [failing(status), failing(status), vectors]
    assert embed_passages(connect(server), ["text"])[0] is not None
    assert len(server.sent) == 3


def test_lasting_failures_end_after_the_last_attempt(server: Server) -> None:
    server.script = [failing(503, b'{"error": {"message": "model is\\n loading"}}')]
    with pytest.raises(EmbeddingError, match="failed 3 times, last: HTTP 503 model is loading") as caught:
        embed_passages(connect(server), ["text"])
    assert len(server.sent) == 3
    assert server.url in caught.value.message


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        ("7", 7.0, 7.0),
        ("0", 0.0, 0.0),
        ("99999", 30.0, 30.0),
        (format_datetime(datetime.now(UTC) + timedelta(days=1), usegmt=True), 30.0, 30.0),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0.0, 0.0),
        ("soon", 0.5, 1.0),
        ("-5", 0.5, 1.0),
    ],
    ids=["seconds", "zero", "days", "tomorrow", "past", "words", "negative"],
)
def test_retry_after_is_followed_up_to_a_cap(
    server: Server, monkeypatch: pytest.MonkeyPatch, header: str, least: float, most: float
) -> None:
    waits: list[float] = []
    monkeypatch.setattr("tenacity.nap.time.sleep", waits.append)
    server.script = [failing(429, Retry_After=header), vectors]
    policy = RetryPolicy(attempts=2, first_wait=1.0, longest_wait=30.0)
    assert embed_passages(connect(server, retries=policy), ["text"])[0] is not None
    (wait,) = waits
    assert least <= wait <= most


def test_waits_double_up_to_the_cap(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("tenacity.nap.time.sleep", waits.append)
    monkeypatch.setattr("tracestore.embedders.remote_http.random.uniform", lambda _low, high: high)
    server.script = [failing(500)]
    policy = RetryPolicy(attempts=6, first_wait=1.0, longest_wait=5.0)
    with pytest.raises(EmbeddingError, match="failed 6 times"):
        embed_passages(connect(server, retries=policy), ["text"])
    assert waits == [1.0, 2.0, 4.0, 5.0, 5.0]


def small_only(payload: dict[str, Any]) -> Reply:
    """Refuse more than 20 characters, as a server with a request limit does."""
    if sum(len(text) for text in payload["input"]) > 20:
        return 413, {}, b"request entity too large"
    return vectors(payload)


def test_a_batch_too_large_is_halved(server: Server) -> None:
    server.script = [small_only]
    texts = [f"text number {i}" for i in range(5)]
    found = embed_passages(connect(server), texts)
    assert all(vector is not None for vector in found)
    assert [len(batch) for batch in server.sent] == [5, 2, 1, 1, 3, 1, 2, 1, 1]
    answered = [batch[0] for batch in server.sent if len(batch) == 1]
    assert answered == texts


@pytest.mark.parametrize("status", [400, 413, 422])
def test_an_input_too_large_by_itself_is_named(server: Server, status: int) -> None:
    def refuse(payload: dict[str, Any]) -> Reply:
        if any(len(text) > 20 for text in payload["input"]):
            return status, {}, b'{"error": {"message": "context length exceeded"}}'
        return vectors(payload)

    server.script = [refuse]
    texts = ["a", "b", " ", "c", "long " * 100, "d"]
    with pytest.raises(
        EmbeddingError, match=rf"HTTP {status} context length exceeded: input 4 'long "
    ) as caught:
        embed_passages(connect(server), texts)
    assert caught.value.inputs == (("long " * 100)[:60] + "…",)


@pytest.mark.parametrize(
    ("status", "hint"), [(401, "OPENAI_API_KEY"), (403, "OPENAI_API_KEY"), (404, "OPENAI_BASE_URL")]
)
def test_a_wrong_key_or_address_is_not_tried_again(server: Server, status: int, hint: str) -> None:
    server.script = [failing(status, f'{{"error": {{"message": "Incorrect key {KEY} given"}}}}'.encode())]
    with pytest.raises(EmbeddingError) as caught:
        embed_passages(connect(server), ["text"])
    assert len(server.sent) == 1
    assert hint in (caught.value.hint or "")
    assert "Incorrect key [key] given" in caught.value.message


@pytest.mark.parametrize("status", [301, 204])
def test_any_other_status_is_an_error(server: Server, status: int) -> None:
    server.script = [failing(status, Location="http://127.0.0.1:9/v1/embeddings")]
    with pytest.raises(EmbeddingError, match=f"refused: HTTP {status}"):
        embed_passages(connect(server), ["text"])


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"<html><body>Sign in</body></html>", r"not JSON \(text/html\)"),
        (b"", "not JSON"),
        (b'{"data": [', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b'"text"', "without a list 'data'"),
        (b'{"object": "list"}', "without a list 'data'"),
    ],
)
def test_status_200_with_something_else_is_an_error(server: Server, body: bytes, says: str) -> None:
    server.script = [failing(200, body, Content_Type="text/html")]
    with pytest.raises(EmbeddingError, match=says) as caught:
        embed_passages(connect(server), ["text"])
    assert "OPENAI_BASE_URL" in (caught.value.hint or "")


def test_a_server_that_hangs_is_given_up(server: Server) -> None:
    server.script = [server.hang]
    with pytest.raises(EmbeddingError, match=r"failed 3 times, last: no answer within 0\.05 s"):
        embed_passages(connect(server, timeout=0.05), ["text"])


def test_an_answer_that_trickles_past_the_deadline_is_given_up(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(0, 10_000, 50))
    monkeypatch.setattr(remote_http.time, "monotonic", lambda: float(next(clock)))
    with pytest.raises(EmbeddingError, match="last: no complete answer within 20 s"):
        embed_passages(connect(server), ["text"])


def test_an_answer_without_end_is_given_up(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_http, "LARGEST_BODY", 10)
    with pytest.raises(EmbeddingError, match="answered more than"):
        embed_passages(connect(server), ["text"])


def test_an_answer_cut_off_is_tried_again(server: Server) -> None:
    def cut(payload: dict[str, Any]) -> Reply:
        status, headers, body = vectors(payload)
        return status, {**headers, "Content-Length": str(len(body) + 100), "Connection": "close"}, body

    server.script = [cut, vectors]
    assert embed_passages(connect(server), ["text"])[0] is not None
    assert len(server.sent) == 2


def test_a_refused_connection_is_one_sentence() -> None:
    with socket.socket() as taken:  # bound and not listening: nobody else gets the port
        taken.bind(("127.0.0.1", 0))
        server = Server()
        server.url = f"http://user:{KEY}@127.0.0.1:{taken.getsockname()[1]}/v1?api-key={KEY}"
        with pytest.raises(EmbeddingError, match="failed 3 times, last: ") as caught:
            embed_passages(connect(server), ["text"])
    assert KEY not in caught.value.message
    assert "\n" not in caught.value.message


def test_the_query_of_an_address_is_kept(server: Server) -> None:
    server.url += "?api-version=2024-10-21"
    embed_passages(connect(server), ["text"])
    assert server.requests[0][0] == "/v1/embeddings?api-version=2024-10-21"


def test_the_key_is_in_no_representation(server: Server) -> None:
    embedder = connect(server)
    assert KEY not in f"{embedder!r} {vars(embedder)!r}"


@pytest.mark.parametrize("key", ["sk-a b", "sk-ü", "sk-a\nb", "“sk-a”"])
def test_a_key_that_no_header_carries_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(ConfigError, match="OPENAI_API_KEY") as caught:
        HttpEndpoint("http://127.0.0.1/v1", key)
    assert "sk-" not in caught.value.message


@pytest.mark.parametrize("url", ["127.0.0.1:80/v1", "ftp://host/v1", "http://", "http://[::1", "\x00"])
def test_a_bad_address_is_one_sentence(url: str) -> None:
    with pytest.raises(ConfigError, match="OPENAI_BASE_URL is not an http"):
        HttpEndpoint(url, KEY)


def test_without_a_key_the_public_service_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="OPENAI_API_KEY is not set"):
        load_embedder("openai:text-embedding-3-small;dim=512")


def test_a_server_of_ones_own_needs_no_key(server: Server) -> None:
    endpoint = HttpEndpoint(server.url, retries=QUICK)
    embed_passages(OpenAIEmbedder(parse_recipe_id("openai:m;dim=3"), endpoint), ["text"])
    endpoint.close()
    assert server.requests == [("/v1/embeddings", None)]


@pytest.mark.parametrize("value", ["0", "-1", "soon", "inf", "nan"])
def test_the_time_limit_is_a_number_of_seconds(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("TRACESTORE_EMBEDDING_TIMEOUT", value)
    with pytest.raises(InputError, match="TRACESTORE_EMBEDDING_TIMEOUT"):
        HttpEndpoint("http://127.0.0.1/v1")


def test_the_time_limit_can_be_set(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACESTORE_EMBEDDING_TIMEOUT", "0.05")
    server.script = [server.hang]
    with pytest.raises(EmbeddingError, match=r"within 0\.05 s"):
        embed_passages(connect(server, timeout=None), ["text"])
