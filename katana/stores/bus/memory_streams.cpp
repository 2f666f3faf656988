#include "katana/stores/bus/memory_streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "katana/base/coroutine/synchronization.hpp"
#include "katana/net/reactor/timer_wheel.hpp"
#include "katana/stores/bus/subject.hpp"

namespace katana::bus {
namespace {

constexpr std::size_t read_max = 1000;
// As AwayOptions has it.
constexpr std::size_t submitted_max = AwayOptions().messages_max;

bool is_name(Bytes name) noexcept {
  if (name.empty() || name.size() > 128) return false;
  return std::ranges::all_of(name, [](char octet) {
    return (octet >= 'a' && octet <= 'z') || (octet >= 'A' && octet <= 'Z') ||
           (octet >= '0' && octet <= '9') || octet == '-' || octet == '_';
  });
}

}  // namespace

// Some readers wait; each is subscribed to this, and nothing is ever published to it.
struct MemoryStreams::Stream {
  explicit Stream(StreamOptions options)
      : log(std::move(options)), doorbell("_STREAM." + log.options().name) {}
  StreamLog log;
  const std::string doorbell;
  std::map<std::string, std::shared_ptr<StreamPosition>> durable;
  std::map<FanOut*, std::shared_ptr<Pattern>> bells;
  bool is_lost = false;  // another one may have its name
  void ring() const {
    for (const auto& [fan_out, pattern] : bells) {
      fan_out->tell(pattern, {.kind = NoticeKind::connected});
    }
  }
};

struct MemoryStreams::State {
  std::atomic<bool> is_used = false;
  std::mutex mutex;  // guards what follows
  std::map<std::string, std::shared_ptr<Stream>, std::less<>> streams;
  std::deque<Posted> submitted;  // to no stream that there is
  Instant now;                   // the latest that a reactor had
  std::shared_ptr<Stream> add(StreamOptions options) {
    const std::string name = options.name;
    auto stream = std::make_shared<Stream>(std::move(options));
    streams.emplace(name, stream);
    is_used = true;
    const auto is_stored = [&](const Posted& each) {
      if (!stream->log.takes(each.envelope().subject())) return false;
      (void)stream->log.add(each, time(), current_time());
      return true;
    };
    std::erase_if(submitted, is_stored);
    return stream;
  }
  Instant time() noexcept {
    if (const net::Reactor* const reactor = net::Reactor::current()) {
      now = std::max(now, reactor->now());
    }
    return now;
  }
};

std::shared_ptr<MemoryStreams::State> MemoryStreams::make_state() {
  return std::make_shared<State>();
}

MemoryStreams::MemoryStreams(FanOut& fan_out, Publish publish, std::shared_ptr<State> state)
    : fan_out_(fan_out), publish_(std::move(publish)), state_(std::move(state)) {}

// relaxed: a thread that publishes after another one has made a stream was synchronized with it by
// other means.
bool MemoryStreams::is_used() const noexcept {
  return state_->is_used.load(std::memory_order_relaxed);
}

MemoryStreams::~MemoryStreams() {
  const std::lock_guard lock(state_->mutex);
  for (const auto& [name, stream] : state_->streams) stream->bells.erase(&fan_out_);
}

void MemoryStreams::set_available(bool available) {
  is_available_ = available;
  std::deque<Posted> kept;
  {
    const std::lock_guard lock(state_->mutex);
    if (available) kept.swap(kept_);
    for (const auto& [name, stream] : state_->streams) stream->ring();
  }
  for (Posted& each : kept) {
    const HeldMessage message = std::move(each).adopt();
    std::vector<Header> headers;
    for_each_header(message.headers(),
                    [&](Bytes name, Bytes value) { headers.push_back({name, value}); });
    // A message that was accepted once is within all limits but that of submitted messages.
    (void)submit({.subject = message.subject(), .payload = message.payload(), .headers = headers});
  }
}

void MemoryStreams::lose(State& state) {
  const std::lock_guard lock(state.mutex);
  for (const auto& [name, stream] : state.streams) {
    stream->is_lost = true;
    stream->ring();
  }
  state.streams.clear();
}

std::size_t MemoryStreams::submitted() const {
  const std::lock_guard lock(state_->mutex);
  return state_->submitted.size() + kept_.size();
}

Result<void> MemoryStreams::check_available() const {
  if (is_available_) return {};
  return fail(Code::unavailable, "the streams are out of reach: there is no server");
}

Result<std::shared_ptr<MemoryStreams::Stream>> MemoryStreams::find(const std::string& name) const {
  const auto found = state_->streams.find(name);
  if (found != state_->streams.end()) return found->second;
  return fail(Code::not_found,
              fmt::format("there is no stream '{}'; Streams::ensure() makes it", name));
}

// ---- storing -----------------------------------------------------------------------------------

void MemoryStreams::capture(const Publication& publication, std::optional<HeldMessage>& made,
                            Stored* stored) {
  const std::lock_guard lock(state_->mutex);
  for (const auto& [name, stream] : state_->streams) {
    if (!stream->log.takes(publication.subject)) continue;
    if (!made) made.emplace(make_message(publication, true));
    const Stored result = stream->log.add(Posted(made->batch()), state_->time(), current_time());
    if (stored != nullptr && stored->sequence == 0) *stored = result;
    if (!result.is_duplicate) stream->ring();
  }
}

Task<Result<void>> MemoryStreams::do_ensure(StreamOptions options) {
  if (auto available = check_available(); !available) co_return available;
  if (!is_name(options.name)) {
    co_return fail(Code::invalid_argument,
                   fmt::format("'{}' is no name of a stream: it has letters, digits, '-' and '_'",
                               options.name));
  }
  if (options.subjects.empty()) {
    co_return fail(Code::invalid_argument,
                   fmt::format("stream '{}' has no subjects", options.name));
  }
  for (const std::string& each : options.subjects) {
    if (auto checked = check_pattern(each); !checked) co_return checked;
  }
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->streams.find(options.name);
  if (found == state_->streams.end()) {
    state_->add(std::move(options));
    co_return Result<void>();
  }
  if (found->second->log.options().subjects != options.subjects) {
    co_return fail(Code::already_exists,
                   fmt::format("stream '{}' is there, with other subjects", options.name));
  }
  found->second->log.set_options(std::move(options));
  co_return Result<void>();
}

Task<Result<Stored>> MemoryStreams::do_store(std::string subject, std::string payload,
                                             StoreOptions options) {
  if (auto available = check_available(); !available) {
    co_return std::unexpected(available.error());
  }
  Stored stored;
  const auto published =
      publish_({.subject = subject, .payload = payload, .id = options.id}, &stored);
  if (!published) co_return std::unexpected(published.error());
  if (stored.sequence == 0) {
    co_return fail(Code::not_found, fmt::format("no stream has subject '{}'", subject));
  }
  co_return stored;
}

Result<void> MemoryStreams::keep(std::deque<Posted>& where, const HeldMessage& message) const {
  if (where.size() >= submitted_max) {
    return fail(Code::resource_exhausted,
                fmt::format("'{}' is not kept for its stream: {} messages wait until they are "
                            "stored",
                            message.subject(), where.size()));
  }
  where.emplace_back(message.batch());
  return {};
}

Result<void> MemoryStreams::submit(const Publication& publication) {
  if (!is_available_) {
    if (auto checked = fan_out_.check(publication); !checked) return checked;
    const HeldMessage message = make_message(publication, true);
    const std::lock_guard lock(state_->mutex);
    return keep(kept_, message);
  }
  Stored stored;
  if (auto published = publish_(publication, &stored); !published) return published;
  if (stored.sequence != 0) return {};
  const HeldMessage message = make_message(publication, true);
  const std::lock_guard lock(state_->mutex);
  for (const auto& [name, stream] : state_->streams) {  // it was made meanwhile
    if (!stream->log.takes(publication.subject)) continue;
    (void)stream->log.add(Posted(message.batch()), state_->time(), current_time());
    stream->ring();
    return {};
  }
  return keep(state_->submitted, message);
}

// ---- reading -----------------------------------------------------------------------------------

std::vector<StoredMessage> MemoryStreams::messages_of(const Stream& stream,
                                                      const std::vector<std::uint64_t>& sequences) {
  std::vector<StoredMessage> messages;
  for (const std::uint64_t sequence : sequences) {
    const StreamLog::Entry& entry = *stream.log.find(sequence);
    messages.push_back({.message = Posted(entry.message).adopt(),
                        .sequence = sequence,
                        .waiting = stream.log.behind(sequence),
                        .stored_at = entry.stored_at});
  }
  return messages;
}

Task<Result<std::vector<StoredMessage>>> MemoryStreams::last(std::string stream,
                                                             std::string subject,
                                                             std::size_t count) {
  if (auto available = check_available(); !available) {
    co_return std::unexpected(available.error());
  }
  const std::lock_guard lock(state_->mutex);
  const auto found = find(stream);
  if (!found) co_return std::unexpected(found.error());
  (*found)->log.expire(state_->time());
  co_return messages_of(**found, (*found)->log.last_of(subject, std::min(count, read_max)));
}

Task<Result<std::vector<StoredMessage>>> MemoryStreams::after(std::string stream,
                                                              std::string filter,
                                                              std::uint64_t sequence,
                                                              std::size_t count) {
  if (auto available = check_available(); !available) {
    co_return std::unexpected(available.error());
  }
  if (auto checked = check_pattern(filter); !checked) co_return std::unexpected(checked.error());
  const std::lock_guard lock(state_->mutex);
  const auto found = find(stream);
  if (!found) co_return std::unexpected(found.error());
  (*found)->log.expire(state_->time());
  co_return messages_of(**found, (*found)->log.after(filter, sequence, std::min(count, read_max)));
}

class MemoryStreams::Reader final : public Consumer, private net::TimerEntry {
 public:
  Reader(MemoryStreams& streams, std::shared_ptr<Stream> stream, ConsumeOptions options)
      : TimerEntry([](TimerEntry& entry) noexcept { static_cast<Reader&>(entry).arrived_.set(); }),
        streams_(streams),
        state_(streams.state_),
        stream_(std::move(stream)),
        options_(std::move(options)) {}

