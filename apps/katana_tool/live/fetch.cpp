#include "katana_tool/live/fetch.hpp"

#include <fmt/format.h>

#include <fstream>
#include <utility>

#include "katana/base/coroutine/task.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/http/client/http_client.hpp"
#include "katana/http/client/request.hpp"
#include "katana/http/client/url.hpp"
#include "katana/http/server/engines.hpp"
#include "katana_tool/live/top_view.hpp"

namespace katana::tool {

// The reason in the document of a refusal.
struct RefusalDocument {
  std::string detail = {};
};
KATANA_DESCRIBE(RefusalDocument, detail)

namespace {

constexpr std::size_t detail_width_max = 500;
constexpr std::size_t session_bytes_max = 256;

net::ReactorOptions small_reactor() {
  net::ReactorOptions options;
  options.engine.links_max = 16;
  options.output_blocks_max = 256;
  options.output_blocks_reserve = 16;
  options.carry_large_max = 16;
  return options;
}

// A wrong parameter is named by the document of the reply, which may come from any program.
std::string remedy_of(unsigned status, Bytes content) {
  switch (status) {
    case 400: {
      RefusalDocument refusal;
      container::Findings findings;
      if (container::read_json(content, refusal, findings) && !refusal.detail.empty()) {
        return shown(refusal.detail, detail_width_max);
      }
      return "see the log of the program";
    }
    case 401: return "the token is missing or wrong: give --token-file";
    case 404:
      return "the program shows no pages of operations here: ask its operations listener "
             "(operations.port), or set operations.token";
    case 421: return "this host is no name of the program: take one of http.hosts";
    default: return "see the log of the program";
  }
}

}  // namespace

struct Fetcher::State {
  client::HttpClient http;
  std::string url;
  std::string token;
  Duration timeout;
  std::unique_ptr<net::Reactor> reactor;
};

Fetcher::Fetcher(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}

Result<std::unique_ptr<Fetcher>> Fetcher::with_token_file(const std::string& url,
                                                          const std::string& token_file) {
  if (token_file.empty()) return make(url, {});
  auto token = token_in(token_file);
  if (!token) return std::unexpected(token.error());
  return make(url, *std::move(token));
}

Fetcher::~Fetcher() = default;

const std::string& Fetcher::url() const noexcept { return state_->url; }

Result<std::unique_ptr<Fetcher>> Fetcher::make(const std::string& url, std::string token,
                                               Duration timeout) {
  std::string base = url.contains("://") ? url : "http://" + url;
  while (base.ends_with('/')) base.pop_back();
  if (auto parsed = client::parse_url(base + "/"); !parsed) {
    return std::unexpected(parsed.error().within(url));
  }
  client::HttpClientOptions options;
  options.connections_max = 1;
  auto http = client::HttpClient::make(std::move(options));
  if (!http) return std::unexpected(http.error());
  auto reactor =
      server::make_reactor(server::EngineKind::epoll_edge, small_reactor(), session_bytes_max);
  if (auto started = reactor->start(); !started) return std::unexpected(started.error());
  return std::unique_ptr<Fetcher>(new Fetcher(std::make_unique<State>(
      *std::move(http), std::move(base), std::move(token), timeout, std::move(reactor))));
}

Result<std::string> Fetcher::get(const std::string& path) {
  net::Reactor& reactor = *state_->reactor;
  reactor.turn(Duration{});  // makes it this thread's reactor, and handles pending events
  const std::string url = state_->url + path;
  client::Request request(url);
  request.timeout(state_->timeout);
  if (!state_->token.empty()) request.field("Authorization", "Bearer " + state_->token);
  auto task = state_->http.fetch(std::move(request));
  task.start();
  while (!task.done()) {
    const Instant due = reactor.timers().next();
    reactor.turn(due == never ? seconds(3600) : due - reactor.now());
  }
  auto reply = task.result();
  if (!reply) return std::unexpected(reply.error());
  if (reply->status() != 200) {
    return fail(Code::unavailable, fmt::format("GET {}: status {}; {}", url, reply->status(),
                                               remedy_of(reply->status(), reply->content())));
  }
  return std::string(reply->content());
}

Result<std::string> token_in(const std::string& file) {
  std::ifstream input(file);
  if (!input) return fail(Code::not_found, fmt::format("{}: the file cannot be read", file));
  std::string token;
  if (!std::getline(input, token) || token.empty()) {
    return fail(Code::not_found, fmt::format("{}: there is no token in its first line", file));
  }
  return token;
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
