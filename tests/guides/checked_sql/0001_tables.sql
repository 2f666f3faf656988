CREATE TABLE orders (id INTEGER PRIMARY KEY, total INTEGER NOT NULL) STRICT;
CREATE TABLE customers (name TEXT PRIMARY KEY NOT NULL, city TEXT NOT NULL,
  latest_order INTEGER REFERENCES orders (id)) STRICT;
CREATE INDEX customers_by_city ON customers (city);
