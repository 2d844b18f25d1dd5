"""What the tests of the SQL functions share."""

from tests.file_database import module_conn, module_dsn

__all__ = ["module_conn", "module_dsn"]
