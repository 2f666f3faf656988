#include "katana/stores/redis/command.hpp"

#include <algorithm>
#include <utility>

#include "katana/wire/resp/command.hpp"

namespace katana::redis {
namespace {

// The header is written when the count is known, right in front of the parts.
constexpr std::size_t room = resp::header_bytes_max;
// Short commands grow once.
constexpr std::size_t usual_bytes = 128;

void append_part(Text& text, Bytes part) {
  const std::size_t before = text.size();
  const std::size_t after = before + resp::part_bytes(part.size());
  if (after > text.capacity()) text.grow_to(text.capacity_with(after - before));
  text.resize(after);
  resp::write_part(part, text.data() + before);
}

// Returns the part that begins at `at`, and moves `at` behind it.
Bytes read_part(Bytes text, std::size_t& at) noexcept {
  std::size_t size = 0;
  const char* const end = text.data() + text.size();
  const char* const digits = std::from_chars(text.data() + at + 1, end, size).ptr;
  const auto begin = static_cast<std::size_t>(digits - text.data()) + 2;
  at = begin + size + 2;
  return text.substr(begin, size);
}

}  // namespace

bool equals_ignoring_case(Bytes name, Bytes upper) noexcept {
  return std::ranges::equal(name, upper, [](char a, char b) {
    return (a >= 'a' && a <= 'z' ? static_cast<char>(a - 'a' + 'A') : a) == b;
  });
}

Command::Command(std::string_view name, std::nullptr_t) {
  text_.grow_to(usual_bytes);
  text_.resize(room);
  add(name);
}

Command& Command::add(Bytes argument) {
  append_part(text_, argument);
  ++count_;
  return *this;
}

Bytes Command::name() const noexcept {
  std::size_t at = room;
  return read_part(text_.bytes(), at);
}

Bytes Command::first_argument() const noexcept {
  if (count_ < 2) return {};
  std::size_t at = room;
  read_part(text_.bytes(), at);
  return read_part(text_.bytes(), at);
}

bool Command::has_argument(Bytes upper) const noexcept {
  std::size_t at = room;
  for (std::uint32_t index = 0; index < count_; ++index) {
    const Bytes part = read_part(text_.bytes(), at);
    if (index > 0 && equals_ignoring_case(part, upper)) return true;
  }
  return false;
}

std::size_t Command::wire_bytes() const noexcept {
  return resp::header_bytes(count_) + text_.size() - room;
}

Bytes Command::wire() noexcept {
  const std::size_t begin = room - resp::header_bytes(count_);
  resp::write_header(count_, text_.data() + begin);
  return text_.bytes().substr(begin);
}

Command Command::renamed(Bytes name, Bytes first_argument) const {
  std::size_t at = room;
  if (count_ > 0) read_part(text_.bytes(), at);
  if (count_ > 1) read_part(text_.bytes(), at);
  Text text;
  text.grow_to(room + resp::part_bytes(name.size()) + resp::part_bytes(first_argument.size()) +
               text_.size() - at);
  text.resize(room);
  append_part(text, name);
  append_part(text, first_argument);
  text.append(text_.bytes().substr(at));
  return Command(Raw{}, std::move(text), count_);
}

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
