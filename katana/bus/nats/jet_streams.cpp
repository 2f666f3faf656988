#include "katana/bus/nats/jet_streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

#include "katana/base/secrets.hpp"
#include "katana/base/synchronization.hpp"
#include "katana/bus/nats/jet_json.hpp"
#include "katana/bus/requests.hpp"
#include "katana/bus/subject.hpp"
#include "katana/core/sleep.hpp"
#include "katana/core/timer_wheel.hpp"

namespace katana::bus {
namespace {

constexpr std::size_t read_max = 1000;
constexpr std::size_t pull_max = 256;
constexpr Duration pull_expires = seconds(5);
constexpr Duration pull_heartbeat = seconds(1);
constexpr Duration api_timeout = seconds(5);

std::string new_inbox() {
  std::string inbox(inbox_prefix);
  for (const char octet : random_octets(12)) {
    fmt::format_to(std::back_inserter(inbox), "{:02x}", static_cast<unsigned char>(octet));
  }
  return inbox;
}

}  // namespace

std::string JetNames::full_subject(Bytes subject) const {
  return prefix.empty() ? std::string(subject) : fmt::format("{}.{}", prefix, subject);
}

std::string JetNames::subject_of(Bytes full) const {
  if (prefix.empty() || !full.starts_with(prefix + ".")) return std::string(full);
  return std::string(full.substr(prefix.size() + 1));
}

// The name of a stream is no subject: it has no dots.
std::string JetNames::full_stream(Bytes name) const {
  if (prefix.empty()) return std::string(name);
  std::string full = prefix;
  std::ranges::replace(full, '.', '-');
  return full + "_" + std::string(name);
}

Task<Result<std::string>> JetStreams::ask(std::string api, std::string json) {
  Request request{.subject = "$JS.API." + api, .payload = std::move(json), .timeout = api_timeout};
  auto answer = co_await bus_.request(std::move(request));
  if (!answer) {
    co_return std::unexpected(answer.error().within("JetStream, if the server has it enabled"));
  }
  std::string text(answer->payload());
  if (auto read = jet::read_answer(text); !read) co_return std::unexpected(read.error());
  co_return text;
}

Task<Result<void>> JetStreams::do_ensure(StreamOptions options) {
  const std::string name = names_.full_stream(options.name);
  if (!is_subject(name) || name.find('.') != std::string::npos || options.subjects.empty()) {
    co_return fail(Code::invalid_argument,
                   fmt::format("stream '{}' has a name with more than letters, digits, '-' and "
                               "'_', or no subjects",
                               options.name));
  }
  std::vector<std::string> subjects;
  for (const std::string& each : options.subjects) {
    if (auto checked = check_pattern(each); !checked) co_return checked;
    subjects.push_back(names_.full_subject(each));
  }
  std::string json = jet::write_stream(options, name, subjects);
  auto found = co_await ask("STREAM.INFO." + name, "");
  if (!found && found.error().code() == Code::not_found) {
    auto made = co_await ask("STREAM.CREATE." + name, std::move(json));
    if (!made) co_return std::unexpected(made.error());
    co_return Result<void>();
  }
  if (!found) co_return std::unexpected(found.error());
  auto stream = jet::read_stream(*found);
  if (!stream) co_return std::unexpected(stream.error());
  std::ranges::sort(subjects);
  std::ranges::sort(stream->subjects);
  if (stream->subjects != subjects) {
    co_return fail(Code::already_exists,
                   fmt::format("stream '{}' is there, with other subjects", options.name));
  }
  auto updated = co_await ask("STREAM.UPDATE." + name, std::move(json));
  if (!updated) co_return std::unexpected(updated.error());
  co_return Result<void>();
}

Task<Result<Stored>> JetStreams::do_store(std::string subject, std::string payload,
                                          StoreOptions options) {
  Request request{.subject = std::move(subject),
                  .payload = std::move(payload),
                  .timeout = options.timeout,
                  .id = std::move(options.id)};
  const std::string name = request.subject;
  auto answer = co_await bus_.request(std::move(request));
  if (!answer) {
    const bool is_connected = bus_.health().ready;
    if (answer.error().code() == Code::unavailable && is_connected) {
      co_return fail(Code::not_found, fmt::format("no stream has subject '{}'", name));
    }
    co_return std::unexpected(answer.error());
  }
  co_return jet::read_stored(answer->payload());
}

Task<Result<JetStreams::Created>> JetStreams::create(ConsumeOptions options, bool acknowledges) {
  const std::string stream = names_.full_stream(options.stream);
  std::string filter;
  if (!options.filter.empty()) filter = names_.full_subject(options.filter);
  std::string api = options.durable.empty()
                        ? "CONSUMER.CREATE." + stream
                        : fmt::format("CONSUMER.DURABLE.CREATE.{}.{}", stream, options.durable);
  auto answer =
      co_await ask(std::move(api), jet::write_consumer(options, stream, filter, acknowledges));
  if (!answer) co_return std::unexpected(answer.error());
  auto made = jet::read_consumer(*answer);
  if (!made) co_return std::unexpected(made.error());
  co_return Created{std::move(made->name), made->pending};
}

// ---- a consumer --------------------------------------------------------------------------------

class JetStreams::Reader final : public Consumer, private core::TimerEntry {
 public:
  Reader(JetStreams& streams, const ConsumeOptions& options, std::string name)
      : TimerEntry([](TimerEntry& entry) noexcept { static_cast<Reader&>(entry).on_silent(); }),
        bus_(streams.bus_),
        stream_(streams.names_.full_stream(options.stream)),
        name_(std::move(name)),
        inbox_(new_inbox()),
        places_(std::clamp<std::size_t>(options.unacknowledged_max, 1, pull_max)) {}

