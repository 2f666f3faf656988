CREATE TABLE bookmarks (
  id INTEGER PRIMARY KEY,
  owner TEXT NOT NULL,
  url TEXT NOT NULL,
  title TEXT,
  added TEXT NOT NULL,
  UNIQUE (owner, url)
) STRICT;
