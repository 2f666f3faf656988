-- As of SQLite's NOCASE and BINARY, so that one text of each statement serves both databases.
CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE COLLATION "binary" FROM "C";
CREATE TABLE users (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT COLLATE nocase NOT NULL UNIQUE,
  version BIGINT NOT NULL DEFAULT 1,
  created_at TIMESTAMPTZ NOT NULL DEFAULT date_trunc('second', now()),
  updated_at TIMESTAMPTZ NOT NULL DEFAULT date_trunc('second', now())
);
