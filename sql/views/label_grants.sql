create view tracestore.label_grants with (security_invoker = true) as
select
  l.role_label_id,
  l.role,
  l.label,
  l.granted_at,
  l.granted_by,
  l.reason,
  l.revoked_at,
  l.revoked_by,
  l.revoke_reason,
  pg_catalog.to_regrole(pg_catalog.quote_ident(l.role)) is not null as role_exists
from tracestore_data.role_label l;
comment on view tracestore.label_grants is
  'Which role may read which label, and who could before. A reader sees the grants of its own roles.';
