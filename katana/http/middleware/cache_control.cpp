#include "katana/http/middleware/cache_control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/dictionary.hpp"
#include "katana/wire/http/field_list.hpp"

namespace katana {
namespace {

// 136 years; RFC 9111 §1.2.2 lets a cache use this for every larger number.
constexpr std::int64_t seconds_max = INT32_MAX;

// Text that is no number counts as zero: the time is over.
Duration delta_of(Bytes text) noexcept {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range && end == text.data() + text.size()) {
    return seconds(seconds_max);
  }
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return {};
  return seconds(std::min(number, seconds_max));
}

// Keeps the shorter of two durations.
void shorten(std::optional<Duration>& to, Duration given) noexcept {
  to = to ? std::min(*to, given) : given;
}

void read(CacheControl& to, Bytes directive) noexcept {
  const std::size_t equals = directive.find('=');
  const Bytes name = directive.substr(0, equals);
  const Bytes value = equals == Bytes::npos ? Bytes() : directive.substr(equals + 1);
  const auto is = [name](Bytes known) { return http::equals_ignoring_case(name, known); };
  if (is("max-age")) {
    shorten(to.max_age, delta_of(value));
  } else if (is("s-maxage")) {
    shorten(to.s_maxage, delta_of(value));
  } else if (is("stale-while-revalidate")) {
    shorten(to.stale_while_revalidate, delta_of(value));
  } else if (is("stale-if-error")) {
    shorten(to.stale_if_error, delta_of(value));
  } else if (is("no-store")) {
    to.no_store = true;
  } else if (is("no-cache")) {  // with names of fields, too: it counts for all
    to.no_cache = true;
  } else if (is("private")) {
    to.is_private = true;
  } else if (is("public")) {
    to.is_public = true;
  } else if (is("must-revalidate")) {
    to.must_revalidate = true;
  } else if (is("proxy-revalidate")) {
    to.proxy_revalidate = true;
  } else if (is("immutable")) {
    to.immutable = true;
  } else if (is("must-understand")) {
    to.must_understand = true;
  }
}

// Calls each(value) for the lines of that name.
template <class Each>
void for_each_value(Bytes lines, Bytes name, Each&& each) {
  while (!lines.empty()) {
    const Bytes line = lines.substr(0, lines.find("\r\n"));
    lines.remove_prefix(std::min(line.size() + 2, lines.size()));
    const std::size_t colon = line.find(':');
    if (colon == Bytes::npos || !http::equals_ignoring_case(line.substr(0, colon), name)) continue;
    each(line.substr(colon + 1));
  }
}

// A value that is no integer counts as zero: RFC 9213 §2.1 has no other type for a time.
Duration delta_of(const http::DictionaryMember& member) noexcept {
  if (!member.is_integer()) return {};
  return seconds(std::clamp<std::int64_t>(member.integer, 0, seconds_max));
}

// The last member of a key counts. A restriction with a meaningless value still restricts.
void read(CacheControl& to, const http::DictionaryMember& member) noexcept {
  const bool is_set = !member.is_boolean() || member.boolean;
  const auto is = [key = member.key](Bytes known) { return key == known; };
  if (is("max-age")) {
    to.max_age = delta_of(member);
  } else if (is("s-maxage")) {
    to.s_maxage = delta_of(member);
  } else if (is("stale-while-revalidate")) {
    to.stale_while_revalidate = delta_of(member);
  } else if (is("stale-if-error")) {
    to.stale_if_error = delta_of(member);
  } else if (is("no-store")) {
    to.no_store = is_set;
  } else if (is("no-cache")) {
    to.no_cache = is_set;
  } else if (is("private")) {
    to.is_private = is_set;
  } else if (is("public")) {
    to.is_public = is_set;
  } else if (is("must-revalidate")) {
    to.must_revalidate = is_set;
  } else if (is("proxy-revalidate")) {
    to.proxy_revalidate = is_set;
  } else if (is("must-understand")) {
    to.must_understand = member.is_boolean() && member.boolean;
  } else if (is("immutable")) {
    to.immutable = is_set;
  }
}

}  // namespace

std::string CacheControl::text() const {
  std::string text;
  const auto add = [&text](std::string_view directive) {
    if (!text.empty()) text += ", ";
    text += directive;
  };
  const auto add_time = [&add](std::string_view name, const std::optional<Duration>& time) {
    if (time) add(fmt::format("{}={}", name, std::max<std::int64_t>(time->ns / 1'000'000'000, 0)));
  };
  if (no_store) add("no-store");
  if (no_cache) add("no-cache");
  if (is_private) add("private");
  if (is_public) add("public");
  add_time("max-age", max_age);
  add_time("s-maxage", s_maxage);
  add_time("stale-while-revalidate", stale_while_revalidate);
  add_time("stale-if-error", stale_if_error);
  if (must_revalidate) add("must-revalidate");
  if (proxy_revalidate) add("proxy-revalidate");
  if (immutable) add("immutable");
  if (must_understand) add("must-understand");
  return text;
}

CacheControl CacheControl::of_fields(Bytes lines) {
  CacheControl control;
  for_each_value(lines, "cache-control", [&](Bytes value) {
    http::ListReader directives(value);
    for (Bytes directive; directives.next(directive);) read(control, directive);
  });
  return control;
}

std::optional<CacheControl> CacheControl::of_targeted_fields(Bytes lines) {
  CacheControl control;
  bool has_some = false, is_malformed = false;
  for_each_value(lines, "cdn-cache-control", [&](Bytes value) {
    http::DictionaryReader members(value);
    for (http::DictionaryMember member; members.next(member);) {
      read(control, member);
      has_some = true;
    }
    is_malformed |= members.is_malformed();
  });
  if (!has_some || is_malformed) return std::nullopt;
  return control;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
