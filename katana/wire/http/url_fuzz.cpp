// Invariant: for any bytes, nothing is written outside a span as long as the input. An accepted
// path is normal in every sense of url.hpp. Encoding the decoded text gives the path back.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "katana/base/system/check.hpp"
#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/url.hpp"

namespace {

using katana::Bytes;
using katana::http::Method;
using katana::http::Target;
using katana::http::TargetForm;

using Decoder = std::optional<std::size_t> (*)(Bytes, std::span<char>);

// A heap block of the exact size: AddressSanitizer then finds the first byte too many.
struct Block {
  explicit Block(std::size_t block_size)
      : data(std::make_unique<char[]>(block_size)), size(block_size) {}
  std::span<char> span() { return {data.get(), size}; }
  std::unique_ptr<char[]> data;
  std::size_t size;
};

// Runs a decoder into its own block, in place and into too small a block: all must agree.
std::optional<std::string> run(Decoder decode, Bytes text) {
  Block apart(text.size());
  const auto size = decode(text, apart.span());
  Block same(text.size());
  std::ranges::copy(text, same.data.get());
  const auto size_in_place = decode(Bytes{same.data.get(), same.size}, same.span());
  KATANA_CHECK(size == size_in_place);
  if (!text.empty()) {
    Block small(text.size() - 1);
    KATANA_CHECK(!decode(text, small.span()));
  }
  if (!size) return std::nullopt;
  KATANA_CHECK(*size <= text.size());
  KATANA_CHECK(std::equal(apart.data.get(), apart.data.get() + *size, same.data.get()));
  return std::string(apart.data.get(), *size);
}

bool is_within(Bytes part, Bytes whole) {
  const std::less_equal<const char*> at_or_before;
  return part.empty() || (at_or_before(whole.data(), part.data()) &&
                          at_or_before(part.data() + part.size(), whole.data() + whole.size()));
}

std::string escape(char c) {
  constexpr Bytes digits = "0123456789abcdef";
  const auto value = static_cast<unsigned char>(c);
  return {'%', digits[value >> 4], digits[value & 15]};
}

// Escapes all bytes that a raw path may not hold, and leaves the escapes of a normal path alone.
std::string as_raw_path(Bytes normal) {
  std::string raw;
  for (const char c : normal) {
    const bool bracket_or_mark = c == '?' || c == '[' || c == ']';
    const bool stays = katana::http::is(c, katana::http::target_character) && !bracket_or_mark;
    raw += stays ? std::string(1, c) : escape(c);
  }
  return raw;
}

void check_segment(Bytes segment) {
  KATANA_CHECK(segment != "." && segment != "..");
  for (std::size_t at = segment.find('%'); at != Bytes::npos; at = segment.find('%', at + 1)) {
    KATANA_CHECK(segment.substr(at, 3) == "%2F" || segment.substr(at, 3) == "%25");
  }
  KATANA_CHECK(run(katana::http::decode_segment, segment).has_value());
}

void check_path(Bytes path) {
  const auto normal = run(katana::http::normalize_path, path);
  if (katana::http::is_normal_path(path)) KATANA_CHECK(normal && *normal == path);
  if (!normal) return;
  KATANA_CHECK(normal->starts_with('/'));
  KATANA_CHECK(normal->find('\0') == std::string::npos);
  if (*normal == path && !path.contains('%')) KATANA_CHECK(katana::http::is_normal_path(path));
  KATANA_CHECK(run(katana::http::normalize_path, as_raw_path(*normal)) == normal);

  Bytes rest = *normal;
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const Bytes segment = rest.substr(0, rest.find('/'));
    check_segment(segment);
    rest.remove_prefix(segment.size());
  }
}

void check_target(Bytes text, Method method) {
  const auto target = katana::http::split_target(text, method);
  if (!target) return;
  for (const Bytes part : {target->scheme, target->authority, target->path, target->query}) {
    KATANA_CHECK(is_within(part, text));
  }
  KATANA_CHECK((method == Method::connect) == (target->form == TargetForm::authority));
  if (target->form == TargetForm::asterisk) return KATANA_CHECK(text == "*");

  std::string whole(target->scheme);
  if (target->form == TargetForm::absolute) whole += "://";
  whole += target->authority;
  std::string tail;
  if (target->has_query) tail = "?" + std::string(target->query);
  const bool root_may_be_unwritten = target->form == TargetForm::absolute && target->path == "/";
  KATANA_CHECK(whole + std::string(target->path) + tail == text ||
               (root_may_be_unwritten && whole + tail == text));
}

void check_authority(Bytes text) {
  const bool valid = katana::http::valid_authority(text);
  if (valid) KATANA_CHECK(text.find_first_of("@/?# \t\r\n\"") == Bytes::npos);
  if (text.empty() || text.find_first_of("/?") != Bytes::npos) return;
  const std::string absolute = "http://" + std::string(text);
  KATANA_CHECK(valid == katana::http::split_target(absolute, Method::get).has_value());
  if (katana::http::split_target(text, Method::connect)) KATANA_CHECK(valid);
}

void check_query(Bytes text) {
  katana::http::QueryReader reader(text);
  Bytes name;
  Bytes value;
  std::size_t bytes = 0;
  while (reader.next(name, value)) {
    KATANA_CHECK(is_within(name, text) && is_within(value, text));
    KATANA_CHECK(!name.contains('&') && !name.contains('=') && !value.contains('&'));
    bytes += name.size() + value.size();
    KATANA_CHECK(bytes <= text.size());
  }
}

void check_form(Bytes text) {
  const auto decoded = run(katana::http::decode_form, text);
  if (!katana::http::needs_form_decoding(text)) KATANA_CHECK(decoded && *decoded == text);
  if (!decoded) return;
  std::string encoded;
  for (const char c : *decoded) encoded += c == ' ' ? "+" : escape(c);
  KATANA_CHECK(run(katana::http::decode_form, encoded) == decoded);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto method = static_cast<Method>(data[0] % 10);
  // A copy of the exact size: a read beyond it is found, too.
  Block input(size - 1);
  std::copy(data + 1, data + size, input.data.get());
  const Bytes text{input.data.get(), input.size};
  check_target(text, method);
  check_authority(text);
  check_path(text);
  (void)run(katana::http::decode_segment, text);
  check_query(text);
  check_form(text);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
