#include "lab/load/http2_connection.hpp"

#include <algorithm>

namespace katana::load {
namespace {

constexpr std::size_t pool_block_bytes = 4096;
constexpr std::size_t pool_blocks_max = std::size_t{1} << 24;

// Content is counted as it comes and kept nowhere, so that windows may be wide.
http2::Limits limits_for(const LoadPlan& plan) {
  http2::Limits limits;
  limits.streams_max = plan.pipeline;
  limits.stream_window_bytes = 1 << 20;
  limits.connection_window_bytes = 1 << 24;
  limits.head_bytes_max = 60 * 1024;
  return limits;
}

std::size_t largest_block(const Target& target) {
  std::size_t most = 0;
  for (const Request& each : target.requests) most = std::max(most, each.block.size());
  return most;
}

std::size_t pool_capacity(const LoadPlan& plan, std::size_t block_bytes, std::size_t connections) {
  const std::size_t each = plan.pipeline * (block_bytes + 128) / (pool_block_bytes / 2) + 16;
  return std::min(pool_blocks_max, connections * each + 64);
}

}  // namespace

Http2Connection::Http2Connection(http2::ClientContext& context, BlockPool& blocks,
                                 std::uint32_t streams)
    : context_(context), outbox_(blocks), exchanges_(streams), free_(streams) {}

void Http2Connection::begin(Instant now) {
  outbox_.clear();
  machine_.emplace(context_, now);
  (void)machine_->start(outbox_);  // without room the first send finds nothing, and it times out
  free_.resize(exchanges_.size());
  for (std::uint32_t index = 0; index < free_.size(); ++index) free_[index] = index;
  uploads = 0;
  has_answered = false;
}

Exchange& Http2Connection::take() noexcept {
  KATANA_REQUIRE(!free_.empty());
  Exchange& exchange = exchanges_[free_.back()];
  free_.pop_back();
  exchange = {};
  return exchange;
}

void Http2Connection::give(Exchange& exchange) noexcept {
  if (!exchange.unsent.empty()) --uploads;
  free_.push_back(static_cast<std::uint32_t>(&exchange - exchanges_.data()));
}

Http2Side::Http2Side(const LoadPlan& plan, const Target& target, std::size_t count)
    : context(limits_for(plan)),
      blocks(pool_block_bytes, pool_capacity(plan, largest_block(target), count)),
      block_bytes_max(largest_block(target)) {
  for (std::size_t index = 0; index < count; ++index) {
    connections.emplace_back(context, blocks, plan.pipeline);
  }
}

std::size_t Http2Side::memory_bytes_max() const noexcept {
  const std::size_t streams = connections.empty() ? 0 : context.limits.streams_max;
  const std::size_t each =
      sizeof(Http2Connection) + streams * (sizeof(Exchange) + sizeof(std::uint32_t)) + 16 * 1024;
  return connections.size() * each + blocks.capacity() * pool_block_bytes + sizeof(Http2Side);
}

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
