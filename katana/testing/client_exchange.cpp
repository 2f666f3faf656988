#include "katana/testing/client_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/wire/http/characters.hpp"

namespace katana::testing::detail {

bool is_same_name(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, {}, http::to_lower, http::to_lower);
}

const std::string* find_field(const TestReply::Fields& fields, std::string_view name) {
  for (const auto& [own, value] : fields) {
    if (is_same_name(own, name)) return &value;
  }
  return nullptr;
}

TestReply::Fields fields_of(std::string_view head) {
  TestReply::Fields fields;
  head.remove_prefix(std::min(head.size(), head.find('\n') + 1));  // the status line
  for (std::size_t end; (end = head.find('\n')) != std::string_view::npos;) {
    std::string_view line = head.substr(0, end);
    head.remove_prefix(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ') || value.starts_with('\t')) value.remove_prefix(1);
    while (value.ends_with(' ') || value.ends_with('\t')) value.remove_suffix(1);
    fields.emplace_back(line.substr(0, colon), value);
  }
  return fields;
}

TestReply failed(const ClientExchange& exchange, std::string_view why, std::uint64_t seed) {
  const std::string came = exchange.received == 0
                               ? std::string("nothing came")
                               : fmt::format("{} bytes of a reply came, {} of them content",
                                             exchange.received, exchange.content.size());
  return TestReply(fmt::format("{}: {}; {} (seed {})", exchange.request, why, came, seed));
}

TestReply completed(ClientExchange& exchange) {
  TestReply reply(exchange.status, exchange.fields, std::move(exchange.content));
  reply.set_trailers(exchange.trailers);
  exchange.content.clear();
  if (!exchange.judge || exchange.upgrades) return reply;
  const std::string why = exchange.judge(reply);
  if (why.empty()) return reply;
  return TestReply(fmt::format("{}: {}", exchange.request, why));
}

}  // namespace katana::testing::detail

// SPDX-License-Identifier: Apache-2.0
