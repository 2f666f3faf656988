#include "katana/http/client/origin_pool.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/net/reactor/destinations.hpp"
#include "katana/net/upstream/addresses.hpp"

namespace katana::client {
namespace {

// If every address refuses while some connections are open, no connection is opened for this time.
constexpr Duration refused_pause = seconds(1);

}  // namespace

OriginPool::OriginPool(ReactorContext& context, const Origin& origin, DriverFactory make_driver)
    : context_(context),
      make_driver_(make_driver),
      destinations_(net::Destinations::of(context.reactor())),
      state_{.origin = origin,
             .tls = origin.secure && destinations_ == nullptr,
             .proxy = destinations_ == nullptr ? context.proxy_for(origin) : nullptr},
      port_(state_.peer().port) {
  const HttpClientOptions& options = context.options();
  const bool http1_only =
      options.http2 == Http2::never ||
      (!state_.tls && (options.http2 == Http2::by_alpn || state_.proxy != nullptr));
  if (http1_only) state_.calls_per_connection = 1;
  if (destinations_ != nullptr) return;  // destinations may change: each connection asks
  const std::string& host = state_.peer().host;
  const auto& hosts = options.hosts;
  if (const auto given = hosts.find(host); given != hosts.end()) {
    addresses_ = given->second;
  } else if (upstream::is_numeric_address(host)) {
    addresses_ = {host};
  }
  if (!addresses_.empty()) addresses_until_ = never;
}

void OriginPool::add(Call& call) noexcept {
  if (ClientConnection* const connection = waiting_.empty() ? find_available() : nullptr) {
    connection->begin(call);
    return;
  }
  if (waiting_.size() >= context_.options().waiting_max) {
    call.fail(
        Error(Code::resource_exhausted,
              fmt::format("{} requests already wait for a connection to {}; raise waiting_max or "
                          "connections_max",
                          waiting_.size(), state_.origin.text())),
        Repeat::never);
    return;
  }
  waiting_.push_back(call);
  context_.queue().run_later(*this);
}

// Returns the connection used last: the others then reach their idle timeout. Null: no connection
// has capacity.
ClientConnection* OriginPool::find_available() noexcept {
  for (std::size_t index = connections_.size(); index-- > 0;) {
    if (connections_[index]->capacity() == 0) continue;
    const auto found = connections_.begin() + static_cast<std::ptrdiff_t>(index);
    std::rotate(found, found + 1, connections_.end());
    return connections_.back().get();
  }
  return nullptr;
}

void OriginPool::assign_waiting() noexcept {
  while (!waiting_.empty()) {
    ClientConnection* const connection = find_available();
    if (connection == nullptr) return;
    connection->begin(waiting_.pop_front());
  }
}

void OriginPool::run() noexcept {
  std::erase_if(connections_, [](const auto& connection) { return connection->closed(); });
  if (lookup_ && lookup_->done()) lookup_.reset();
  assign_waiting();
  if (!waiting_.empty()) open_connections();
  limit_idle();
}

void OriginPool::on_idle() noexcept {
  failures_ = 0;
  context_.queue().run_later(*this);
}

bool OriginPool::knows_addresses() const noexcept {
  return !addresses_.empty() && context_.reactor().now() < addresses_until_;
}

bool OriginPool::may_connect() const noexcept {
  const auto open = static_cast<std::size_t>(std::ranges::count_if(
      connections_, [](const auto& connection) { return !connection->closed(); }));
  if (open >= context_.options().connections_max) return false;
  return open == 0 || context_.reactor().now() >= begin_again_at_;
}

void OriginPool::open_connections() noexcept {
  if (!knows_addresses()) {
    if (lookup_) return;
    lookup_.emplace(look_up());
    if (!lookup_->start()) return;
    lookup_.reset();
    if (!knows_addresses()) return;
  }
  for (std::size_t wanted = count_wanted(); wanted > 0 && !waiting_.empty() && may_connect();) {
    if (open_connection()) --wanted;
    assign_waiting();
  }
}

// Returns how many connections to open for the waiting calls, in addition to those that are
// opening.
std::size_t OriginPool::count_wanted() const noexcept {
  if (state_.calls_per_connection == 0) {
    const bool any = std::ranges::any_of(connections_, [](const auto& connection) {
      return !connection->closed() && !connection->ending();
    });
    return any ? 0 : 1;
  }
  const auto opening = static_cast<std::size_t>(std::ranges::count_if(
      connections_, [](const auto& connection) { return connection->opening(); }));
  const std::size_t needed =
      (waiting_.size() + state_.calls_per_connection - 1) / state_.calls_per_connection;
  return needed - std::min(opening, needed);
}

// Returns false if connecting failed at once; on_connect_failed() was then called.
bool OriginPool::open_connection() noexcept {
  auto connection = std::make_unique<ClientConnection>(
      context_, state_, static_cast<ConnectionEvents&>(*this), make_driver_);
  auto connected = connection->connect(addresses_[address_], port_);
  if (connected) {
    connections_.push_back(std::move(connection));
    return true;
  }
  CallList none;
  on_connect_failed(none, connected.error(), false);
  return false;
}

void OriginPool::on_connect_failed(CallList& calls, const Error& error, bool answered) noexcept {
  while (!calls.empty()) {
    Call& call = calls.pop_front();
    call.requeue();
    waiting_.push_front(call);
  }
  ++failures_;
  if (!addresses_.empty()) address_ = (address_ + 1) % addresses_.size();
  // If the TLS handshake fails at one address, it would fail at the others.
  if (!answered && failures_ < addresses_.size()) return;
  failures_ = 0;
  const bool any = std::ranges::any_of(connections_, [](const auto& connection) {
    return !connection->closed() && !connection->opening();
  });
  if (any) {
    begin_again_at_ = context_.reactor().now() + refused_pause;
  } else {
    fail_waiting(error);
  }
}

void OriginPool::fail_waiting(const Error& error) noexcept {
  while (!waiting_.empty()) waiting_.pop_front().fail(error, Repeat::never);
}

void OriginPool::retire_idle() noexcept {
  for (const auto& connection : connections_) {
    if (connection->idle()) connection->retire();
  }
}

void OriginPool::limit_idle() noexcept {
  const auto unused = [](const auto& connection) {
    return connection->idle() && connection->capacity() > 0;
  };
  auto count = static_cast<std::size_t>(std::ranges::count_if(connections_, unused));
  for (const auto& connection : connections_) {
    if (count <= context_.options().idle_max) return;
    if (!unused(connection)) continue;
    connection->retire();
    --count;
  }
}

// For the connections that are opened now.
void OriginPool::ask_destinations() noexcept {
  const Origin& origin = state_.origin;
  auto found = destinations_->find(origin.secure ? "https" : "http", origin.host, origin.port);
  if (!found) return fail_waiting(found.error());
  addresses_ = {std::move(found->address)};
  address_ = failures_ = 0;
  port_ = found->port;
  addresses_until_ = context_.reactor().now() + nanoseconds(1);
}

Task<void> OriginPool::look_up() {
  if (destinations_ != nullptr) {
    ask_destinations();
    co_return;
  }
  auto known = co_await context_.resolver().look_up(state_.peer().host, context_.reactor());
  if (known.addresses) {
    addresses_ = *std::move(known.addresses);
    address_ = failures_ = 0;
    addresses_until_ = known.until;
  } else {
    fail_waiting(known.addresses.error());
  }
  context_.queue().run_later(*this);
}

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
