// The algorithms of RFC 9651 §4.2. Each is a function that takes the bytes that it reads off the
// front.
#include "katana/wire/http/dictionary.hpp"

#include "katana/wire/http/characters.hpp"

namespace katana::http {
namespace {

constexpr std::size_t integer_digits_max = 15;
constexpr std::size_t decimal_whole_digits_max = 12;
constexpr std::size_t decimal_part_digits_max = 3;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_lower(char c) noexcept { return c >= 'a' && c <= 'z'; }
bool is_letter(char c) noexcept { return is_lower(to_lower(c)); }
bool is_in_key(char c) noexcept {
  return is_lower(c) || is_digit(c) || Bytes("_-.*").find(c) != Bytes::npos;
}
bool is_in_token(char c) noexcept {
  return is_letter(c) || is_digit(c) || Bytes("!#$%&'*+-.^_`|~:/").find(c) != Bytes::npos;
}
bool is_in_bytes(char c) noexcept {
  return is_letter(c) || is_digit(c) || c == '+' || c == '/' || c == '=';
}
bool is_in_escape(char c) noexcept { return is_digit(c) || (c >= 'a' && c <= 'f'); }

template <class Is>
std::size_t count_front(Bytes text, Is is) noexcept {
  std::size_t size = 0;
  while (size < text.size() && is(text[size])) ++size;
  return size;
}

}  // namespace

DictionaryReader::DictionaryReader(Bytes value) noexcept : rest_(value) {
  skip_spaces();
  while (rest_.ends_with(' ')) rest_.remove_suffix(1);
}

bool DictionaryReader::take(char c) noexcept {
  if (!rest_.starts_with(c)) return false;
  rest_.remove_prefix(1);
  return true;
}

void DictionaryReader::skip_spaces() noexcept {
  while (rest_.starts_with(' ')) rest_.remove_prefix(1);
}

bool DictionaryReader::next(DictionaryMember& member) noexcept {
  if (is_malformed_ || rest_.empty()) return false;
  member = {};
  const bool is_read = take_key(member.key) && take_value(member) && take_comma();
  if (!is_read) is_malformed_ = true;
  return is_read;
}

bool DictionaryReader::take_key(Bytes& key) noexcept {
  if (rest_.empty() || (!is_lower(rest_.front()) && rest_.front() != '*')) return false;
  key = rest_.substr(0, count_front(rest_, is_in_key));
  rest_.remove_prefix(key.size());
  return true;
}

bool DictionaryReader::take_value(DictionaryMember& member) noexcept {
  if (take('=')) {
    const bool is_list = rest_.starts_with('(');
    if (is_list) member.kind = DictionaryMember::Kind::other;
    if (is_list ? !take_inner_list() : !take_bare(member)) return false;
  }
  return take_parameters();
}

// Takes the text behind a member: the end, or a comma in front of another member.
bool DictionaryReader::take_comma() noexcept {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  rest_.remove_prefix(count_front(rest_, is_space));
  if (rest_.empty()) return true;
  if (!take(',')) return false;
  rest_.remove_prefix(count_front(rest_, is_space));
  return !rest_.empty();
}

bool DictionaryReader::take_bare(DictionaryMember& member) noexcept {
  if (rest_.empty()) return false;
  const char first = rest_.front();
  if (is_digit(first) || first == '-') return take_number(member);
  if (take('?')) {
    member.kind = DictionaryMember::Kind::boolean;
    member.boolean = rest_.starts_with('1');
    return take('1') || take('0');
  }
  member.kind = DictionaryMember::Kind::other;
  if (take('"')) return take_quoted(false);
  if (take('%')) return take('"') && take_quoted(true);
  if (take(':')) return take_bytes();
  if (take('@')) {
    DictionaryMember date;
    return take_number(date) && date.is_integer();
  }
  if (!is_letter(first) && first != '*') return false;
  rest_.remove_prefix(count_front(rest_, is_in_token));
  return true;
}

bool DictionaryReader::take_number(DictionaryMember& member) noexcept {
  const bool is_negative = take('-');
  const std::size_t digits = count_front(rest_, is_digit);
  if (digits == 0 || digits > integer_digits_max) return false;
  std::int64_t number = 0;
  for (const char c : rest_.substr(0, digits)) number = number * 10 + (c - '0');
  rest_.remove_prefix(digits);
  if (take('.')) {
    member.kind = DictionaryMember::Kind::other;
    const std::size_t part = count_front(rest_, is_digit);
    rest_.remove_prefix(part);
    return digits <= decimal_whole_digits_max && part > 0 && part <= decimal_part_digits_max;
  }
  member.kind = DictionaryMember::Kind::integer;
  member.integer = is_negative ? -number : number;
  return true;
}

// Takes the text behind the first quote. A display string has escapes by "%", a string those by a
// backslash.
bool DictionaryReader::take_quoted(bool is_display) noexcept {
  while (!rest_.empty()) {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == '"') return true;
    if (c < ' ' || c >= 0x7f) return false;
    if (is_display && c == '%') {
      if (count_front(rest_.substr(0, 2), is_in_escape) != 2) return false;
      rest_.remove_prefix(2);
    } else if (!is_display && c == '\\') {
      if (!take('"') && !take('\\')) return false;
    }
  }
  return false;
}

bool DictionaryReader::take_bytes() noexcept {
  rest_.remove_prefix(count_front(rest_, is_in_bytes));
  return take(':');
}

bool DictionaryReader::take_parameters() noexcept {
  while (take(';')) {
    skip_spaces();
    Bytes key;
    DictionaryMember ignored;
    if (!take_key(key) || (take('=') && !take_bare(ignored))) return false;
  }
  return true;
}

bool DictionaryReader::take_inner_list() noexcept {
  (void)take('(');
  while (!rest_.empty()) {
    skip_spaces();
    if (take(')')) return true;
    DictionaryMember ignored;
    if (!take_bare(ignored) || !take_parameters()) return false;
    if (!rest_.starts_with(' ') && !rest_.starts_with(')')) return false;
  }
  return false;
}

}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
