// The bodies of a server's messages: each is checked whole once, and then read in place.
//
//   if (check_fields(body) == Refusal::none) {
//     Fields fields(body);
//     for (Field field; fields.next(field);) …
//   }
//
// check(type, body) checks any message by its type. A view of a body that was not checked, or is
// malformed, ends early; it never reads beyond the body.
//
// Borrows    the body: every text and value is a view of it.
// Thread     any.
// Allocates  never.
// Fails      a check with the Refusal that says what is malformed.
// Invariant  a body that passed its check has exactly as many parts as it says, and no other bytes.
// Source     PostgreSQL 18, "Message Formats", "Error and Notice Message Fields"
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/postgres/byte_reader.hpp"
#include "katana/wire/postgres/frame.hpp"
#include "katana/wire/postgres/refusal.hpp"

namespace katana::postgres {

// How a value is written.
enum class Format : std::uint16_t { text = 0, binary = 1 };

// A column of a result.
struct Field {
  // The name of the column.
  Bytes name;
  std::uint32_t table = 0;       // OID; 0: not a column of a table
  std::uint16_t column = 0;      // its number in that table, from 1
  std::uint32_t type = 0;        // OID
  std::int16_t type_bytes = 0;   // negative: of variable size
  std::int32_t modifier = 0;     // as the 12 of numeric(12, 2); its meaning depends on the type
  Format format = Format::text;  // text: also of columns whose format is not known yet
};

// RowDescription: the columns of a result.
class Fields {
 public:
  explicit Fields(Bytes body) noexcept : reader_(body), count_(reader_.take_16()) {}
  // The number of columns.
  std::uint16_t count() const noexcept { return count_; }
  // False behind the last one.
  bool next(Field& field) noexcept;

 private:
  ByteReader reader_;
  std::uint16_t count_;
  std::uint16_t taken_ = 0;
};

// A value of a row, or of a parameter.
struct Value {
  Bytes bytes = {};  // of NULL empty
  // True: SQL's NULL, without bytes.
  bool is_null = false;
};

// DataRow: the values of one row.
class Row {
 public:
  explicit Row(Bytes body) noexcept : reader_(body), count_(reader_.take_16()) {}
  // The number of values.
  std::uint16_t count() const noexcept { return count_; }
  // False behind the last one.
  bool next(Value& value) noexcept;

 private:
  ByteReader reader_;
  std::uint16_t count_;
  std::uint16_t taken_ = 0;
};

// Reads all values of a row at once. One without data is NULL: an empty one points into the body.
// Returns how many there are. REQUIRES a checked DataRow, and room for its values.
std::uint16_t read_row(Bytes body, std::span<Bytes> values) noexcept;
// Checks a row and reads it, in one pass. False: it is malformed, or has not exactly as many values
// as there is room for; those that were read are unspecified.
bool take_row(Bytes body, std::span<Bytes> values) noexcept;

// ParameterDescription: the types of a statement's parameters.
class ParameterTypes {
 public:
  explicit ParameterTypes(Bytes body) noexcept : reader_(body), count_(reader_.take_16()) {}
  // The number of parameters.
  std::uint16_t count() const noexcept { return count_; }
  // An OID; false behind the last one.
  bool next(std::uint32_t& type) noexcept;

 private:
  ByteReader reader_;
  std::uint16_t count_;
  std::uint16_t taken_ = 0;
};

// CopyInResponse, CopyOutResponse.
class CopyFormats {
 public:
  explicit CopyFormats(Bytes body) noexcept
      : reader_(body), is_binary_(reader_.take_8() == 1), count_(reader_.take_16()) {}
  // True: COPY's binary format; false: lines of text or CSV.
  bool is_binary() const noexcept { return is_binary_; }
  // The number of columns; 0 is possible.
  std::uint16_t count() const noexcept { return count_; }
  // The format of the next column; false behind the last one.
  bool next(Format& format) noexcept;

 private:
  ByteReader reader_;
  bool is_binary_;
  std::uint16_t count_;
  std::uint16_t taken_ = 0;
};

// CommandComplete: "INSERT 0 5", "SELECT 3", "CREATE TABLE".
struct Tag {
  // The whole tag, as in "INSERT 0 1".
  Bytes text;
  std::optional<std::uint64_t> rows;  // its last word, if that is a number
};
// REQUIRES a checked CommandComplete.
Tag tag_of(Bytes body) noexcept;

// ErrorResponse and NoticeResponse. A field that the server did not send is empty.
struct Report {
  Bytes severity;  // ERROR, FATAL, PANIC, WARNING, …; not translated since PostgreSQL 9.6
  Bytes sqlstate;  // five characters
  Bytes message;   // translated
  Bytes detail;
  // A proposal of the server; empty: none.
  Bytes hint;
  Bytes position;           // in the statement, from 1, in characters
  Bytes internal_position;  // in internal_query
  // A statement that a function of the server ran; empty: none.
  Bytes internal_query;
  Bytes where;  // such as the functions around it
  // The schema of the object; empty: none.
  Bytes schema;
  // The table of the object; empty: none.
  Bytes table;
  // The column of the object; empty: none.
  Bytes column;
  Bytes type;  // of data
  // The constraint that was broken; empty: none.
  Bytes constraint;
  Bytes file;  // of the server's source
  // The line in the source of the server.
  Bytes line;
  // The function in the source of the server.
  Bytes routine;

  // The server closes the connection behind it.
  bool is_fatal() const noexcept { return severity == "FATAL" || severity == "PANIC"; }
};
// REQUIRES a checked ErrorResponse or NoticeResponse.
Report report_of(Bytes body) noexcept;

// ParameterStatus: a setting of the session that the server reports.
struct Setting {
  // The name of the parameter, as in "TimeZone".
  Bytes name;
  // The present value.
  Bytes value;
};
// REQUIRES a checked ParameterStatus.
Setting setting_of(Bytes body) noexcept;

// NotificationResponse: of NOTIFY.
struct Notification {
  std::uint32_t process = 0;  // the server's process that sent it
  // The channel of NOTIFY.
  Bytes channel;
  // The text of NOTIFY; empty: none.
  Bytes payload;
};
// REQUIRES a checked NotificationResponse.
Notification notification_of(Bytes body) noexcept;

// BackendKeyData: what cancels the statements of this session.
struct BackendKey {
  // The process of the server that serves the connection.
  std::uint32_t process = 0;
  Bytes key;  // secret; 4 bytes, and 4 to 256 with protocol 3.2
};
// REQUIRES a checked BackendKeyData.
BackendKey backend_key_of(Bytes body) noexcept;

// ReadyForQuery.
enum class Transaction : char { idle = 'I', open = 'T', failed = 'E' };
// REQUIRES a checked ReadyForQuery.
Transaction transaction_of(Bytes body) noexcept;

// Each checks one body whole.
Refusal check_fields(Bytes body) noexcept;
Refusal check_row(Bytes body) noexcept;
Refusal check_parameter_types(Bytes body) noexcept;
Refusal check_copy_formats(Bytes body) noexcept;
Refusal check_tag(Bytes body) noexcept;
Refusal check_report(Bytes body) noexcept;
Refusal check_setting(Bytes body) noexcept;
Refusal check_notification(Bytes body) noexcept;
Refusal check_transaction(Bytes body) noexcept;
// By the type. Authentication, BackendKeyData and NegotiateProtocolVersion depend on the state of
// a start, which checks them: they pass here.
Refusal check(Reply type, Bytes body) noexcept;

}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
