CREATE TYPE mood AS ENUM ('glad', 'sad');
CREATE TABLE users (
  id bigint PRIMARY KEY,
  name text NOT NULL,
  email text UNIQUE,
  age integer NOT NULL,
  score double precision NOT NULL,
  photo bytea,
  token uuid NOT NULL
);
CREATE TABLE orders (
  id bigint PRIMARY KEY,
  user_id bigint NOT NULL REFERENCES users (id),
  total bigint NOT NULL
);
CREATE INDEX orders_by_user ON orders (user_id);
CREATE TABLE extras (
  id bigint PRIMARY KEY,
  tags text[] NOT NULL,
  mood mood NOT NULL,
  made timestamptz NOT NULL,
  price numeric(10, 2) NOT NULL
);
CREATE TYPE place AS (street text, zip bigint);
CREATE TABLE homes (
  id bigint PRIMARY KEY,
  place place,
  others place[] NOT NULL
);