  Result<void> begin() {
    SubscribeOptions how;
    how.on_notice = [this](const Notice& notice) { on_notice(notice); };
    auto subscribed = bus_.subscribe(
        inbox_, [this](const Delivery& message) { on_message(message); }, std::move(how));
    if (!subscribed) return std::unexpected(subscribed.error());
    subscription_ = *std::move(subscribed);
    return {};
  }

  Task<std::optional<Result<StoredMessage>>> next() override {
    while (true) {
      if (is_closed_) co_return std::nullopt;
      if (!queue_.empty()) {
        StoredMessage first = std::move(queue_.front());
        queue_.pop_front();
        co_return Result<StoredMessage>(std::move(first));
      }
      if (problem_) {
        const Error problem = *std::exchange(problem_, std::nullopt);
        co_return Result<StoredMessage>(std::unexpected(problem));
      }
      if (asked_ == 0) pull();
      arrived_.reset();
      if (queue_.empty() && !problem_) co_await arrived_.wait();
    }
  }
  void acknowledge(const StoredMessage& message) noexcept override {
    if (!message.ack_to.empty()) (void)bus_.publish(message.ack_to, "+ACK");
  }
  void reject(const StoredMessage& message, Duration delay) noexcept override {
    if (message.ack_to.empty()) return;
    const std::string text =
        delay > Duration{} ? fmt::format("-NAK {{\"delay\":{}}}", delay.ns) : "-NAK";
    (void)bus_.publish(message.ack_to, text);
  }
  // What was fetched and not read is given back: another reader has it at once.
  void close() noexcept override {
    if (std::exchange(is_closed_, true)) return;
    cancel();
    subscription_.cancel();
    for (const StoredMessage& each : queue_) reject(each, {});
    queue_.clear();
    arrived_.set();
  }
  ~Reader() override { close(); }

