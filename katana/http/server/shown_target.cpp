#include "katana/http/server/shown_target.hpp"

#include <algorithm>

#include "katana/http/handlers/extract.hpp"
#include "katana/http/routing/route_pattern.hpp"
#include "katana/wire/http/secret_names.hpp"

namespace katana::server {
namespace {

// Returns whether `sent` is the name, or the name with brackets behind it.
bool is_of(Bytes sent, const std::string& name) {
  return sent.starts_with(name) && (sent.size() == name.size() || sent[name.size()] == '[');
}

// A malformed name is never read by a handler, but its value may still be a secret.
bool may_be(Bytes encoded, const std::string& name) {
  if (!http::needs_form_decoding(encoded)) return is_of(encoded, name);
  const auto decoded = detail::decoded_form(encoded);
  return !decoded || is_of(decoded->bytes(), name);
}

bool is_among(const std::vector<std::string>& names, Bytes encoded) {
  return std::ranges::any_of(names, [&](const std::string& name) { return may_be(encoded, name); });
}

bool is_known(Bytes encoded) {
  if (!http::needs_form_decoding(encoded)) return http::is_secret_parameter(encoded);
  const auto decoded = detail::decoded_form(encoded);
  return !decoded || http::is_secret_parameter(decoded->bytes());
}

// Takes a segment off, with the slash in front of it.
Bytes take_segment(Bytes& path) noexcept {
  const std::size_t end = std::min(path.find('/', 1), path.size());
  const Bytes segment = path.substr(0, end);
  path.remove_prefix(end);
  return segment;
}

// Returns whether a parameter of the route's pattern has the name of a credential.
bool has_secret_segment(Bytes pattern) noexcept {
  for (std::size_t open; (open = pattern.find('{')) != Bytes::npos;) {
    pattern.remove_prefix(open);
    const std::size_t end = std::min(pattern.find('/'), pattern.size());
    if (http::is_secret_segment(detail::segment_of(pattern.substr(0, end)).text)) return true;
    pattern.remove_prefix(end);
  }
  return false;
}

// Compares segment by segment. A path in another spelling than the pattern's, with escapes or dots,
// is not shown: the pattern tells enough.
void append_path(Bytes path, Bytes pattern, Text& room) {
  using Kind = detail::RouteSegmentKind;
  const Bytes whole = pattern;
  Text shown;
  bool fits = path.starts_with('/');
  while (fits && !pattern.empty()) {
    const auto wanted = detail::segment_of(take_segment(pattern).substr(1));
    const Bytes sent = wanted.kind == Kind::rest ? path : take_segment(path);
    if (wanted.kind == Kind::rest) path = {};
    fits = sent.starts_with('/') && (wanted.kind != Kind::literal || sent.substr(1) == wanted.text);
    const bool hides = wanted.kind != Kind::literal && http::is_secret_segment(wanted.text);
    shown.append(hides ? Bytes("/***") : sent);
  }
  room.append(fits && path.empty() ? shown.bytes() : whole);
}

}  // namespace

// A record without a query or a secret in its path is shown as sent, without a copy.
Bytes shown_target(const session::ExchangeRecord& record, const TargetRules& rules, Text& room) {
  static const std::vector<std::string> none;
  const auto& of_route = record.route != nullptr ? record.route->secret_parameters : none;
  const Bytes pattern = record.route != nullptr ? Bytes(record.route->pattern) : Bytes();
  const std::size_t mark = std::min(record.target.find('?'), record.target.size());
  const Bytes path = record.target.substr(0, mark);
  const bool hides_path = has_secret_segment(pattern);
  const bool has_query = mark != record.target.size();
  if (!hides_path && (!has_query || !rules.queries)) [[likely]]
    return path;
  if (hides_path) append_path(path, pattern, room);
  if (!hides_path) room.append(path);
  if (!has_query || !rules.queries) return room.bytes();
  room.push_back('?');
  Bytes rest = record.target.substr(mark + 1);
  for (bool more = true; more;) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const Bytes pair = rest.substr(0, end);
    const std::size_t equals = pair.find('=');
    const Bytes name = pair.substr(0, equals);
    const bool hides =
        equals != Bytes::npos &&
        (is_known(name) || is_among(rules.secret_parameters, name) || is_among(of_route, name));
    room.append(hides ? pair.substr(0, equals + 1) : pair);
    if (hides) room.append("***");
    more = end < rest.size();
    if (more) room.push_back('&');
    rest.remove_prefix(end + (more ? 1 : 0));
  }
  return room.bytes();
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
