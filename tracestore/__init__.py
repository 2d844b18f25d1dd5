"""A retrieval store on Postgres and pgvector in which every hit is evidence."""