  Result<void> begin() {
    SubscribeOptions how;
    how.on_notice = [this](const Notice&) { arrived_.set(); };
    auto subscribed =
        streams_.fan_out_.subscribe(stream_->doorbell, [](const Delivery&) {}, std::move(how));
    if (!subscribed) return std::unexpected(subscribed.error());
    subscription_ = *std::move(subscribed);
    const std::lock_guard lock(state_->mutex);
    attach(options_);
    waiting_at_begin_ = stream_->log.waiting_for(*position_);
    last_ = position_->next - 1;
    return {};
  }

  Task<std::optional<Result<StoredMessage>>> next() override {
    while (!is_closed_) {
      arrived_.reset();
      if (auto message = take()) co_return std::move(message);
      co_await arrived_.wait();
    }
    co_return std::nullopt;
  }
  void acknowledge(const StoredMessage& message) noexcept override {
    const std::lock_guard lock(state_->mutex);
    position_->unacknowledged.erase(message.sequence);
    stream_->ring();  // somebody may wait for the place
  }
  void reject(const StoredMessage& message, Duration delay) noexcept override {
    const std::lock_guard lock(state_->mutex);
    const auto found = position_->unacknowledged.find(message.sequence);
    if (found == position_->unacknowledged.end()) return;
    found->second.due = state_->time() + delay;
    stream_->ring();
  }
  void close() noexcept override {
    is_closed_ = true;
    subscription_.cancel();
    arrived_.set();
  }
  std::uint64_t waiting_at_begin() const noexcept override { return waiting_at_begin_; }

