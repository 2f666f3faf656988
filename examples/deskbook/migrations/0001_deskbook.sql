CREATE TYPE role AS ENUM ('member', 'administrator');
CREATE TABLE people (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  role role NOT NULL,
  password TEXT NOT NULL);

CREATE TABLE desks (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  code TEXT NOT NULL UNIQUE,
  floor INT NOT NULL,
  description TEXT NOT NULL,
  version BIGINT NOT NULL DEFAULT 1);
CREATE INDEX desks_by_floor ON desks (floor, code);

-- At any time a desk has one booking, and a person has one desk. Bookings that were cancelled or released do not count.
CREATE TYPE state AS ENUM ('booked', 'checked_in', 'cancelled', 'released');
CREATE TABLE bookings (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  desk_id BIGINT NOT NULL REFERENCES desks,
  person_id BIGINT NOT NULL REFERENCES people,
  starts TIMESTAMPTZ NOT NULL,
  ends TIMESTAMPTZ NOT NULL CHECK (ends > starts),
  note TEXT,
  state state NOT NULL DEFAULT 'booked',
  version BIGINT NOT NULL DEFAULT 1,
  CONSTRAINT desk_has_one_booking EXCLUDE USING gist (
    int8range(desk_id, desk_id, '[]') WITH &&, tstzrange(starts, ends) WITH &&)
    WHERE (state IN ('booked', 'checked_in')),
  CONSTRAINT person_has_one_desk EXCLUDE USING gist (
    int8range(person_id, person_id, '[]') WITH &&, tstzrange(starts, ends) WITH &&)
    WHERE (state IN ('booked', 'checked_in')));
CREATE INDEX bookings_by_person ON bookings (person_id, starts);
CREATE INDEX bookings_by_desk ON bookings (desk_id, starts);
CREATE INDEX bookings_by_start ON bookings (starts);
