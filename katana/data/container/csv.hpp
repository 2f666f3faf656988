// CSV (RFC 4180), in pieces: rows are read and written one at a time, whatever the file's size.
//
//   CsvReader reader({.has_header = true});
//   for (Text piece = co_await content.read(); !piece.empty(); piece = co_await content.read()) {
//     reader.add(piece.bytes());
//     while (const CsvRow* row = reader.next()) { … read_row<Product>(reader, *row) … }
//     if (!reader.problem()) …                      // stop: the text is no CSV
//   }
//   reader.finish();                                  // the last row may have no line end
//
//   append_csv_header<Product>(text);                 // the names of its members
//   append_csv_row(text, product);
//
// Lines end with CR LF or LF. A quoted field may contain separators, line ends and doubled quotes.
// A byte order mark at the beginning is skipped. An empty line is a row of one empty field.
//
// Owns       the row that is read.
// Thread     one at a time.
// Allocates  fields, which the next row uses again.
// Fails      problem() names the row and the field. Problems are a quote within a plain field, text
//            behind a closing quote, another number of fields than in the first row, and a limit.
// Invariant  pieces may be cut anywhere: the rows are the same. The reader holds only one row.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/text_form.hpp"
#include "katana/data/container/form_read.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/data/container/json_write.hpp"

namespace katana::container {

// The form of a file, and the limits of one row.
struct CsvOptions {
  char separator = ',';      // between fields; not a quote or a line end
  bool has_header = false;   // the first row has the names of the columns, and no data
  bool same_columns = true;  // each row has as many fields as the first one
  // Limits of one row; a larger row is a problem.
  std::size_t row_bytes_max = std::size_t{1} << 20;
  std::size_t columns_max = 1024;
};

// The fields of one row, without quotes. Valid until the reader takes the next row.
class CsvRow {
 public:
  std::size_t size() const noexcept { return count_; }
  // REQUIRES: index < size().
  const std::string& operator[](std::size_t index) const { return fields_[index]; }
  // The number of the row, from 1 and including the header; a line end in a field does not count.
  std::size_t number() const noexcept { return number_; }

 private:
  friend class CsvReader;
  std::vector<std::string> fields_;  // as many as in the longest row so far
  std::size_t count_ = 0;
  std::size_t number_ = 0;
};

// Reads rows from pieces of a file, which may end anywhere.
class CsvReader {
 public:
  explicit CsvReader(CsvOptions options = {}) : options_(options) {}

  // Adds a piece. REQUIRES that next() has returned null. Borrows the piece until next() returns
  // null again.
  void add(Bytes piece) noexcept { rest_ = piece; }
  // Tells that no more pieces come. next() then returns the rest as the last row.
  void finish() noexcept { is_finished_ = true; }
  // The next row, valid until the next call. Null: it needs another piece, or there is a problem.
  const CsvRow* next();

  // An Error once the text is no CSV; no row follows.
  const Result<void>& problem() const noexcept { return problem_; }
  // The names of the columns, once the first row was read. Empty without has_header.
  const std::vector<std::string>& header() const noexcept { return header_; }

 private:
  enum class State : std::uint8_t { row_begin, field_begin, plain, quoted, quote_in_quoted, cr };

  bool take(char c);
  bool take_at_begin(char c);
  void begin_field();
  bool end_row();
  bool refuse(const std::string& what);

  const CsvOptions options_;
  Bytes rest_;
  CsvRow row_;
  std::vector<std::string> header_;
  Result<void> problem_;
  State state_ = State::row_begin;
  std::size_t row_bytes_ = 0;
  std::size_t columns_ = 0;  // number of columns in the first row
  std::size_t mark_ = 0;     // number of bytes of a byte order mark that were read
  bool is_finished_ = false;
  bool is_whole_ = false;  // the row was given, and the next byte begins another
};

// Appends a field, in quotes where it needs them.
void append_csv_field(std::string& to, Bytes field, char separator = ',');

// Reads a row as a described struct, by the names of the header, and checks the rules of its
// members. Columns without a member are ignored. An empty field leaves an optional member empty.
template <Described T>
Result<T> read_row(const CsvReader& reader, const CsvRow& row) {
  FormTree tree;
  for (std::size_t index = 0; index < row.size() && index < reader.header().size(); ++index) {
    bool is_wanted = false;
    for_each_field<T>([&](const auto& field) {
      constexpr bool may_lack = is_optional<MemberOf<decltype(field)>>;
      if (field.name != reader.header()[index]) return;
      is_wanted = !may_lack || !row[index].empty();
    });
    if (!is_wanted) continue;
    if (auto added = tree.add_plain(reader.header()[index], FormLeaf{row[index]}); !added) {
      return std::unexpected(added.error());
    }
  }
  T value;
  Findings findings;
  if (read_form(tree, value, findings)) return value;
  return fail(Code::invalid_argument,
              "row " + std::to_string(row.number()) + ": " + findings.error().describe());
}

namespace detail {

// Appends text unchanged, numbers and booleans in the form of JSON, and other values as JSON.
template <class M>
void append_csv_member(std::string& to, const M& member, char separator) {
  if constexpr (is_optional<M>) {
    if (member) append_csv_member(to, *member, separator);
  } else if constexpr (std::convertible_to<const M&, Bytes>) {
    append_csv_field(to, member, separator);
  } else {
    std::string json = to_json(member);
    if (json.starts_with('"')) {
      if (auto text = read_json<std::string>(json)) json = *std::move(text);
    }
    append_csv_field(to, json, separator);
  }
}

}  // namespace detail

// Appends a line with the names of the members.
template <Described T>
void append_csv_header(std::string& to, char separator = ',') {
  bool is_first = true;
  for_each_field<T>([&](const auto& field) {
    if (!std::exchange(is_first, false)) to += separator;
    append_csv_field(to, field.name, separator);
  });
  to += "\r\n";
}

// Appends a line with the members. An empty std::optional is an empty field.
template <Described T>
void append_csv_row(std::string& to, const T& value, char separator = ',') {
  bool is_first = true;
  for_each_field(value, [&](const auto&, const auto& member) {
    if (!std::exchange(is_first, false)) to += separator;
    detail::append_csv_member(to, member, separator);
  });
  to += "\r\n";
}

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
