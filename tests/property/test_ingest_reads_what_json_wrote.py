"""Whatever text a JSON writer puts in a line comes out of it byte for byte."""

from __future__ import annotations

import io
import json

from hypothesis import given
from hypothesis import strategies as st

from tracestore.errors import DocumentError
from tracestore.ingest import SourceDocument, read_stream

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(texts=st.lists(texts, min_size=1), ascii_only=st.booleans(), ending=st.sampled_from(["\n", "\r\n"]))
def test_texts_survive_the_trip(texts: list[str], ascii_only: bool, ending: str) -> None:
    lines = [
        json.dumps({"doc_id": f"d{n}", "text": text}, ensure_ascii=ascii_only) for n, text in enumerate(texts)
    ]
    raw = ending.join(lines).encode()
    found = list(read_stream(io.BytesIO(raw), "in"))
    assert [d.content for d in found if isinstance(d, SourceDocument)] == [text.encode() for text in texts]


@given(
    raw=st.binary() | st.text(st.sampled_from('{}[]",:\\u0dD8 \n"doc_id"text'), max_size=60).map(str.encode)
)
def test_any_bytes_are_documents_or_errors_that_name_their_line(raw: bytes) -> None:
    for item in read_stream(io.BytesIO(raw), "in"):
        assert isinstance(item, SourceDocument | DocumentError)
        assert item.source.startswith("in line ")
