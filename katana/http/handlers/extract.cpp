#include "katana/http/handlers/extract.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "katana/base/text/nearest_name.hpp"
#include "katana/data/container/form_tree.hpp"
#include "katana/data/container/json_scan.hpp"

namespace katana::detail {
namespace {

// Returns the start of a client's text, short enough for a message.
Bytes shortened(Bytes text) noexcept { return text.substr(0, 64); }

std::string pointer_of(Bytes name) {
  std::string pointer;
  append_pointer(pointer, name);
  return pointer;
}

// Full findings count a finding without its words.
void count_one(container::Findings& findings) { findings.add({}, {}); }

}  // namespace

std::optional<std::int64_t> parse_whole(Bytes text) {
  std::int64_t number = 0;
  const auto whole = container::detail::is_json_number(text) ? container::detail::whole_number(text)
                                                             : std::nullopt;
  return whole && whole->get(number) ? std::optional(number) : std::nullopt;
}

std::optional<std::uint64_t> parse_whole_natural(Bytes text) {
  std::uint64_t number = 0;
  const auto whole = container::detail::is_json_number(text) ? container::detail::whole_number(text)
                                                             : std::nullopt;
  return whole && whole->get(number) ? std::optional(number) : std::nullopt;
}

Error not_a(Bytes expected, Bytes text, Telling telling) {
  if (telling == Telling::nothing) return Error(Code::invalid_argument);
  return Error(Code::invalid_argument,
               fmt::format("expected {}, got '{}'", expected, shortened(text)));
}

void add_misfit(container::Findings& findings, Bytes name, Bytes words) {
  if (findings.full()) return count_one(findings);
  std::string pointer = pointer_of(name);
  const bool is_told = std::ranges::any_of(findings.list(), [&](const container::Finding& each) {
    return each.pointer == pointer && each.words == words;
  });
  if (!is_told) findings.add(std::move(pointer), std::string(words));
}

void add_unknown(container::Findings& findings, Bytes encoded,
                 std::span<const std::string_view> names) {
  if (findings.full()) return count_one(findings);
  std::string pointer = pointer_of(shortened(encoded));
  const bool is_told = std::ranges::any_of(
      findings.list(), [&](const container::Finding& each) { return each.pointer == pointer; });
  if (!is_told) findings.add(std::move(pointer), "unknown name" + nearest_hint(encoded, names));
}

void MemberState::note(container::Findings& findings, Bytes name, const Error& error,
                       Telling telling) {
  if (misfits < misfits_told_max) ++misfits;
  if (findings.full()) return count_one(findings);
  if (telling == Telling::words) add_misfit(findings, name, error.message());
}

Error misfits_error(const container::Findings& findings, const char* kind, Bytes own) {
  if (findings.malformed()) return Error(Code::invalid_argument, findings.list().front().words);
  const std::string outer = own.empty() ? std::string() : pointer_of(own) + "/";
  std::string words;
  for (const container::Finding& each : findings.list()) {
    Bytes sent = each.pointer;
    if (!outer.empty() && sent.starts_with(outer)) sent.remove_prefix(outer.size() - 1);
    if (!words.empty()) words += "; ";
    words += fmt::format("{} '{}': {}", kind, container::bracket_name(sent), each.words);
  }
  if (findings.left_out() != 0) words += fmt::format("; and {} more", findings.left_out());
  return Error(Code::invalid_argument, std::move(words));
}

bool is_form_name(Bytes encoded, Bytes name) {
  if (!http::needs_form_decoding(encoded)) return encoded == name;
  const auto decoded = decoded_form(encoded);
  return decoded && decoded->bytes() == name;
}

Text decoded_segment(Bytes segment) {
  Text text(segment);
  const auto size = http::decode_segment(segment, std::span(text.data(), text.size()));
  // In the text of a rest parameter a decoded "%2F" is a slash like those between its segments. A
  // handler that must distinguish them splits RequestView::parameters() itself.
  if (size) text.resize(*size);
  return text;
}

std::optional<Text> decoded_form(Bytes encoded) {
  Text text(encoded);
  const auto size = http::decode_form(encoded, std::span(text.data(), text.size()));
  if (!size) return std::nullopt;
  text.resize(*size);
  return text;
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
