#include "katana/net/proxy/transform.hpp"

#include <algorithm>
#include <new>

namespace katana::proxy {

std::unique_ptr<net::Transform> ProxyTransforms::make(BlockPool& blocks) noexcept {
  return std::unique_ptr<net::Transform>(new (std::nothrow) ProxyTransform(*this, blocks));
}

// Each connection has only one of the two at a time.
std::size_t ProxyTransforms::heap_bytes_each() const noexcept {
  const std::size_t next = next_ != nullptr ? next_->heap_bytes_each() : 0;
  return std::max(sizeof(ProxyTransform), next);
}

net::TransformStep ProxyTransform::receive(Bytes input, std::span<char>, Instant) noexcept {
  const Step step = machine_.next(input);
  switch (step.event) {
    case Event::need_bytes: return {net::TransformEvent::need_bytes, step.consumed, 0};
    case Event::done: return {net::TransformEvent::handed_on, step.consumed, 0};
    case Event::refused: break;
  }
  ++factory_.counters_.refused[static_cast<std::size_t>(machine_.refusal())];
  return {net::TransformEvent::failed, step.consumed, 0};
}

net::HandedOn ProxyTransform::hand_on() noexcept {
  net::HandedOn handed;
  if (const auto source = machine_.source()) {
    ++factory_.counters_.named;
    handed.peer = engine::PeerEndpoint::of(source->address, source->port);
  } else {
    ++factory_.counters_.unnamed;
  }
  if (factory_.next_ == nullptr) return handed;
  handed.next = factory_.next_->make(blocks_);
  handed.failed = handed.next == nullptr;
  return handed;
}

void ProxyTransform::cut(net::TransformCut why) noexcept {
  ++(why == net::TransformCut::timed_out ? factory_.counters_.late : factory_.counters_.cut);
}

}  // namespace katana::proxy

// SPDX-License-Identifier: Apache-2.0
