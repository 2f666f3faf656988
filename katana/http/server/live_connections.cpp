#include "katana/http/server/live_connections.hpp"

#include <algorithm>
#include <array>
#include <exception>

#include "katana/net/reactor/reactor.hpp"

namespace katana::server {
namespace {

// By the bits of net::PauseReason.
constexpr std::array<Bytes, 8> pause_names = {"outbox_full", "handler_pending", "content_unwanted",
                                              "pool_low",    "throttled",       "relay_full",
                                              "opening",     "memory_low"};

// Places of links that are looked at in one go, and in one slice: nearly all may be free.
constexpr std::size_t batch = 64;
constexpr std::size_t places_max = 4096;

bool is_older(const LiveConnection& one, const LiveConnection& other) noexcept {
  return one.age > other.age;
}

}  // namespace

std::string pause_text(std::uint8_t reasons) {
  std::string text;
  for (std::size_t bit = 0; bit < pause_names.size(); ++bit) {
    if ((reasons >> bit & 1) == 0) continue;
    if (!text.empty()) text += ", ";
    text += pause_names[bit];
  }
  return text;
}

bool LiveConnections::slice(net::Reactor& reactor) noexcept {
  try {
    if (now_ == never) now_ = reactor.now();
    if (place_ == 0) kept_.reserve(std::min<std::size_t>(filter_.limit, reactor.links_open()));
    std::size_t visited = 0;
    for (std::size_t looked = 0;
         visited < slice_max && looked < places_max && place_ < reactor.link_places();
         looked += batch) {
      place_ = reactor.visit_links(place_, batch, [&](net::Connection& connection) {
        ++visited;
        visit(connection, now_);
      });
    }
  } catch (const std::bad_alloc&) {
    place_ = reactor.link_places();
  }
  if (place_ < reactor.link_places()) return false;
  std::ranges::make_heap(kept_, is_younger);
  return true;
}

// The kept ones are a heap with the youngest on top, until all were seen.
void LiveConnections::visit(net::Connection& connection, Instant now) {
  const Duration age = std::max(now - connection.opened_at(), Duration{});
  if (age < filter_.older || (filter_.paused && !connection.paused())) return;
  const bool is_kept = kept_.size() < filter_.limit || (!kept_.empty() && kept_.front().age < age);
  if (filter_.client && filter_.client != ClientAddress::of(connection.peer())) return;
  ++matched_;
  if (!is_kept) return;
  if (kept_.size() == filter_.limit) {
    std::ranges::pop_heap(kept_, is_older);
    kept_.pop_back();
  }
  const net::ConnectionCounters& counters = connection.counters();
  kept_.push_back({.peer = connection.peer(),
                   .protocol = connection.protocol_name(),
                   .state = connection.state(),
                   .is_outgoing = connection.outgoing(),
                   .has_tls = connection.transform() != nullptr,
                   .pause_reasons = connection.pause_reasons(),
                   .age = age,
                   .requests = counters.requests,
                   .bytes_received = counters.bytes_received,
                   .bytes_sent = counters.bytes_sent,
                   .input_bytes = connection.input_pending(),
                   .output_bytes = connection.output_pending()});
  std::ranges::push_heap(kept_, is_older);
}

bool ClientCloser::slice(net::Reactor& reactor) noexcept {
  place_ = reactor.visit_links(place_, slice_max, [&](net::Connection& connection) {
    if (connection.outgoing() || connection.state() == net::ConnectionState::resetting) return;
    if (client_ != ClientAddress::of(connection.peer())) return;
    connection.reset();
    connection.wake();
    closed_.fetch_add(1, std::memory_order_relaxed);  // a count alone
  });
  return place_ >= reactor.link_places();
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
