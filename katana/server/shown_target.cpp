#include "katana/server/shown_target.hpp"

#include <algorithm>

#include "katana/service/extract.hpp"

namespace katana::server {
namespace {

// The name, or one with brackets of something within it.
bool is_of(Bytes sent, const std::string& name) {
  return sent.starts_with(name) && (sent.size() == name.size() || sent[name.size()] == '[');
}

// What is not well-formed is no name that a handler would read, and may be a secret all the same.
bool may_be(Bytes encoded, const std::string& name) {
  if (!http::needs_form_decoding(encoded)) return is_of(encoded, name);
  const auto decoded = detail::decoded_form(encoded, "name", name);
  return !decoded || is_of(decoded->bytes(), name);
}

bool is_among(const std::vector<std::string>& names, Bytes encoded) {
  return std::ranges::any_of(names, [&](const std::string& name) { return may_be(encoded, name); });
}

}  // namespace

Bytes shown_target(const session::ExchangeRecord& record, const TargetRules& rules, Text& room) {
  static const std::vector<std::string> none;
  const auto& of_route = record.route != nullptr ? record.route->secret_parameters : none;
  if (rules.queries && rules.secret_parameters.empty() && of_route.empty()) [[likely]]
    return record.target;
  const std::size_t mark = record.target.find('?');
  if (mark == Bytes::npos) return record.target;
  if (!rules.queries) return record.target.substr(0, mark);
  room = Text(record.target.substr(0, mark + 1));
  Bytes rest = record.target.substr(mark + 1);
  for (bool more = true; more;) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const Bytes pair = rest.substr(0, end);
    const std::size_t equals = pair.find('=');
    const Bytes name = pair.substr(0, equals);
    const bool hides = equals != Bytes::npos &&
                       (is_among(rules.secret_parameters, name) || is_among(of_route, name));
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