 private:
  // These functions need the mutex of the state.
  void attach(const ConsumeOptions& options) {
    std::shared_ptr<StreamPosition> made;
    std::shared_ptr<StreamPosition>& place =
        options.durable.empty() ? made : stream_->durable[options.durable];
    if (place == nullptr) {
      place = std::make_shared<StreamPosition>(stream_->log.position_of(options));
    }
    position_ = place;
    const auto patterns = streams_.fan_out_.matching(stream_->doorbell);
    const auto own = std::ranges::find_if(
        patterns, [&](const auto& each) { return each->text == stream_->doorbell; });
    stream_->bells[&streams_.fan_out_] = *own;
  }
  // Called when the stream is gone: reads another one of its name, which is made if there is none.
  Error begin_anew() {
    const std::string name = stream_->log.options().name;
    const auto found = state_->streams.find(name);
    stream_ = found != state_->streams.end() ? found->second : state_->add(stream_->log.options());
    ConsumeOptions from = options_;
    from.start = StartAt::first;
    attach(from);
    const std::uint64_t before = std::exchange(last_, 0);
    is_anew_ = true;
    return Error(Code::data_loss, fmt::format("stream '{}' was made again: what came behind "
                                              "sequence {} is lost, and it is read from its first "
                                              "message on",
                                              name, before));
  }
  // Nothing: nothing at present.
  std::optional<Result<StoredMessage>> take() {
    if (!streams_.is_available_) return std::nullopt;
    const std::lock_guard lock(state_->mutex);
    if (stream_->is_lost) return Result<StoredMessage>(std::unexpected(begin_anew()));
    const StreamLog::Next next = stream_->log.take(*position_, state_->time());
    if (next.sequence == 0) {
      if (next.look_again != never) {
        net::Reactor::current()->timers().arm(*this, next.look_again);
      }
      return std::nullopt;
    }
    const StreamLog::Entry& entry = *stream_->log.find(next.sequence);
    StoredMessage message{.message = Posted(entry.message).adopt(),
                          .sequence = next.sequence,
                          .deliveries = next.deliveries,
                          .waiting = stream_->log.behind(next.sequence),
                          .stored_at = entry.stored_at,
                          .is_anew = std::exchange(is_anew_, false)};
    ++given_;
    const bool is_whole =
        options_.filter.empty() && options_.durable.empty() &&
        (options_.start != StartAt::last_per_subject || given_ > waiting_at_begin_);
    if (is_whole && message.sequence > last_ + 1) message.missed = message.sequence - last_ - 1;
    last_ = std::max(last_, message.sequence);
    return Result<StoredMessage>(std::move(message));
  }

