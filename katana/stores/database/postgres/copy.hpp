// CopyIn: data for COPY … FROM STDIN, piece by piece. COPY … TO STDOUT is a stream of its rows:
// database.stream<std::string>("COPY users TO STDOUT (FORMAT csv)"). For the binary format it is
// a stream of std::vector<std::byte>.
//
//   auto copy = co_await postgres::copy_in(database, "COPY users (id, name) FROM STDIN");
//   if (!copy) …
//   co_await copy->write(postgres::copy_line(user));      // or your own text, in any pieces
//   Result<std::int64_t> rows = co_await copy->finish();  // destroyed without it: none is stored
//
// Owns       a connection, from copy_in() until finish().
// Borrows    the database, which outlives it.
// Thread     its executor's. One call at a time.
// Allocates  a piece of at most copy_piece_bytes; copy_line() its text.
// Fails      finish() with the server's error. Its row() is the index of the line; its text names
//            line and column, but no value. A copy that is not written for Options::stream_idle
//            has lost its connection: Kind::timeout.
// Invariant  write() returns when the socket has taken the piece. Therefore a slow server slows the
//            caller, and no more than a piece waits here. All rows are stored, or none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "katana/stores/database/database.hpp"

namespace katana::database::postgres {

// Sent at once; a longer piece is divided.
inline constexpr std::size_t copy_piece_bytes = 256 * 1024;

class [[nodiscard]] CopyIn {
 public:
  CopyIn(Backend& backend, Cursor* cursor) noexcept : backend_(&backend), cursor_(cursor) {}
  CopyIn(CopyIn&& other) noexcept
      : backend_(other.backend_), cursor_(std::exchange(other.cursor_, nullptr)) {}
  CopyIn& operator=(CopyIn&& other) noexcept {
    std::swap(backend_, other.backend_);
    std::swap(cursor_, other.cursor_);
    return *this;
  }
  ~CopyIn() {
    if (cursor_ != nullptr) backend_->close(*cursor_);
  }

  // Writes data in the format that the statement names; a piece may end within a line.
  Task<database::Result<void>> write(std::string data);
  // Ends the copy, and returns the number of rows stored.
  Task<database::Result<std::int64_t>> finish();

 private:
  Backend* backend_;
  Cursor* cursor_;
};

// The statement is a COPY … FROM STDIN, without parameters.
Task<database::Result<CopyIn>> copy_in(Database& database, Sql statement);

// Appends one field of the text format, escaped; without the tab that separates fields.
void append_copy_field(std::string& line, const Value& value);

// A row in COPY's text format, which is the one without (FORMAT …): the members of a described
// struct or a tuple in their order.
template <class R>
std::string copy_line(const R& row) {
  const Parameters<parameters_of<R>, texts_of<R>> fields(row);
  std::string line;
  for (const Value& value : fields.values()) {
    if (&value != fields.values().data()) line += '\t';
    append_copy_field(line, value);
  }
  return line += '\n';
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
