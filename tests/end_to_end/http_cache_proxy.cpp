// http_cache_proxy: a shared HTTP cache in front of another server: HttpCache and HttpClient.
// tests/conformance/test_http_cache_suite.py runs the public suite of HTTP caches against it.
//
//   http_cache_proxy --set origin=http://127.0.0.1:8000 --port 0
//
// A handler asks the origin for each request that the cache does not answer, and returns its reply.
// It leaves out the fields that the server writes itself or that belong to one connection. The
// origin's Date is one of them; it counts as Age (RFC 9111 §4.2.3).

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <utility>

#include "katana/app/application.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/http/client/http_client.hpp"
#include "katana/http/middleware/http_cache.hpp"
#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/date.hpp"
#include "katana/wire/http/field_list.hpp"

using namespace katana;

namespace {

struct Settings : app::ApplicationSettings {
  std::string origin = "http://127.0.0.1:8000";
};
KATANA_DESCRIBE_DERIVED(Settings, app::ApplicationSettings, origin)

bool is_one_of(Bytes name, std::initializer_list<Bytes> names) {
  return std::ranges::any_of(names,
                             [name](Bytes each) { return http::equals_ignoring_case(name, each); });
}

// RFC 9110 §7.6.1.
bool is_of_connection(Bytes name) {
  return is_one_of(name, {"connection", "keep-alive", "proxy-connection", "te", "trailer",
                          "transfer-encoding", "upgrade"});
}

bool is_listed(const client::Response& from, Bytes name) {
  for (std::size_t index = 0; index < from.field_count(); ++index) {
    if (http::equals_ignoring_case(from.name(index), "connection") &&
        http::list_contains_token(from.value(index), name)) {
      return true;
    }
  }
  return false;
}

client::Request to_origin(const std::string& origin, const Request& from) {
  client::Request request(std::string(from.view().method_text()),
                          origin + std::string(from.target()));
  const http::Head& head = from.view().head();
  for (std::size_t index = 0; index < head.field_count(); ++index) {
    const Bytes name = head.name(index);
    if (is_of_connection(name) || is_one_of(name, {"host", "content-length", "expect"})) continue;
    if (!from.content().empty() && http::equals_ignoring_case(name, "content-type")) continue;
    request.field(std::string(name), std::string(head.value(index)));
  }
  if (!from.content().empty()) {
    request.content(std::string(from.content()),
                    std::string(from.field("content-type").value_or("text/plain")));
  }
  return request;
}

// The age that the origin's Date tells of; the server replaces that field by its own.
Duration apparent_age(const client::Response& from) {
  const auto date = http::parse_date(from.find("date").value_or(Bytes()));
  if (!date) return {};
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(current_time().time_since_epoch());
  const Duration age = seconds(now.count() - *date);
  return age > seconds(1) ? age : Duration{};
}

Reply to_client(const client::Response& from) {
  Reply reply(from.status());
  const Duration age = apparent_age(from);
  for (std::size_t index = 0; index < from.field_count(); ++index) {
    const Bytes name = from.name(index), value = from.value(index);
    if (http::equals_ignoring_case(name, "content-type")) reply.set_content_type(value);
    if (is_of_connection(name) || is_listed(from, name) ||
        is_one_of(name, {"content-type", "content-length", "date", "server"})) {
      continue;
    }
    reply.add_field(name, value);
  }
  if (age > Duration{} && !from.find("age")) {
    reply.add_field("Age", std::to_string(age.ns / 1'000'000'000));
  }
  detail::PreparedReply::set_content(reply, Text(from.content()));
  return reply;
}

}  // namespace

int main(int count, char** arguments) {
  client::HttpClientOptions options;
  options.decode = false;
  options.retries_max = 0;
  options.user_agent = "";
  const auto http = client::HttpClient::make(options);
  if (!http) {
    std::fprintf(stderr, "http_cache_proxy: %s\n", http.error().describe().c_str());
    return 1;
  }
  app::Application<Settings> app({.name = "http_cache_proxy"});
  const HttpCache cache;
  app.routes([&](const registry::Services& services, Router& router) {
    router.use(cache.middleware());
    const std::string origin = services.get<config::Config<Settings>>().get()->origin;
    const auto pass_on = [&http = *http, origin](Request request) -> Task<Reply> {
      client::Request asked = to_origin(origin, request);
      const Result<client::Response> reply = co_await http.fetch(std::move(asked));
      if (!reply) co_return problem(502, "The origin did not answer.");
      co_return to_client(*reply);
    };
    router.any("/{path...}", pass_on);
  });
  return app.run(count, arguments);
}

// SPDX-License-Identifier: Apache-2.0
