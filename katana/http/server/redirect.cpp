#include "katana/http/server/redirect.hpp"

#include <fmt/format.h>

#include "katana/http/handlers/framework_problems.hpp"
#include "katana/wire/http/url.hpp"

namespace katana::server {
namespace {

constexpr std::uint16_t https_port = 443;

}  // namespace

void RedirectToHttps::add(engine::Listener listener, std::uint16_t port) {
  if (ports_.size() <= listener) ports_.resize(listener + 1);
  ports_[listener] = port;
}

void RedirectToHttps::on_request(session::Exchange& exchange, const http::Head& head) noexcept {
  const engine::Listener listener = exchange.listener();
  const std::uint16_t port = listener < ports_.size() ? ports_[listener] : std::uint16_t{0};
  const auto target = http::split_target(head.target(), head.method());
  if (port == 0 || !target || target->path.empty() || target->path == "/health" ||
      target->path == "/ready") {
    return handler_.on_request(exchange, head);
  }
  const session::Client client = exchange.client(head);
  if (client.is_secure()) return handler_.on_request(exchange, head);
  try {
    std::string query = target->has_query ? "?" : "";
    query += target->query;
    const Bytes named = session::authority_of(head);
    const bool is_named = any_host_ || named.data() == client.host.data() || names_.has(named);
    const Reply reply =
        is_named ? reply_to(client.host, target->path, query, port) : strange_host();
    exchange.respond(
        {.status = reply.status(), .content_type = reply.content_type(), .fields = reply.fields()},
        reply.content(), reply.content_stays());
  } catch (...) {
    exchange.abort();  // no memory for a location
  }
}

Reply RedirectToHttps::reply_to(Bytes authority, Bytes path, Bytes query,
                                std::uint16_t port) const {
  const auto named = http::split_authority(authority);
  if (!named || named->host.empty()) {
    return problem(problem_types::malformed_request,
                   "This is served by https only, and the request names no host.");
  }
  if (!any_host_ && !names_.has(authority)) return strange_host();
  std::string location = named->bracketed ? fmt::format("https://[{}]", named->host)
                                          : fmt::format("https://{}", named->host);
  if (port != https_port) location += fmt::format(":{}", port);
  location += path;
  location += query;
  return Reply::redirect(location, 308);
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
