CREATE TABLE users (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT UNIQUE,
  age INTEGER NOT NULL,
  score REAL NOT NULL,
  photo BLOB,
  token TEXT NOT NULL
) STRICT;
CREATE TABLE orders (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES users (id),
  total INTEGER NOT NULL
) STRICT;
CREATE INDEX orders_by_user ON orders (user_id);
