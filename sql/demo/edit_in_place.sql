-- What nobody should do: another text under the same version. Works for a superuser with triggers switched off only.
update tracestore_data.document_version v
set content = %(content)s, content_sha256 = sha256(%(content)s), char_count = char_length(convert_from(%(content)s, 'UTF8'))
from tracestore_data.document d
join tracestore_data.collection c using (collection_id)
where v.doc_key = d.doc_key and c.slug = %(collection)s and d.doc_id = %(doc_id)s and v.version_id = %(version_id)s
