#include "katana/http/handlers/extract.hpp"

#include <fmt/format.h>

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

Error not_a(Bytes expected, const char* kind, Bytes name, Bytes text) {
  return Error(Code::invalid_argument, fmt::format("{} '{}': expected {}, got '{}'", kind,
                                                   shortened(name), expected, shortened(text)));
}

Error bad_parameter(const char* kind, Bytes name, Bytes words) {
  return Error(Code::invalid_argument, fmt::format("{} '{}': {}", kind, name, words));
}

void add_misfit(container::Findings& findings, const Error& error) {
  constexpr Bytes before = " '";
  constexpr Bytes behind = "': ";
  const Bytes message = error.message();
  const std::size_t from = message.find(before);
  const std::size_t to = from == Bytes::npos ? from : message.find(behind, from);
  if (to == Bytes::npos) return findings.add({}, std::string(message));
  const std::size_t name_at = from + before.size();
  std::string pointer;
  append_pointer(pointer, message.substr(name_at, to - name_at));
  std::string words(message.substr(to + behind.size()));
  if (!findings.empty()) {
    const container::Finding& last = findings.list().back();
    if (last.pointer == pointer && last.words == words) return;
  }
  findings.add(std::move(pointer), std::move(words));
}

Error misfits_error(const container::Findings& findings, const char* kind) {
  if (findings.malformed()) return Error(Code::invalid_argument, findings.list().front().words);
  std::string words;
  for (const container::Finding& each : findings.list()) {
    if (!words.empty()) words += "; ";
    words += fmt::format("{} '{}': {}", kind, container::bracket_name(each.pointer), each.words);
  }
  if (findings.left_out() != 0) words += fmt::format("; and {} more", findings.left_out());
  return Error(Code::invalid_argument, std::move(words));
}

Error unknown_parameter(const char* kind, Bytes encoded, std::span<const std::string_view> names) {
  return Error(Code::invalid_argument,
               fmt::format("{} '{}': unknown name{}", kind, shortened(encoded),
                           nearest_hint(encoded, names)));
}

bool is_form_name(Bytes encoded, Bytes name) {
  if (!http::needs_form_decoding(encoded)) return encoded == name;
  const auto decoded = decoded_form(encoded, "name", name);
  return decoded && decoded->bytes() == name;
}

Result<Text> decoded_segment(Bytes segment) {
  Text text(segment);
  const auto size = http::decode_segment(segment, std::span(text.data(), text.size()));
  // In the text of a rest parameter a decoded "%2F" is a slash like those between its segments. A
  // handler that must distinguish them splits RequestView::parameters() itself.
  if (size) text.resize(*size);
  return text;
}

Result<Text> decoded_form(Bytes raw, const char* kind, Bytes name) {
  Text text(raw);
  const auto size = http::decode_form(raw, std::span(text.data(), text.size()));
  if (!size) return std::unexpected(not_a("valid percent-encoding", kind, name, raw));
  text.resize(*size);
  return text;
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
