-- AUTOINCREMENT: a token names its user by id, so the id of a user who is gone is never given again.
CREATE TABLE users (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  email TEXT NOT NULL UNIQUE COLLATE NOCASE,
  username TEXT NOT NULL UNIQUE,
  password TEXT NOT NULL,
  bio TEXT, image TEXT) STRICT;
CREATE TABLE follows (
  follower_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
  followed_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
  PRIMARY KEY (follower_id, followed_id)) STRICT, WITHOUT ROWID;
CREATE TABLE articles (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  author_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
  slug TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL, description TEXT NOT NULL, body TEXT NOT NULL,
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL) STRICT;
CREATE INDEX articles_by_author ON articles (author_id);
CREATE INDEX articles_by_time ON articles (created_at, id);
CREATE TABLE tags (
  tag TEXT NOT NULL,
  article_id INTEGER NOT NULL REFERENCES articles ON DELETE CASCADE,
  PRIMARY KEY (tag, article_id)) STRICT, WITHOUT ROWID;
CREATE INDEX tags_by_article ON tags (article_id, tag);
CREATE TABLE favorites (
  user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
  article_id INTEGER NOT NULL REFERENCES articles ON DELETE CASCADE,
  PRIMARY KEY (article_id, user_id)) STRICT, WITHOUT ROWID;
CREATE INDEX favorites_by_user ON favorites (user_id);
CREATE TABLE comments (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  article_id INTEGER NOT NULL REFERENCES articles ON DELETE CASCADE,
  author_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
  body TEXT NOT NULL, created_at TEXT NOT NULL) STRICT;
CREATE INDEX comments_by_article ON comments (article_id);
