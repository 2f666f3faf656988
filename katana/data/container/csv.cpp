#include "katana/data/container/csv.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace katana::container {
namespace {

constexpr Bytes byte_order_mark = "\xef\xbb\xbf";

}  // namespace

bool CsvReader::refuse(const std::string& what) {
  problem_ = fail(Code::invalid_argument,
                  fmt::format("row {}, field {}: {}", row_.number_, row_.count_, what));
  return false;
}

void CsvReader::begin_field() {
  if (row_.fields_.size() == row_.count_) row_.fields_.emplace_back();
  row_.fields_[row_.count_++].clear();
}

// Takes a character at the beginning of a field.
bool CsvReader::take_at_begin(char c) {
  if (c == '"') {
    state_ = State::quoted;
    return true;
  }
  state_ = State::plain;
  return take(c);
}

bool CsvReader::take(char c) {
  std::string& field = row_.fields_[row_.count_ - 1];
  switch (state_) {
    case State::row_begin:
    case State::field_begin: return take_at_begin(c);
    case State::quoted:
      if (c == '"') {
        state_ = State::quote_in_quoted;
      } else {
        field += c;
      }
      return true;
    case State::quote_in_quoted:
      if (c == '"') {
        field += c;
        state_ = State::quoted;
        return true;
      }
      break;
    case State::plain:
      if (c == '"') return refuse("a quote within a field that has none at its beginning");
      break;
    case State::cr:
      if (c == '\n') return end_row();
      return refuse("a CR without LF; a field with line ends stands in quotes");
  }
  if (c == '\n') return end_row();
  if (c == '\r') {
    state_ = State::cr;
  } else if (c == options_.separator) {
    if (row_.count_ == options_.columns_max) {
      return refuse(fmt::format("more than {} fields", options_.columns_max));
    }
    begin_field();
    state_ = State::field_begin;
  } else if (state_ == State::quote_in_quoted) {
    return refuse("text behind a closing quote");
  } else {
    field += c;
  }
  return true;
}

bool CsvReader::end_row() {
  state_ = State::row_begin;
  if (columns_ == 0) columns_ = row_.count_;
  if (options_.same_columns && row_.count_ != columns_) {
    return refuse(
        fmt::format("the row has {} fields, and the first one has {}", row_.count_, columns_));
  }
  if (options_.has_header && header_.empty()) {
    header_.assign(row_.fields_.begin(),
                   row_.fields_.begin() + static_cast<std::ptrdiff_t>(row_.count_));
    return true;
  }
  is_whole_ = true;
  return true;
}

const CsvRow* CsvReader::next() {
  is_whole_ = false;
  while (problem_ && !rest_.empty()) {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    const bool at_start = row_.number_ == 0;
    if (at_start && mark_ < byte_order_mark.size() && c == byte_order_mark[mark_]) {
      ++mark_;
      continue;
    }
    if (state_ == State::row_begin) {
      row_.count_ = 0;
      ++row_.number_;
      row_bytes_ = 0;
      begin_field();
      // The bytes were no byte order mark.
      if (at_start && mark_ > 0 && mark_ < byte_order_mark.size()) {
        row_.fields_[0] = byte_order_mark.substr(0, mark_);
        state_ = State::plain;
      }
    }
    if (++row_bytes_ > options_.row_bytes_max) {
      (void)refuse(fmt::format("the row has more than {} bytes", options_.row_bytes_max));
    } else if (take(c) && is_whole_) {
      return &row_;
    }
  }
  if (!problem_ || !is_finished_ || state_ == State::row_begin) return nullptr;
  if (state_ == State::quoted) {
    (void)refuse("the end of the text is within quotes");
  } else if (end_row() && is_whole_) {
    return &row_;
  }
  return nullptr;
}

void append_csv_field(std::string& to, Bytes field, char separator) {
  const bool is_plain = std::ranges::none_of(
      field, [separator](char c) { return c == separator || c == '"' || c == '\r' || c == '\n'; });
  // A space at an end belongs to the field, but some readers remove it.
  const bool has_edge = field.starts_with(' ') || field.ends_with(' ');
  if (is_plain && !has_edge) {
    to += field;
    return;
  }
  to += '"';
  for (const char c : field) {
    if (c == '"') to += '"';
    to += c;
  }
  to += '"';
}

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