  MemoryStreams& streams_;
  const std::shared_ptr<State> state_;
  std::shared_ptr<Stream> stream_;
  const ConsumeOptions options_;
  std::shared_ptr<StreamPosition> position_;
  Subscription subscription_;
  AsyncEvent arrived_;
  bool is_closed_ = false;
  std::uint64_t waiting_at_begin_ = 0;
  std::uint64_t given_ = 0;
  std::uint64_t last_ = 0;  // the highest sequence that was given, or passed over
  bool is_anew_ = false;
};

Task<Result<std::unique_ptr<Consumer>>> MemoryStreams::do_consume(ConsumeOptions options) {
  if (auto available = check_available(); !available) {
    co_return std::unexpected(available.error());
  }
  if (!options.filter.empty()) {
    if (auto checked = check_pattern(options.filter); !checked) {
      co_return std::unexpected(checked.error());
    }
  }
  std::shared_ptr<Stream> stream;
  {
    const std::lock_guard lock(state_->mutex);
    auto found = find(options.stream);
    if (!found) co_return std::unexpected(found.error());
    stream = *std::move(found);
  }
  auto reader = std::make_unique<Reader>(*this, std::move(stream), std::move(options));
  if (auto begun = reader->begin(); !begun) co_return std::unexpected(begun.error());
  co_return std::unique_ptr<Consumer>(std::move(reader));
}

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
