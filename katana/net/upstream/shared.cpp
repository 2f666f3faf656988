#include "katana/net/upstream/shared.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace katana::upstream {
namespace {

Result<void> check(const Options& options) {
  const auto wrong = [&options](const char* option, const char* range) {
    return fail(Code::invalid_argument,
                fmt::format("{}: {} must be {}", options.kind, option, range));
  };
  if (options.servers.empty()) return wrong("servers", "one or more of them");
  if (options.servers.size() > options.servers_max) return wrong("servers", "at most servers_max");
  for (const Server& each : options.servers) {
    if (each.host.empty() || (each.port == 0 && !each.is_path())) {
      return wrong("each of servers", "a host with a port, or a path");
    }
  }
  if (options.connect_timeout <= Duration{}) return wrong("connect_timeout", "above zero");
  if (options.backoff_min <= Duration{}) return wrong("backoff_min", "above zero");
  if (options.backoff_max < options.backoff_min) {
    return wrong("backoff_max", "at least backoff_min");
  }
  if (options.vanished_after < seconds(2)) return wrong("vanished_after", "at least 2 s");
  if (options.outgoing_bytes_max == 0) return wrong("outgoing_bytes_max", "at least 1");
  return {};
}

}  // namespace

Shared::Shared(const Options& options, std::shared_ptr<const tls::ClientContext> context)
    : options_(options),
      tls_(std::move(context)),
      resolver_(options.resolver),
      servers_(options.servers) {}

Result<std::shared_ptr<Shared>> Shared::make(const Options& options) {
  if (auto checked = check(options); !checked) return std::unexpected(checked.error());
  std::shared_ptr<const tls::ClientContext> context;
  if (options.tls) {
    auto made = tls::ClientContext::make(*options.tls);
    if (!made) return std::unexpected(made.error().within(options.kind));
    context = *std::move(made);
  }
  return std::shared_ptr<Shared>(new Shared(options, std::move(context)));
}

Server Shared::server(std::size_t turn) const {
  const std::scoped_lock lock(mutex_);
  return servers_[turn % servers_.size()];
}

std::size_t Shared::server_count() const {
  const std::scoped_lock lock(mutex_);
  return servers_.size();
}

bool Shared::announce(const std::vector<Server>& servers) {
  const std::scoped_lock lock(mutex_);
  servers_ = options_.servers;
  for (const Server& each : servers) {
    const auto is_there = [&each](const Server& known) {
      return known.host == each.host && known.port == each.port;
    };
    if (std::ranges::any_of(servers_, is_there)) continue;
    if (servers_.size() >= options_.servers_max) return false;
    servers_.push_back(each);
  }
  return true;
}

Status Shared::status() const {
  const std::scoped_lock lock(mutex_);
  Status status = status_;
  status.attempts = attempts_.load(std::memory_order_relaxed);
  return status;
}

// The observer is called under the lock: down and recovered then come in order.
void Shared::note_failure(const Server& server, const Error& why, bool was_up, bool is_first,
                          Instant now) noexcept {
  const std::scoped_lock lock(mutex_);
  ++(was_up ? status_.losses : status_.failures);
  if (was_up) --status_.up;
  status_.server = server.text();
  status_.why = why;
  const bool begins = is_first && status_.down++ == 0;
  if (begins) status_.down_since = now;
  if (options_.observer != nullptr) tell(begins, why, now);
}

void Shared::tell(bool begins, const Error& why, Instant now) noexcept {
  std::string reason = why.describe();
  if (begins) {
    options_.observer->on_down(status_.server, why);
    told_at_ = never;
  } else {
    if (reason == told_) return;
    if (told_at_ != never && now < told_at_ + Observer::still_down_period) return;
    options_.observer->on_still_down(status_.server, why);
    told_at_ = now;
  }
  told_ = std::move(reason);
}

void Shared::note_up(const Server& server, bool was_down, Instant now) noexcept {
  const std::scoped_lock lock(mutex_);
  ++status_.up;
  if (!was_down || --status_.down > 0) return;
  const Duration down_for = now - std::exchange(status_.down_since, never);
  status_.why.reset();
  if (options_.observer != nullptr) options_.observer->on_recovered(server.text(), down_for);
}

void Shared::note_stopped(bool was_up, bool was_down) noexcept {
  const std::scoped_lock lock(mutex_);
  if (was_up) --status_.up;
  if (!was_down || --status_.down > 0) return;
  status_.down_since = never;
  status_.why.reset();
}

}  // namespace katana::upstream

// SPDX-License-Identifier: Apache-2.0
