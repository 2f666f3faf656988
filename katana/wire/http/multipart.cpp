#include "katana/wire/http/multipart.hpp"

#include <algorithm>
#include <cstring>

#include "katana/base/system/check.hpp"
#include "katana/wire/http/characters.hpp"

namespace katana::http {
namespace {

constexpr Bytes line_end = "\r\n";

// Takes a token off the front; empty when there is none.
Bytes take_token(Bytes& text) noexcept {
  std::size_t size = 0;
  while (size < text.size() && is(text[size], token_character)) ++size;
  const Bytes token = text.substr(0, size);
  text.remove_prefix(size);
  return token;
}

// Takes the value of a parameter off the front: a token, or all between two quotes. A quote inside
// is sent as %22 by browsers, and as \" by others: both are part of the value, as they stand.
bool take_value(Bytes& text, Bytes& value) noexcept {
  if (!text.starts_with('"')) {
    value = take_token(text);
    return !value.empty();
  }
  for (std::size_t index = 1; index < text.size(); ++index) {
    if (text[index] == '\\' && index + 1 < text.size() && text[index + 1] == '"') {
      ++index;
    } else if (text[index] == '"') {
      value = text.substr(1, index - 1);
      text.remove_prefix(index + 1);
      return true;
    }
  }
  return false;
}

// Walks the parameters behind a value: *( OWS ";" OWS name "=" value ).
struct ParameterReader {
  Bytes rest;
  bool malformed = false;

