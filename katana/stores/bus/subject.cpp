#include "katana/stores/bus/subject.hpp"

#include <fmt/format.h>

#include <array>

namespace katana::bus {
namespace {

constexpr bool is_token_octet(char octet) noexcept {
  const auto value = static_cast<unsigned char>(octet);
  return value > ' ' && value != 0x7f && octet != '.' && octet != '*' && octet != '>';
}

constexpr std::array<bool, 256> token_octets = [] {
  std::array<bool, 256> all{};
  for (int value = 0; value < 256; ++value) {
    all[static_cast<std::size_t>(value)] = is_token_octet(static_cast<char>(value));
  }
  return all;
}();

bool is_plain_token(Bytes token) noexcept {
  if (token.empty()) return false;
  for (const char octet : token) {
    if (!token_octets[static_cast<unsigned char>(octet)]) return false;
  }
  return true;
}

// Null: nothing.
const char* problem_of(Bytes text, bool may_have_wildcards) noexcept {
  if (text.empty()) return "it is empty";
  if (text.size() > subject_bytes_max) return "it has more than 512 bytes";
  std::size_t tokens = 0;
  for (Bytes rest = text; true;) {
    const bool is_last = rest.find('.') == Bytes::npos;
    const Bytes token = next_token(rest);
    if (++tokens > subject_tokens_max) return "it has more than 32 tokens";
    if (token.empty()) return "it has an empty token";
    if (token == "*" || token == ">") {
      if (!may_have_wildcards) return "it has a wildcard, and only a pattern may have one";
      if (token == ">" && !is_last) return "'>' is not its last token";
    } else if (!is_plain_token(token)) {
      return "a token has a blank, a control character, '*' or '>'";
    }
    if (is_last) return nullptr;
  }
}

Result<void> check(Bytes text, bool may_have_wildcards) {
  const char* const problem = problem_of(text, may_have_wildcards);
  if (problem == nullptr) return {};
  return fail(Code::invalid_argument,
              fmt::format("'{}' is no {}: {}; names that users choose go through "
                          "bus::escape_token()",
                          text.substr(0, 80), may_have_wildcards ? "pattern" : "subject", problem));
}

constexpr char hex_digits[] = "0123456789ABCDEF";

int value_of(char digit) noexcept {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

}  // namespace

// One pass, because this runs for every message.
bool is_subject(Bytes text) noexcept {
  if (text.size() > subject_bytes_max) return false;
  std::size_t tokens = 1;
  bool in_token = false;
  for (const char octet : text) {
    if (token_octets[static_cast<unsigned char>(octet)]) [[likely]] {
      in_token = true;
    } else if (octet == '.' && in_token) {
      in_token = false;
      ++tokens;
    } else {
      return false;
    }
  }
  return in_token && tokens <= subject_tokens_max;
}

bool is_pattern(Bytes text) noexcept { return problem_of(text, true) == nullptr; }

Result<void> check_subject(Bytes text) {
  if (is_subject(text)) [[likely]]
    return {};
  return check(text, false);
}

Result<void> check_pattern(Bytes text) { return check(text, true); }

bool matches(Bytes pattern, Bytes subject) noexcept {
  if (begins_with_wildcard(pattern) && is_hidden(subject)) return false;
  while (!pattern.empty() && !subject.empty()) {
    const Bytes wanted = next_token(pattern);
    if (wanted == ">") return true;
    const Bytes token = next_token(subject);
    if (wanted != "*" && wanted != token) return false;
  }
  return pattern.empty() && subject.empty();
}

std::string escape_token(Bytes text) {
  if (text.empty()) return "%";
  std::string token;
  token.reserve(text.size());
  for (const char octet : text) {
    if (is_token_octet(octet) && octet != '%') {
      token += octet;
      continue;
    }
    const auto value = static_cast<unsigned char>(octet);
    token += '%';
    token += hex_digits[value >> 4];
    token += hex_digits[value & 15];
  }
  return token;
}

Result<std::string> unescape_token(Bytes token) {
  if (token == "%") return std::string();
  std::string text;
  text.reserve(token.size());
  for (std::size_t at = 0; at < token.size(); ++at) {
    if (token[at] != '%') {
      text += token[at];
      continue;
    }
    const int high = at + 2 < token.size() ? value_of(token[at + 1]) : -1;
    const int low = at + 2 < token.size() ? value_of(token[at + 2]) : -1;
    if (high < 0 || low < 0) {
      return fail(Code::invalid_argument,
                  fmt::format("'{}' is no escaped token", token.substr(0, 80)));
    }
    text += static_cast<char>(high << 4 | low);
    at += 2;
  }
  if (text.empty() || escape_token(text) != token) {
    return fail(Code::invalid_argument,
                fmt::format("'{}' is no escaped token", token.substr(0, 80)));
  }
  return text;
}

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
