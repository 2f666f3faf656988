#include "katana/app/http_check.hpp"

#include <fmt/format.h>

#include <memory>
#include <stop_token>
#include <utility>

#include "katana/base/coroutine/task.hpp"
#include "katana/http/client/http_client.hpp"
#include "katana/http/client/request.hpp"
#include "katana/http/client/url.hpp"
#include "katana/http/server/engines.hpp"

namespace katana::app {
namespace {

// The check waits longer than the request's own deadline: the request's Error then names the cause.
constexpr Duration slack = milliseconds(500);

net::ReactorOptions small_reactor() {
  net::ReactorOptions options;
  options.engine.links_max = 16;
  options.output_blocks_max = 256;
  options.output_blocks_reserve = 16;
  options.carry_large_max = 16;
  return options;
}

// Asks, on the thread that calls it.
class Asker {
 public:
  Asker(client::HttpClient http, std::string url, Duration timeout)
      : http_(std::move(http)), url_(std::move(url)), timeout_(timeout) {}

  Result<void> ask(const std::stop_token& told) {
    if (reactor_ == nullptr) {
      auto made =
          server::make_reactor(server::EngineKind::epoll_edge, small_reactor(), session_bytes_max);
      if (auto started = made->start(); !started) return started;
      reactor_ = std::move(made);
    }
    if (told.stop_requested()) return cancelled();
    reactor_->turn(Duration{});  // makes it this thread's reactor, and handles pending events
    const std::stop_callback wake(told, [this] { reactor_->post(wake_); });
    auto task = http_.fetch(client::Request(url_).timeout(timeout_));
    task.start();
    while (!task.done() && !told.stop_requested()) {
      const Instant due = reactor_->timers().next();
      reactor_->turn(due == never ? seconds(3600) : due - reactor_->now());
    }
    if (!task.done()) return cancelled();
    const auto reply = task.result();
    if (!reply) return std::unexpected(reply.error());
    if (reply->status() >= 200 && reply->status() < 300) return {};
    return fail(Code::unavailable, fmt::format("GET {}: status {}", url_, reply->status()));
  }

 private:
  static constexpr std::size_t session_bytes_max = 256;

  static std::unexpected<Error> cancelled() {
    return fail(Code::cancelled, "cancelled by the caller");
  }

  const client::HttpClient http_;
  const std::string url_;
  const Duration timeout_;
  Message wake_{[](Message&) noexcept {}};
  std::unique_ptr<net::Reactor> reactor_;
};

}  // namespace

Result<metrics::Check> http_check(HttpCheckOptions options) {
  const std::string context = fmt::format("health check '{}'", options.name);
  if (auto url = client::parse_url(options.url); !url) {
    return std::unexpected(url.error().within(context));
  }
  if (options.timeout <= Duration{}) {
    return fail(Code::invalid_argument, context + ": its timeout has to be above zero");
  }
  options.client.connections_max = 1;
  auto http = client::HttpClient::make(std::move(options.client));
  if (!http) return std::unexpected(http.error().within(context));
  auto asker = std::make_shared<Asker>(*std::move(http), std::move(options.url), options.timeout);
  return metrics::Check{.name = std::move(options.name),
                        .kind = options.kind,
                        .run = [asker](std::stop_token told) { return asker->ask(told); },
                        .timeout = {options.timeout.ns + slack.ns},
                        .fresh_for = options.fresh_for};
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
