// The functions of JetStreams that read by consumers. They have a separate file because consumers
// depend on JetStreams.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "katana/net/reactor/reactor.hpp"
#include "katana/stores/bus/nats/jet_reader.hpp"
#include "katana/stores/bus/nats/jet_streams.hpp"
#include "katana/stores/bus/subject.hpp"

namespace katana::bus {
namespace {

constexpr std::size_t read_max = 1000;

}  // namespace

Task<Result<std::unique_ptr<Consumer>>> JetStreams::do_consume(ConsumeOptions options) {
  auto reader = std::make_unique<JetReader>(*this, std::move(options), true);
  auto begun = co_await reader->begin();
  if (!begun) co_return std::unexpected(begun.error());
  co_return std::unique_ptr<Consumer>(std::move(reader));
}

// ---- stored messages ---------------------------------------------------------------------------

// Reads the messages that the options select, from their start to the present end, and keeps the
// last `keep`.
Task<Result<std::vector<StoredMessage>>> JetStreams::read(ConsumeOptions options,
                                                          std::size_t keep) {
  std::vector<StoredMessage> messages;
  JetReader reader(*this, options, false);
  auto begun = co_await reader.begin();
  if (!begun) co_return std::unexpected(begun.error());
  const std::uint64_t pending = reader.waiting_at_begin();
  const std::uint64_t wanted = options.start == StartAt::sequence && options.deliveries_max != 0
                                   ? std::min<std::uint64_t>(pending, options.deliveries_max)
                                   : pending;
  for (std::uint64_t count = 0; count < wanted; ++count) {
    auto next = co_await reader.next();
    if (!next) break;
    if (!*next) co_return std::unexpected(next->error());
    if (messages.size() == keep) messages.erase(messages.begin());
    messages.push_back(**std::move(next));
    if (messages.back().waiting == 0) break;
  }
  reader.remove();
  co_return messages;
}

// Finds a position behind which at least `count` messages match the filter, and not many more.
// JetStream counts the messages behind a position, but does not say where the last `count` begin.
Task<Result<std::uint64_t>> JetStreams::first_of_last(ConsumeOptions options, std::size_t count) {
  auto stream = co_await look(options.stream, false, api_timeout);
  if (!stream) co_return std::unexpected(stream.error());
  std::uint64_t low = stream->first_sequence;
  std::uint64_t high = stream->last_sequence + 1;
  options.start = StartAt::sequence;
  for (int steps = 0; steps < 40 && low + 1 < high; ++steps) {
    const std::uint64_t middle = low + (high - low) / 2;
    options.start_sequence = middle;
    auto created = co_await create(options, false, api_timeout);
    if (!created) co_return std::unexpected(created.error());
    (void)bus_.publish(fmt::format("$JS.API.CONSUMER.DELETE.{}.{}",
                                   names_.full_stream(options.stream), created->name),
                       "");
    if (created->pending >= count) {
      low = middle;
      if (created->pending <= 4 * count) break;
    } else {
      high = middle;
    }
  }
  co_return std::max<std::uint64_t>(low, 1);
}

Task<Result<std::vector<StoredMessage>>> JetStreams::last(std::string stream, std::string subject,
                                                          std::size_t count) {
  ConsumeOptions options{.stream = std::move(stream), .filter = std::move(subject)};
  count = std::min(count, read_max);
  if (count == 0) co_return std::vector<StoredMessage>();
  auto first = co_await first_of_last(options, count);
  if (!first) co_return std::unexpected(first.error());
  options.start = StartAt::sequence;
  options.start_sequence = *first;
  auto messages = co_await read(options, count);
  co_return messages;
}

Task<Result<std::vector<StoredMessage>>> JetStreams::after(std::string stream, std::string filter,
                                                           std::uint64_t sequence,
                                                           std::size_t count) {
  count = std::min(count, read_max);
  if (count == 0) co_return std::vector<StoredMessage>();
  ConsumeOptions options{.stream = std::move(stream),
                         .filter = std::move(filter),
                         .start = StartAt::sequence,
                         .start_sequence = sequence + 1,
                         .deliveries_max = static_cast<std::uint32_t>(count)};
  auto messages = co_await read(options, count);
  co_return messages;
}

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