  bool next(Bytes& name, Bytes& value) noexcept {
    rest = trimmed(rest);
    if (rest.empty()) return false;
    malformed = !rest.starts_with(';');
    if (malformed) return false;
    rest = trimmed(rest.substr(1));
    if (rest.empty()) return false;  // a semicolon at the end
    name = take_token(rest);
    malformed = name.empty() || !rest.starts_with('=');
    if (malformed) return false;
    rest.remove_prefix(1);
    malformed = !take_value(rest, value);
    return !malformed;
  }
};

// How many bytes at the end of `text` could be the begin of `delimiter`.
std::size_t partial_match(Bytes text, Bytes delimiter) noexcept {
  std::size_t size = std::min(text.size(), delimiter.size() - 1);
  while (size > 0 && !delimiter.starts_with(text.substr(text.size() - size))) --size;
  return size;
}

// bchars, RFC 2046 §5.1.1.
bool is_boundary(Bytes text) noexcept {
  constexpr Bytes others = "'()+_,-./:=? ";
  return !text.empty() && text.back() != ' ' && std::ranges::all_of(text, [&](char c) {
    const bool is_letter = to_lower(c) >= 'a' && to_lower(c) <= 'z';
    return is_letter || is(c, digit_character) || others.find(c) != Bytes::npos;
  });
}

}  // namespace

std::optional<Bytes> MultipartReader::boundary_of(Bytes content_type) noexcept {
  const std::size_t end = std::min(content_type.find(';'), content_type.size());
  if (!equals_ignoring_case(trimmed(content_type.substr(0, end)), "multipart/form-data")) {
    return std::nullopt;
  }
  std::optional<Bytes> found;
  ParameterReader parameters{content_type.substr(end)};
  for (Bytes name, value; parameters.next(name, value);) {
    if (!equals_ignoring_case(name, "boundary")) continue;
    if (found || value.size() > boundary_bytes_max || !is_boundary(value)) return std::nullopt;
    found = value;
  }
  return parameters.malformed ? std::nullopt : found;
}

MultipartReader::MultipartReader(Bytes boundary, const MultipartLimits& limits) noexcept
    : limits_(limits), preamble_left_(limits.preamble_bytes_max), parts_left_(limits.parts_max) {
  KATANA_REQUIRE(!boundary.empty() && boundary.size() <= boundary_bytes_max);
  std::memcpy(delimiter_.data(), "\r\n--", 4);
  std::memcpy(delimiter_.data() + 4, boundary.data(), boundary.size());
  delimiter_size_ = boundary.size() + 4;
}

MultipartReader::Step MultipartReader::refuse(MultipartRefusal refusal) noexcept {
  refusal_ = refusal;
  state_ = State::refused;
  return {MultipartEvent::refused, 0};
}

MultipartReader::Step MultipartReader::next(Bytes input) noexcept {
  switch (state_) {
    case State::before: return next_before(input);
    case State::delimiter: return next_delimiter(input);
    case State::head: return next_head(input);
    case State::content: return next_content(input);
    case State::after: return {MultipartEvent::need_bytes, input.size()};
    case State::refused: break;
  }
  return {MultipartEvent::refused, 0};
}

// The first delimiter stands at the very begin, or behind a preamble and a CRLF.
MultipartReader::Step MultipartReader::next_before(Bytes input) noexcept {
  if (first_) {
    const Bytes bare = delimiter().substr(line_end.size());
    const std::size_t size = std::min(input.size(), bare.size());
    if (input.substr(0, size) == bare.substr(0, size)) {
      if (size < bare.size()) return {MultipartEvent::need_bytes, 0};
      state_ = State::delimiter;
      const Step step = next_delimiter(input.substr(size));
      return {step.event, step.consumed + size};
    }
    first_ = false;
  }
  const std::size_t at = input.find(delimiter());
  const std::size_t passed =
      at != Bytes::npos ? at : input.size() - partial_match(input, delimiter());
  if (passed > preamble_left_) return refuse(MultipartRefusal::malformed);
  preamble_left_ -= passed;
  if (at == Bytes::npos) return {MultipartEvent::need_bytes, passed};
  state_ = State::delimiter;
  const Step step = next_delimiter(input.substr(at + delimiter_size_));
  return {step.event, step.consumed + at + delimiter_size_};
}

// Reads the text behind a delimiter: "--" for the last one, or white space and CRLF.
MultipartReader::Step MultipartReader::next_delimiter(Bytes input) noexcept {
  std::size_t size = 0;
  if (input.starts_with('-')) {
    if (input.size() < 2) return {MultipartEvent::need_bytes, 0};
    if (input[1] != '-') return refuse(MultipartRefusal::malformed);
    state_ = State::after;
    return {MultipartEvent::end, 2};
  }
  while (size < input.size() && is_blank(input[size])) ++size;
  if (size > limits_.head_bytes_max) return refuse(MultipartRefusal::malformed);
  const Bytes rest = input.substr(size);
  if (rest.size() < line_end.size() && line_end.starts_with(rest)) {
    return {MultipartEvent::need_bytes, 0};
  }
  if (!rest.starts_with(line_end)) return refuse(MultipartRefusal::malformed);
  if (parts_left_ == 0) return refuse(MultipartRefusal::too_many_parts);
  --parts_left_;
  state_ = State::head;
  searched_ = 0;
  return {MultipartEvent::need_bytes, size + line_end.size()};
}

MultipartReader::Step MultipartReader::next_head(Bytes input) noexcept {
  constexpr Bytes head_end = "\r\n\r\n";
  // A part without fields begins with the empty line at once; such a part has no name.
  const std::size_t from = searched_ > head_end.size() ? searched_ - head_end.size() : 0;
  const std::size_t at = input.find(head_end, from);
  searched_ = input.size();
  // The first bytes of the head's end are not counted: a cut there must not change the answer.
  const std::size_t size = at != Bytes::npos ? at : input.size() - partial_match(input, head_end);
  if (size > limits_.head_bytes_max) return refuse(MultipartRefusal::head_too_large);
  if (input.starts_with(line_end)) return refuse(MultipartRefusal::malformed);
  if (at == Bytes::npos) return {MultipartEvent::need_bytes, 0};
  if (!read_head(input.substr(0, at + line_end.size()))) {
    return refuse(MultipartRefusal::malformed);
  }
  content_left_ = limits_.part_bytes_max;
  state_ = State::content;
  // The CRLF that ends the head may begin the delimiter of an empty part: it is left for it.
  return {MultipartEvent::part, at + line_end.size()};
}

// `head`: complete lines.
bool MultipartReader::read_head(Bytes head) noexcept {
  part_ = {};
  bool has_disposition = false;
  std::size_t fields = 0;
  while (!head.empty()) {
    const std::size_t end = head.find(line_end);
    const Bytes line = head.substr(0, end);
    head.remove_prefix(end + line_end.size());
    Bytes value = line;
    const Bytes name = take_token(value);
    if (name.empty() || !value.starts_with(':') || ++fields > limits_.head_fields_max) return false;
    value = trimmed(value.substr(1));
    if (!all_are(value, value_character)) return false;
    if (equals_ignoring_case(name, "Content-Disposition")) {
      if (has_disposition || !read_disposition(value)) return false;
      has_disposition = true;
    } else if (equals_ignoring_case(name, "Content-Type")) {
      part_.content_type = value;
    }
  }
  return has_disposition;
}

// form-data with a name (RFC 7578 §4.2).
bool MultipartReader::read_disposition(Bytes value) noexcept {
  if (!equals_ignoring_case(take_token(value), "form-data")) return false;
  bool has_name = false;
  ParameterReader parameters{value};
  for (Bytes name, text; parameters.next(name, text);) {
    if (equals_ignoring_case(name, "name")) {
      if (has_name) return false;
      has_name = true;
      part_.name = text;
    } else if (equals_ignoring_case(name, "filename")) {
      if (part_.has_filename) return false;
      part_.has_filename = true;
      part_.filename = text;
    }
  }
  return has_name && !parameters.malformed;
}

MultipartReader::Step MultipartReader::next_content(Bytes input) noexcept {
  // The head leaves its own last CRLF here, because it begins the delimiter of an empty part.
  if (searched_ != SIZE_MAX) {
    if (input.size() < line_end.size()) return {MultipartEvent::need_bytes, 0};
    if (input.size() < delimiter_size_ && delimiter().starts_with(input)) {
      return {MultipartEvent::need_bytes, 0};
    }
    searched_ = SIZE_MAX;
    if (!input.starts_with(delimiter())) return {MultipartEvent::need_bytes, line_end.size()};
  }
  const std::size_t at = input.find(delimiter());
  if (at == 0) {
    state_ = State::delimiter;
    return {MultipartEvent::part_end, delimiter_size_};
  }
  const std::size_t size =
      at != Bytes::npos ? at : input.size() - partial_match(input, delimiter());
  if (size == 0) return {MultipartEvent::need_bytes, 0};
  if (size > content_left_) return refuse(MultipartRefusal::part_too_large);
  content_left_ -= size;
  content_ = input.substr(0, size);
  return {MultipartEvent::content, size};
}

}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
