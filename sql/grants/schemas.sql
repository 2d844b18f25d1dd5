-- Nobody but the owner of the store gets anything that was not granted.
revoke all on schema tracestore_data from public;
revoke all on schema tracestore from public;
