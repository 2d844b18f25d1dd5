"""What the tests of properties that are compared with SQL share."""

from tests.file_database import module_conn, module_dsn

__all__ = ["module_conn", "module_dsn"]
