// Types of PostgreSQL: how values of the program become parameters, and columns become values.
//
//   column                                       Value                         parameter from
//   bool                                         integer 0 or 1                integer 0 or 1
//   int2 int4 int8 oid                           integer                       integer
//   float4 float8                                real                          real, integer
//   text varchar bpchar name json xml, an enum   text                          text
//   jsonb                                        text                          text
//   bytea                                        blob                          blob
//   numeric                                      text as Decimal reads it      text, integer, real
//   timestamptz                                  text as Timestamp reads it    text
//   timestamp                                    the same without its zone     text
//   date                                         text as Date reads it         text
//   interval                                     text as a duration reads it   text
//   uuid                                         text                          text
//   an array of these but bytea                  text as array_text.hpp has it  the same
//   a composite of these but bytea               text as composite_text.hpp     the same
//   a domain                                     as what it is made of
//   int4range … daterange                        text as Range reads it        text
//   void                                         null
//
// Columns come in the binary format. A parameter whose type has a form here goes in binary. Any
// other goes as text, which the database reads as a literal (decision 0094).
//
// Owns       Arguments the bytes that it made, until the next call's.
// Borrows    the bytes that a Value refers to.
// Thread     one.
// Allocates  Arguments and the texts of columns: both are kept and used again.
// Fails      with a text that names the reason.
// Invariant  bytes that do not fit the type give Value::Type::broken, which fits no member, and are
//            never read beyond their end. The type bounds the values made of them: an array has no
//            more elements than bytes, a numeric no more than 32,767 times 4 digits.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "katana/stores/database/postgres/protocol.hpp"
#include "katana/stores/database/value.hpp"

namespace katana::database::postgres {

// The form in which bytes of the binary format are read and written.
enum class Form : std::uint8_t {
  unknown,  // none of the table
  boolean,  // bool, as the next ones under the names that PostgreSQL has for them
  int2,
  int4,
  int8,
  oid,
  float4,
  float8,
  text,
  jsonb,
  bytea,
  numeric,
  timestamptz,
  timestamp,
  date,
  interval,
  uuid,
  array,      // of any element that has a form; its type is in the bytes
  composite,  // of the schema, with fields that have a form: see type_table.hpp
  int4range,
  int8range,
  numrange,
  tsrange,
  tstzrange,
  daterange,
  nothing,  // void
};

class TypeTable;

inline constexpr std::size_t dimensions_max = 6;  // of an array, as the server has it

// The form of a type of the database itself; only a connection knows the types of its schema.
Form form_of(std::uint32_t type) noexcept;

// Reads a column. `text` gets the text of a column that has none in the binary format.
Value decode(const TypeTable& types, std::uint32_t type, Form form, Bytes octets,
             std::string& text);
// The same for a type of the database itself.
Value decode(Form form, Bytes octets, std::string& text);

// The parameters of one statement, as protocol::Bind takes them.
class Arguments {
 public:
  // Takes the values. Null: it has them all. Otherwise the result names the mistake of value number
  // failed_at(), counted from 1, and is valid until the next call. `table`: the schema's types.
  const char* take(std::span<const Value> values, std::span<const std::uint32_t> types,
                   const TypeTable& table);
  std::size_t failed_at() const noexcept { return values_.size() + 1; }

  // The parameters that were taken, until the next call of take().
  std::span<const protocol::Value> values() const noexcept { return values_; }
  std::span<const protocol::Format> formats() const noexcept { return formats_; }  // of each

 private:
  void add(Bytes bytes, bool binary);
  void add_null();
  void add_text(Bytes text);
  template <class T>
  void add_number(T number);
  const char* take_integer(std::int64_t number, Form form);
  const char* take_real(double number, Form form);
  const char* take_text(Bytes text, std::uint32_t type, Form form, const TypeTable& table);
  const char* take_literal(Bytes json, std::uint32_t type, const TypeTable& table);

  std::vector<protocol::Value> values_;
  std::vector<protocol::Format> formats_;
  std::vector<char> made_;            // reserved for all of a call, so that it does not move
  std::deque<std::string> literals_;  // of arrays and composites
  std::string why_;
};

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