 private:
  void pull() {
    const auto published =
        bus_.publish({.subject = fmt::format("$JS.API.CONSUMER.MSG.NEXT.{}.{}", stream_, name_),
                      .payload = jet::write_pull(places_, pull_expires, pull_heartbeat),
                      .reply_to = inbox_});
    if (!published) {
      problem_ = published.error();
      return;
    }
    asked_ = places_;
    arm();
  }
  void arm() {
    core::Reactor& reactor = *core::Reactor::current();
    reactor.timers().arm(*this, reactor.now() + pull_heartbeat * 3);
  }
  // No message and no heartbeat: the question was lost, or the server.
  void on_silent() noexcept {
    asked_ = 0;
    arrived_.set();
  }
  void on_notice(const Notice& notice) {
    if (notice.kind == NoticeKind::connected || notice.kind == NoticeKind::may_have_missed ||
        notice.kind == NoticeKind::missed) {
      asked_ = 0;
      arrived_.set();
    }
  }
  void on_message(const Delivery& message) {
    if (message.status() != 0) return on_status(message);
    const auto place = jet::read_place(message.reply_to());
    if (!place) return;
    queue_.push_back({.message = message.hold(),
                      .sequence = place->sequence,
                      .deliveries = place->deliveries,
                      .waiting = place->waiting,
                      .stored_at = place->stored_at,
                      .ack_to = std::string(message.reply_to())});
    if (asked_ > 0) --asked_;
    if (asked_ == 0) {
      cancel();
    } else {
      arm();
    }
    arrived_.set();
  }
  // 100 is a heartbeat, 404 and 408 the end of a question; 409 says why the consumer has ended.
  void on_status(const Delivery& message) {
    const std::uint16_t status = message.status();
    if (status == 100) {
      arm();
      return;
    }
    cancel();
    asked_ = 0;
    if (status != 404 && status != 408) {
      problem_ = Error(status == 503 ? Code::unavailable : Code::not_found,
                       fmt::format("consumer '{}' of stream '{}' was ended by the server ({})",
                                   name_, stream_, status));
    }
    arrived_.set();
  }

  Bus& bus_;
  const std::string stream_;
  const std::string name_;
  const std::string inbox_;
  const std::size_t places_;
  Subscription subscription_;
  std::deque<StoredMessage> queue_;  // at most what was asked for
  std::size_t asked_ = 0;
  std::optional<Error> problem_;
  bool is_closed_ = false;
  AsyncEvent arrived_;
};

Task<Result<std::unique_ptr<Consumer>>> JetStreams::do_consume(ConsumeOptions options) {
  auto created = co_await create(options, true);
  if (!created) co_return std::unexpected(created.error());
  auto reader = std::make_unique<Reader>(*this, options, std::move(created->name));
  if (auto begun = reader->begin(); !begun) co_return std::unexpected(begun.error());
  co_return std::unique_ptr<Consumer>(std::move(reader));
}

// ---- what is there -----------------------------------------------------------------------------

// Reads what the options give, from their start to what is the end now, and keeps the last `keep`.
Task<Result<std::vector<StoredMessage>>> JetStreams::read(ConsumeOptions options,
                                                          std::size_t keep) {
  auto created = co_await create(options, false);
  if (!created) co_return std::unexpected(created.error());
  std::vector<StoredMessage> messages;
  const std::string name = created->name;
  Reader reader(*this, options, name);
  if (auto begun = reader.begin(); !begun) co_return std::unexpected(begun.error());
  const std::uint64_t wanted =
      options.start == StartAt::sequence && options.deliveries_max != 0
          ? std::min<std::uint64_t>(created->pending, options.deliveries_max)
          : created->pending;
  for (std::uint64_t count = 0; count < wanted; ++count) {
    auto next = co_await reader.next();
    if (!next) break;
    if (!*next) co_return std::unexpected(next->error());
    if (messages.size() == keep) messages.erase(messages.begin());
    messages.push_back(**std::move(next));
    if (messages.back().waiting == 0) break;
  }
  reader.close();
  // It would end by itself.
  (void)bus_.publish(
      fmt::format("$JS.API.CONSUMER.DELETE.{}.{}", names_.full_stream(options.stream), name), "");
  co_return messages;
}

// Where to begin so that at least `count` of the filter come, and not many more: JetStream counts
// what is behind a position, and does not say where the last so many begin.
Task<Result<std::uint64_t>> JetStreams::first_of_last(ConsumeOptions options, std::size_t count) {
  auto answer = co_await ask("STREAM.INFO." + names_.full_stream(options.stream), "");
  if (!answer) co_return std::unexpected(answer.error());
  auto stream = jet::read_stream(*answer);
  if (!stream) co_return std::unexpected(stream.error());
  std::uint64_t low = stream->first_sequence;
  std::uint64_t high = stream->last_sequence + 1;
  options.start = StartAt::sequence;
  for (int steps = 0; steps < 40 && low + 1 < high; ++steps) {
    const std::uint64_t middle = low + (high - low) / 2;
    options.start_sequence = middle;
    auto created = co_await create(options, false);
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
