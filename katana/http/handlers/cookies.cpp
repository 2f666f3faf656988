#include "katana/http/handlers/cookies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/date.hpp"

namespace katana {
namespace {

// cookie-octet, RFC 6265 §4.1.1: printable ASCII without space, quote, comma, semicolon, backslash.
bool is_cookie_text(Bytes text) noexcept {
  return std::ranges::all_of(text, [](char c) {
    return c > 0x20 && c < 0x7f && c != '"' && c != ',' && c != ';' && c != '\\';
  });
}

// Checks the characters of an attribute (RFC 6265 §4.1.1: av-octet).
bool is_attribute(Bytes text) noexcept {
  return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f && c != ';'; });
}

bool starts_with_ignoring_case(Bytes text, Bytes prefix) noexcept {
  return text.size() >= prefix.size() &&
         http::equals_ignoring_case(text.substr(0, prefix.size()), prefix);
}

// Returns null, or the reason why a browser would refuse the cookie.
const char* mistake_in(const SetCookie& cookie) noexcept {
  constexpr std::size_t pair_bytes_max = 4096;  // RFC 6265bis §5.6
  constexpr std::size_t attribute_bytes_max = 1024;
  if (cookie.name.empty() || !http::all_are(cookie.name, http::token_character)) {
    return "its name is no token; use letters, digits, '-' and '_'";
  }
  if (!is_cookie_text(cookie.value)) {
    return "its value has a space, a quote, a comma, a semicolon, a backslash or a character that "
           "is not ASCII. Encode it, as base64 or with percent signs";
  }
  if (cookie.name.size() + cookie.value.size() > pair_bytes_max) {
    return "name and value have more than 4096 bytes together; keep the data on the server";
  }
  if (!cookie.path.starts_with('/') || !is_attribute(cookie.path) ||
      cookie.path.size() > attribute_bytes_max) {
    return "its path does not begin with '/', is too long, or has a semicolon or a control in it";
  }
  if (!is_attribute(cookie.domain) || cookie.domain.size() > attribute_bytes_max) {
    return "its domain is too long, or has a semicolon or a control in it";
  }
  if (cookie.same_site == SameSite::none && !cookie.secure) return "SameSite=None wants `secure`";
  if (cookie.partitioned && !cookie.secure) return "`partitioned` wants `secure`";
  // RFC 6265bis §4.1.3; browsers ignore the case of the prefixes.
  if (starts_with_ignoring_case(cookie.name, "__Secure-") && !cookie.secure) {
    return "the prefix __Secure- wants `secure`";
  }
  const bool is_host = starts_with_ignoring_case(cookie.name, "__Host-");
  if (is_host && (!cookie.secure || cookie.path != "/" || !cookie.domain.empty())) {
    return "the prefix __Host- wants `secure`, the path \"/\" and no domain";
  }
  return nullptr;
}

}  // namespace

bool CookieReader::next(Bytes& name, Bytes& value) noexcept {
  while (!rest_.empty()) {
    const std::size_t end = std::min(rest_.find(';'), rest_.size());
    const Bytes pair = http::trimmed(rest_.substr(0, end));
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    const std::size_t equals = pair.find('=');
    if (equals == Bytes::npos || equals == 0) continue;
    name = http::trimmed(pair.substr(0, equals));
    value = http::trimmed(pair.substr(equals + 1));
    return true;
  }
  return false;
}

void detail::mark_cookies_read(const RequestView& request) noexcept {
  if (request.source() == nullptr) return;
  const bool has_some = request.field("Cookie").has_value();
  request.source()->personalise(has_some ? session::Personal::cookie
                                         : session::Personal::no_cookie);
}

std::optional<Bytes> cookie(const RequestView& request, Bytes name) noexcept {
  detail::mark_cookies_read(request);
  return cookie(request.head(), name);
}

std::optional<Bytes> cookie(const Request& request, Bytes name) noexcept {
  return cookie(request.view(), name);
}

std::optional<Bytes> cookie(const http::Head& head, Bytes name) noexcept {
  for (std::size_t index = 0; index < head.field_count(); ++index) {
    if (!http::equals_ignoring_case(head.name(index), "Cookie")) continue;
    Bytes found, value;
    for (CookieReader pairs(head.value(index)); pairs.next(found, value);) {
      if (found == name) return value;
    }
  }
  return std::nullopt;
}

Result<void> set_cookie(Reply& reply, const SetCookie& cookie) {
  if (const char* const mistake = mistake_in(cookie)) {
    return fail(Code::invalid_argument, fmt::format("cookie '{}': {}", cookie.name, mistake));
  }
  std::string text = fmt::format("{}={}; Path={}", cookie.name, cookie.value, cookie.path);
  if (!cookie.domain.empty()) text += fmt::format("; Domain={}", cookie.domain);
  if (cookie.max_age) text += fmt::format("; Max-Age={}", cookie.max_age->ns / 1'000'000'000);
  if (cookie.expires_s) {
    std::array<char, http::date_bytes> date;
    http::format_date(*cookie.expires_s, date);
    text += fmt::format("; Expires={}", std::string_view(date.data(), date.size()));
  }
  if (cookie.secure) text += "; Secure";
  if (cookie.http_only) text += "; HttpOnly";
  constexpr std::array same_site = {"Lax", "Strict", "None"};
  text += fmt::format("; SameSite={}", same_site[static_cast<std::size_t>(cookie.same_site)]);
  if (cookie.partitioned) text += "; Partitioned";
  if (reply.fields().size() + text.size() + 16 > 3072) {
    return fail(Code::out_of_range,
                fmt::format("cookie '{}': the fields of a reply have 3072 bytes at most; keep the "
                            "data on the server",
                            cookie.name));
  }
  reply.add_field("Set-Cookie", text);
  return {};
}

Result<void> remove_cookie(Reply& reply, SetCookie cookie) {
  cookie.value = {};
  cookie.max_age = Duration{};
  cookie.expires_s = 0;
  return set_cookie(reply, cookie);
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
