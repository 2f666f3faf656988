#include "katana/http/client/reactor_pool.hpp"

#include <fmt/format.h>

#include <utility>

#include "katana/http/client/http1_driver.hpp"
#include "katana/http/client/http2_driver.hpp"

namespace katana::client {
namespace {

std::unique_ptr<ProtocolDriver> make_driver(HttpVersion version,
                                            const DriverEnvironment& environment) {
  if (version == HttpVersion::http_2) return std::make_unique<Http2Driver>(environment);
  return std::make_unique<Http1Driver>(environment);
}

}  // namespace

ReactorPool& ReactorPool::of(net::Reactor& reactor, const std::shared_ptr<const Shared>& shared) {
  if (auto* const found = reactor.attached(shared.get())) return static_cast<ReactorPool&>(*found);
  auto made = std::make_unique<ReactorPool>(reactor, shared);
  ReactorPool& pool = *made;
  reactor.attach(shared.get(), std::move(made));
  return pool;
}

ReactorPool::ReactorPool(net::Reactor& reactor, std::shared_ptr<const Shared> shared)
    : context_(reactor, std::move(shared)) {}

ReactorPool::~ReactorPool() = default;

std::size_t ReactorPool::connection_count() const noexcept {
  std::size_t count = 0;
  for (const auto& [name, origin] : origins_) count += origin->connection_count();
  return count;
}

void ReactorPool::submit(Call& call) noexcept {
  if (OriginPool* const origin = find_or_make(call.outgoing().origin)) return origin->add(call);
  call.fail(Error(Code::resource_exhausted,
                  fmt::format("connections to {} origins are already open; raise origins_max",
                              context_.options().origins_max)),
            Repeat::never);
}

OriginHealth* ReactorPool::health(const Origin& origin) noexcept {
  OriginPool* const found = find_or_make(origin);
  return found != nullptr ? &found->health() : nullptr;
}

std::size_t ReactorPool::open_breaker_count() const noexcept {
  std::size_t count = 0;
  for (const auto& [name, origin] : origins_) {
    if (origin->health().breaker.state() != CircuitBreaker::State::closed) ++count;
  }
  return count;
}

void ReactorPool::retire_idle(const Origin& origin) noexcept {
  if (OriginPool* const found = find_or_make(origin)) found->retire_idle();
}

// Null: origins_max origins have connections.
OriginPool* ReactorPool::find_or_make(const Origin& origin) noexcept {
  std::string name = origin.text();
  if (const auto found = origins_.find(name); found != origins_.end()) return found->second.get();
  const std::size_t most = context_.options().origins_max;
  if (origins_.size() >= most) forget_empty();
  if (origins_.size() >= most) return nullptr;
  auto& made = origins_[std::move(name)];
  made = std::make_unique<OriginPool>(context_, origin, &make_driver);
  return made.get();
}

void ReactorPool::forget_empty() noexcept {
  std::erase_if(origins_,
                [](const auto& each) { return each.second->empty() && !each.second->is_listed(); });
}

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
