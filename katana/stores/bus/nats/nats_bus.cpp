#include "katana/stores/bus/nats/nats_bus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "katana/stores/bus/message_span.hpp"
#include "katana/stores/bus/nats/publisher.hpp"
#include "katana/stores/bus/subject.hpp"
#include "katana/wire/nats/writer.hpp"

namespace katana::bus {
namespace {

// The bytes that the server compares with its max_payload: the payload and the headers (HPUB of the
// NATS client protocol). The headers have a first line, the longest line of numbers, and an empty
// line.
std::size_t bytes_of(const Publication& publication) noexcept {
  constexpr std::size_t numbers_line = sequence_header.size() + 16 + 1 + 16 + 2;
  std::size_t bytes = nats::header_line.size() + numbers_line + 2 + publication.payload.size();
  for (const Header& each : publication.headers) bytes += each.name.size() + each.value.size() + 4;
  if (!publication.id.empty()) bytes += message_id_header.size() + publication.id.size() + 4;
  return bytes;
}

}  // namespace

Result<std::unique_ptr<NatsBus>> NatsBus::make(NatsOptions options) {
  if (!options.prefix.empty()) {
    if (auto checked = check_subject(options.prefix); !checked) {
      return std::unexpected(checked.error().within("the prefix of the bus"));
    }
  }
  if (options.ping_interval <= Duration{}) {
    return fail(Code::invalid_argument, "the bus's ping_interval must be above 0");
  }
  upstream::Options upstream{.kind = "NATS",
                             .servers = options.servers,
                             .order = upstream::Order::spread,
                             .connect_timeout = options.connect_timeout,
                             .backoff_min = options.backoff_min,
                             .backoff_max = options.backoff_max,
                             .outgoing_bytes_max = options.outgoing_bytes_max,
                             .tls = options.tls,
                             .resolver = options.resolver,
                             .seed = options.seed};
  if (upstream.tls) upstream.tls->protocols.clear();
  auto shared = upstream::Shared::make(upstream);
  if (!shared) return std::unexpected(shared.error());
  auto groups = upstream::Shared::make(upstream);
  if (!groups) return std::unexpected(groups.error());
  return std::unique_ptr<NatsBus>(
      new NatsBus(std::move(options), *std::move(shared), *std::move(groups)));
}

NatsBus::NatsBus(NatsOptions options, std::shared_ptr<upstream::Shared> shared,
                 std::shared_ptr<upstream::Shared> groups_shared)
    : options_(std::move(options)),
      shared_(std::move(shared)),
      groups_shared_(std::move(groups_shared)),
      streams_(std::make_unique<JetStreams>(
          *this, options_.prefix,
          [this](const Publication& publication) { return submit(publication); },
          options_.observer)),
      to_store_(options_.away),
      id_prefix_(fmt::format("katana-{:x}-", random_publisher())),
      fan_out_(options_.bus, this) {
  health_ = {.ready = false, .state = BusState::connecting, .detail = "not begun"};
}

std::string NatsBus::full_subject(Bytes subject) const {
  if (options_.prefix.empty() || is_raw_subject(subject)) return std::string(subject);
  return fmt::format("{}.{}", options_.prefix, subject);
}

Streams* NatsBus::streams() noexcept { return streams_.get(); }

Result<Subscription> NatsBus::subscribe(Bytes pattern, Handler handler, SubscribeOptions options) {
  return fan_out_.subscribe(pattern, std::move(handler), std::move(options));
}

// Called with the lock of the FanOut held.
void NatsBus::on_wanted(const std::shared_ptr<Pattern>& pattern, Bytes group) noexcept {
  change(pattern, group, true);
}

void NatsBus::on_unwanted(const std::shared_ptr<Pattern>& pattern, Bytes group) noexcept {
  change(pattern, group, false);
}

void NatsBus::change(const std::shared_ptr<Pattern>& pattern, Bytes group, bool is_wanted) {
  const std::lock_guard lock(mutex_);
  const auto key = std::pair(static_cast<const Pattern*>(pattern.get()), std::string(group));
  std::uint64_t number = 0;
  if (is_wanted) {
    number = last_number_ += 2;
    numbers_[key] = number;
  } else {
    const auto found = numbers_.find(key);
    if (found == numbers_.end()) return;
    number = found->second;
    numbers_.erase(found);
  }
  changes_.push_back({pattern, std::string(group), number, is_wanted});
  has_changes_.store(true, std::memory_order_relaxed);
  ring();
}

// The bus's own limits, and the server's.
Result<void> NatsBus::check_sendable(const Publication& publication) {
  if (auto checked = fan_out_.check(publication); !checked) return checked;
  const std::uint64_t payload_max = payload_max_.load(std::memory_order_relaxed);
  if (const std::size_t bytes = bytes_of(publication); bytes > payload_max) [[unlikely]] {
    return fail(Code::out_of_range,
                fmt::format("a message to '{}' of {} bytes, its headers included, is above the "
                            "server's max_payload, which is {}",
                            publication.subject, bytes, payload_max));
  }
  return {};
}

std::size_t NatsBus::headers_room(const Publication& publication) const noexcept {
  if (!takes_headers_.load(std::memory_order_relaxed)) return 0;
  const std::uint64_t payload_max = payload_max_.load(std::memory_order_relaxed);
  return static_cast<std::size_t>(payload_max -
                                  std::min<std::uint64_t>(bytes_of(publication), payload_max));
}

Result<void> NatsBus::submit(const Publication& given) {
  const auto submitted = publish_within_span(
      fan_out_.system(), given, headers_room(given),
      [this](const Publication& publication) { return submit_now(publication); });
  return submitted ? Result<void>() : std::unexpected(submitted.error());
}

// The subscribers of this process get the message at once, and only once.
Result<Published> NatsBus::submit_now(const Publication& given) {
  Publication publication = given;
  std::string id;
  if (publication.id.empty()) {
    // relaxed: a number that no other one has.
    id = id_prefix_ + std::to_string(last_id_.fetch_add(1, std::memory_order_relaxed));
    publication.id = id;
  }
  if (auto checked = check_sendable(publication); !checked) {
    return std::unexpected(checked.error());
  }
  if (const Health now = health(); now.state == BusState::closed) {
    return fail(Code::unavailable, now.detail);
  }
  std::optional<HeldMessage> made(make_message(publication, true));
  if (auto added = to_store_.add(*made); !added) {
    kept_refused_.fetch_add(1, std::memory_order_relaxed);
    return std::unexpected(added.error());
  }
  const bool is_here = fan_out_.deliver(publication, false, made);
  const std::lock_guard lock(mutex_);
  ring();
  return Published{.is_here = is_here};
}

Result<void> NatsBus::enqueue(HeldMessage& message) {
  const std::size_t bytes = message.allocated_bytes();
  const std::lock_guard lock(mutex_);
  if (outgoing_.size() >= options_.away.messages_max ||
      outgoing_bytes_ + bytes > options_.away.bytes_max) {
    kept_refused_.fetch_add(1, std::memory_order_relaxed);
    return fail(Code::resource_exhausted,
                fmt::format("'{}' is not kept for the NATS server: {} messages of {} bytes are",
                            message.subject(), outgoing_.size(), outgoing_bytes_));
  }
  outgoing_.emplace_back(message.batch());
  outgoing_bytes_ += bytes;
  has_outgoing_.store(true, std::memory_order_relaxed);
  ring();
  return {};
}

Health NatsBus::health() const {
  const std::string stalled = streams_->stalled();
  const std::lock_guard lock(mutex_);
  Health health = health_;
  const auto add = [&health](Bytes problem) {
    health.ready = false;
    health.detail = fmt::format("{}; {}", health.detail, problem);
  };
  if (health.ready && !stalled.empty()) add(stalled);
  if (health.ready && !groups_problem_.empty()) {
    add("the connection of queue groups is away: " + groups_problem_);
  }
  return health;
}

BusStatistics NatsBus::statistics() const {
  BusStatistics statistics;
  fan_out_.add_figures(statistics);
  statistics.reconnects = reconnects_.load(std::memory_order_relaxed);
  statistics.kept_refused = kept_refused_.load(std::memory_order_relaxed);
  streams_->add_figures(statistics);
  statistics.submitted = to_store_.size();
  const std::lock_guard lock(mutex_);
  statistics.kept = outgoing_.size();
  statistics.kept_bytes = outgoing_bytes_;
  return statistics;
}

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
