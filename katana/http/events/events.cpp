#include "katana/http/events/events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <utility>

#include "katana/base/coroutine/when.hpp"
#include "katana/base/system/misuse.hpp"
#include "katana/http/events/event_log.hpp"
#include "katana/http/handlers/framework_problems.hpp"
#include "katana/http/session/exchange.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/stores/bus/bus.hpp"
#include "katana/stores/bus/streams.hpp"
#include "katana/stores/bus/subject.hpp"

namespace katana {
namespace {

constexpr Bytes comment = ":\n\n";

// Returns nothing if the ids are those of a stream.
std::string epoch_of(const EventTopicOptions& options) {
  if (options.bus != nullptr) return {};
  if (options.epoch != 0) return fmt::format("{:x}", options.epoch);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("{:x}", std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

std::string opening_of(const EventTopicOptions& options) {
  if (options.retry <= Duration{}) return std::string(comment);
  return fmt::format("retry: {}\n\n", options.retry.count_ms());
}

constexpr Bytes name_header = "Katana-Event";
constexpr Bytes key_header = "Katana-Event-Key";
// After this time the topic reports that the stream cannot be read, and the bus is not ready.
constexpr Duration stalled_after = seconds(2);

std::string subject_of(const std::string& name) { return "events." + name; }
std::string stream_of(const std::string& name) { return "events-" + name; }

bool has_line_end(Bytes text) noexcept {
  return text.find_first_of(Bytes("\r\n\0", 3)) != Bytes::npos;
}

}  // namespace

class EventTopic::State {
 public:
  // The functions are those of EventTopic.
  explicit State(const EventTopicOptions& options);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Result<std::uint64_t> publish(const Event& event);
  Task<void> follow();
  Reply subscribe(const RequestView& request);
  Reply subscribe(const RequestView& request, std::vector<std::string> keys);
  EventTopicStatistics statistics() const;
  std::vector<std::shared_ptr<const std::string>> kept_from(std::uint64_t number) const;

 private:
  class Subscription;
  class ReactorSubscribers;
  struct Stall;

  Reply subscribe(EventReader reader);
  Result<std::uint64_t> publish_on_bus(const Event& event);
  void ring();
  Task<void> follow_stream();
  Task<void> until_connected();
  Task<Result<std::unique_ptr<bus::Consumer>>> open_stream();
  Task<void> read_stream(bus::Consumer& consumer);
  void add_stored(const bus::StoredMessage& message);
  void note_loaded();
  EventLog::Taken take(EventReader& reader);
  std::string last_id(const EventReader& reader) const;
  std::uint64_t next_number() const;
  ReactorSubscribers& reactor_subscribers(net::Reactor& reactor);

  const EventTopicOptions options_;
  const std::string opening_;  // of each stream
  std::atomic<std::size_t> subscribers_ = 0;
  std::atomic<std::uint64_t> delivered_ = 0;
  std::atomic<std::uint64_t> lost_ = 0;
  std::atomic<std::uint64_t> gaps_ = 0;
  std::atomic<std::uint64_t> disconnected_ = 0;
  std::atomic<std::uint64_t> refused_ = 0;

  mutable std::mutex mutex_;  // guards the members below
  EventLog log_;
  std::vector<std::unique_ptr<ReactorSubscribers>> all_subscribers_;
};

// The subscribers of one reactor, and the message that tells it of new events.
class EventTopic::State::ReactorSubscribers final : public Message {
 public:
  ReactorSubscribers(EventTopic::State& topic, Executor& executor) noexcept
      : Message(
            [](Message& message) noexcept { static_cast<ReactorSubscribers&>(message).on_rung(); }),
        topic_(topic),
        executor_(executor) {}

  const Executor* executor() const noexcept { return &executor_; }

  // ---- the reactor's thread
  void enter(Subscription& subscription) noexcept;
  void leave(Subscription& subscription) noexcept;

  // ---- any thread that holds the topic's mutex
  void ring() noexcept {
    if (!promised_ || std::exchange(rung_, true)) return;
    executor_.post(*this);
  }

 private:
  void on_rung() noexcept;

  EventTopic::State& topic_;
  Executor& executor_;
  Subscription* first_ = nullptr;  // the reactor's
  // The topic's mutex guards these. The executor expects a message from the first subscriber on,
  // until the last has left and no message is under way.
  bool promised_ = false;
  bool rung_ = false;
};

class EventTopic::State::Subscription final : public ContentSource, private net::TimerEntry {
 public:
  Subscription(EventTopic::State& topic, EventReader reader)
      : TimerEntry([](TimerEntry& entry) noexcept { static_cast<Subscription&>(entry).on_tick(); }),
        topic_(topic),
        reader_(std::move(reader)),
        unsent_(topic.opening_) {}
  ~Subscription() override {
    if (reactor_subscribers_ != nullptr) reactor_subscribers_->leave(*this);
    topic_.subscribers_.fetch_sub(1, std::memory_order_relaxed);
  }
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;

  void begin(ContentStream& stream) override {
    stream_ = &stream;
    if (stream.reactor().draining()) end_after_what_is_there();
    stream.set_patient();
    ReactorSubscribers& reactor_subscribers = topic_.reactor_subscribers(stream.reactor());
    reactor_subscribers.enter(*this);
    reactor_subscribers_ = &reactor_subscribers;
    spoke();
    set_tick();
  }

  bool produce(ContentSink& sink) override {
    while (true) {
      if (!unsent_.empty()) {
        if (!sink.write(unsent_)) return false;
        spoke();
        unsent_ = {};
        if (std::exchange(octets_, nullptr) != nullptr) count(topic_.delivered_, 1);
      }
      if (ending_) return true;
      if (!fetch()) return ending_;
    }
  }

  // May destroy this object.
  void drain() noexcept override {
    end_after_what_is_there();
    stream_->wake();
  }
  void wake() noexcept { stream_->wake(); }

 private:
  friend class ReactorSubscribers;

  static void count(std::atomic<std::uint64_t>& counter, std::uint64_t by) noexcept {
    counter.fetch_add(by, std::memory_order_relaxed);
  }
  Instant now() const noexcept { return stream_->reactor().now(); }
  void spoke() noexcept { spoke_at_ = now(); }
  void set_tick() noexcept {
    stream_->reactor().timers().arm(*this, spoke_at_ + topic_.options_.heartbeat);
  }

  // The timer is armed for the heartbeat after the last output; later output postpones it.
  void on_tick() noexcept {
    const bool silent = now() - spoke_at_ >= topic_.options_.heartbeat;
    if (silent && unsent_.empty()) {
      unsent_ = heartbeat();
      spoke();  // even if there is no room for it
    } else if (silent) {
      spoke();  // waiting output is enough
    }
    set_tick();
    if (silent) stream_->wake();  // which may destroy this object
  }

  // An id without data is no event: it changes the position from which the reader continues.
  Bytes heartbeat() {
    if (!std::exchange(reader_.has_passed, false)) return comment;
    words_ = fmt::format(":\nid: {}\n\n", topic_.last_id(reader_));
    return words_;
  }

  // Events that are published while a server drains would keep the stream open for ever.
  void end_after_what_is_there() noexcept { end_at_ = topic_.next_number(); }

  // Fetches the next output. Returns false if there is none.
  bool fetch() {
    if (is_at_end()) return false;
    EventLog::Taken taken = topic_.take(reader_);
    if (taken.is_lost) return fetch_lost(taken);
    if (taken.octets == nullptr) {
      (void)is_at_end();  // a skipped event may have been the last
      return false;
    }
    octets_ = std::move(taken.octets);
    unsent_ = *octets_;
    return true;
  }
  // A reader without a place has no unsent events.
  bool is_at_end() noexcept {
    ending_ = end_at_ != UINT64_MAX && (!reader_.is_placed || reader_.cursor >= end_at_);
    return ending_;
  }
  // A reader that reconnects after too long is told the loss: a further reconnect would not help.
  bool fetch_lost(const EventLog::Taken& taken) {
    const std::uint64_t lost = taken.lost;
    count(lost != 0 ? topic_.lost_ : topic_.gaps_, std::max<std::uint64_t>(lost, 1));
    if (taken.is_slow && topic_.options_.slow_reader == SlowReader::disconnect) {
      count(topic_.disconnected_, 1);
      ending_ = true;
      return false;
    }
    words_.clear();
    const std::string data = lost != 0 ? fmt::to_string(lost) : std::string();
    append_event(words_, {}, {.data = data, .name = "lost"});
    unsent_ = words_;
    return true;
  }

  EventTopic::State& topic_;
  ContentStream* stream_ = nullptr;
  ReactorSubscribers* reactor_subscribers_ = nullptr;
  Subscription* next_ = nullptr;
  Subscription* previous_ = nullptr;
  EventReader reader_;
  EventLog::Octets octets_;  // the event that is being sent
  Bytes unsent_;             // of octets_, words_, or a literal
  std::string words_;
  Instant spoke_at_;
  std::uint64_t end_at_ = UINT64_MAX;  // the number of the first event that is no longer sent
  bool ending_ = false;
};

void EventTopic::State::ReactorSubscribers::enter(Subscription& subscription) noexcept {
  subscription.next_ = first_;
  if (first_ != nullptr) first_->previous_ = &subscription;
  first_ = &subscription;
  const std::lock_guard lock(topic_.mutex_);
  if (!std::exchange(promised_, true)) executor_.expect_open_ended();
}

void EventTopic::State::ReactorSubscribers::leave(Subscription& subscription) noexcept {
  Subscription* const after = subscription.next_;
  Subscription* const before = subscription.previous_;
  if (after != nullptr) after->previous_ = before;
  (before != nullptr ? before->next_ : first_) = after;
  if (first_ != nullptr) return;
  const std::lock_guard lock(topic_.mutex_);
  if (rung_) return;  // the message is under way, and settles the promise
  promised_ = false;
  executor_.unexpect_open_ended();
}

void EventTopic::State::ReactorSubscribers::on_rung() noexcept {
  {
    const std::lock_guard lock(topic_.mutex_);
    rung_ = false;
    if (first_ == nullptr) {
      promised_ = false;
      executor_.unexpect_open_ended();
      return;
    }
  }
  // A subscription that is woken may end, but no other one ends because of it.
  for (Subscription* each = first_; each != nullptr;) {
    Subscription* const after = each->next_;
    each->wake();
    each = after;
  }
}

EventTopic::State::State(const EventTopicOptions& options)
    : options_(options),
      opening_(opening_of(options)),
      log_({.events_max = options.events_kept_max,
            .bytes_max = options.bytes_kept_max,
            .recent_for_new = options.recent_for_new},
           epoch_of(options)) {
  if (options.events_kept_max == 0 || options.heartbeat <= Duration{}) {
    die_of_misuse("an EventTopic was made that keeps no event, or has no heartbeat",
                  "give events_kept_max of 1 at least, and a heartbeat above 0");
  }
  if (options.bus != nullptr &&
      (!bus::is_subject(options.name) || options.name.find('.') != std::string::npos)) {
    die_of_misuse(
        "an EventTopic with a bus was made without a name, or with one of other "
        "characters",
        "give EventTopicOptions::name letters, digits, '-' and '_'");
  }
}

EventTopic::State::~State() {
  const auto left = subscribers_.load(std::memory_order_relaxed);
  if (left == 0) return;
  die_of_misuse(fmt::format("an EventTopic is destroyed while {} readers are subscribed", left),
                "destroy it after the server that its readers are connected to");
}

Result<std::uint64_t> EventTopic::State::publish(const Event& event) {
  if (has_line_end(event.name)) {
    return fail(Code::invalid_argument, "the name of an event has a line end or a zero byte");
  }
  if (has_line_end(event.key) || event.key.starts_with(' ')) {
    return fail(Code::invalid_argument,
                "the key of an event begins with a blank, or has a line end or a zero byte");
  }
  if (event.key.size() > key_bytes_max) {
    return fail(Code::out_of_range, fmt::format("the key of an event has {} bytes, and may have {}",
                                                event.key.size(), key_bytes_max));
  }
  if (event.data.size() + event.name.size() > options_.event_bytes_max) {
    return fail(Code::out_of_range,
                fmt::format("an event of {} bytes is above event_bytes_max, which is {}",
                            event.data.size() + event.name.size(), options_.event_bytes_max));
  }
  if (options_.bus != nullptr) return publish_on_bus(event);
  const std::lock_guard lock(mutex_);
  const std::uint64_t number = log_.add(event);
  ring();
  return number;
}

Result<std::uint64_t> EventTopic::State::publish_on_bus(const Event& event) {
  bus::Streams* const streams = options_.bus->streams();
  if (streams == nullptr) return fail(Code::unsupported, "the bus keeps no streams");
  const std::string subject = subject_of(options_.name);
  std::vector<bus::Header> headers;
  if (!event.name.empty()) headers.push_back({name_header, event.name});
  if (!event.key.empty()) headers.push_back({key_header, event.key});
  auto submitted = streams->submit({.subject = subject, .payload = event.data, .headers = headers});
  if (!submitted) return std::unexpected(submitted.error());
  return 0;
}

// REQUIRES that the mutex is held.
void EventTopic::State::ring() {
  for (const auto& reactor_subscribers : all_subscribers_) reactor_subscribers->ring();
}

// ---- events of all processes -------------------------------------------------------------------

void EventTopic::State::add_stored(const bus::StoredMessage& message) {
  const Event event{.data = message.message.payload(),
                    .name = message.message.header(name_header).value_or(""),
                    .key = message.message.header(key_header).value_or("")};
  const std::lock_guard lock(mutex_);
  if (log_.add_stored(event, message.sequence, message.stored_at, message.is_anew)) ring();
}

void EventTopic::State::note_loaded() {
  const std::lock_guard lock(mutex_);
  log_.note_loaded();
  ring();
}

// Waits for a connection: without one the bus would keep each request, again and again.
Task<void> EventTopic::State::until_connected() {
  while (true) {
    const bus::BusState state = options_.bus->health().state;
    if (state == bus::BusState::connected || state == bus::BusState::in_process) co_return;
    co_await net::sleep_for(milliseconds(100));
  }
}

Task<Result<std::unique_ptr<bus::Consumer>>> EventTopic::State::open_stream() {
  co_await until_connected();
  bus::Streams* const streams = options_.bus->streams();
  if (streams == nullptr) co_return fail(Code::unsupported, "the bus keeps no streams");
  const bus::StreamOptions stream{.name = stream_of(options_.name),
                                  .subjects = {subject_of(options_.name)},
                                  .messages_max = options_.events_kept_max};
  auto ensured = co_await streams->ensure(stream);
  if (!ensured) co_return std::unexpected(ensured.error());
  const bus::ConsumeOptions from_first{.stream = stream.name};
  auto consumer = co_await streams->consume(from_first);
  co_return consumer;
}

// The bus reports an Error, and the consumer continues; the readers get a report of a gap.
Task<void> EventTopic::State::read_stream(bus::Consumer& consumer) {
  std::uint64_t waiting = consumer.waiting_at_begin();
  if (waiting == 0) note_loaded();
  while (true) {
    auto message = co_await consumer.next();
    if (!message) co_return;
    if (!*message) {
      if ((*message).error().code() != Code::data_loss) continue;
      const std::lock_guard lock(mutex_);
      log_.add_gap(0);
      ring();
      continue;
    }
    consumer.acknowledge(**message);
    add_stored(**message);
    if (waiting != 0 && (--waiting == 0 || (*message)->waiting == 0)) {
      waiting = 0;
      note_loaded();
    }
  }
}

// Exists while the stream is known to be stalled; destroying the task ends it, too.
struct EventTopic::State::Stall {
  ~Stall() {
    if (streams != nullptr) streams->forget(of);
  }
  bus::Streams* const streams;
  const void* const of;
};

Task<void> EventTopic::State::follow_stream() {
  const Stall stall{options_.bus->streams(), this};
  net::Reactor& reactor = *net::Reactor::current();
  const std::string what = fmt::format("stream '{}'", stream_of(options_.name));
  Instant failing_since = never;
  while (true) {
    auto consumer = co_await open_stream();
    bus::Streams* const streams = stall.streams;
    if (consumer) {
      if (failing_since != never && streams != nullptr) {
        streams->note_going(this, what, reactor.now() - failing_since);
      }
      failing_since = never;
      co_await read_stream(**consumer);
      continue;
    }
    if (failing_since == never) failing_since = reactor.now();
    if (streams != nullptr && reactor.now() - failing_since >= stalled_after) {
      streams->note_stalled(this, what, consumer.error());
    }
    co_await net::sleep_for(milliseconds(500));
  }
}

namespace {

Task<void> until_drained() { co_await net::Reactor::current()->drain_begun().wait(); }

}  // namespace

Task<void> EventTopic::State::follow() {
  if (options_.bus == nullptr) {
    die_of_misuse("EventTopic::follow() of a topic without a bus",
                  "give EventTopicOptions::bus and a name, or do not call it");
  }
  (void)co_await when_any(follow_stream(), until_drained());
}

Reply EventTopic::State::subscribe(const RequestView& request) {
  return subscribe(
      EventReader{.wanted_id = std::string(request.field("last-event-id").value_or(""))});
}

Reply EventTopic::State::subscribe(const RequestView& request, std::vector<std::string> keys) {
  return subscribe(
      EventReader{.keys = std::move(keys),
                  .wanted_id = std::string(request.field("last-event-id").value_or(""))});
}

Reply EventTopic::State::subscribe(EventReader reader) {
  if (subscribers_.fetch_add(1, std::memory_order_relaxed) >= options_.subscribers_max) {
    subscribers_.fetch_sub(1, std::memory_order_relaxed);
    refused_.fetch_add(1, std::memory_order_relaxed);
    return problem(problem_types::too_many_running,
                   "There are as many readers of these events as there may be.")
        .with("Retry-After", "5");
  }
  std::unique_ptr<Subscription> subscription;
  try {
    {
      const std::lock_guard lock(mutex_);
      log_.place_if_loaded(reader);
      if (!reader.is_placed) reader.came_at = current_time();
    }
    subscription = std::make_unique<Subscription>(*this, std::move(reader));
  } catch (...) {
    subscribers_.fetch_sub(1, std::memory_order_relaxed);
    throw;
  }
  Reply reply = Reply::stream("text/event-stream", http::unknown_length, std::move(subscription));
  reply.add_field("Cache-Control", "no-store");
  reply.add_field("X-Accel-Buffering", "no");  // a proxy then forwards events at once
  return reply;
}

EventLog::Taken EventTopic::State::take(EventReader& reader) {
  const std::lock_guard lock(mutex_);
  return log_.take(reader);
}

std::string EventTopic::State::last_id(const EventReader& reader) const {
  const std::lock_guard lock(mutex_);
  return log_.last_id(reader);
}

std::uint64_t EventTopic::State::next_number() const {
  const std::lock_guard lock(mutex_);
  return log_.next_number();
}

EventTopic::State::ReactorSubscribers& EventTopic::State::reactor_subscribers(
    net::Reactor& reactor) {
  const Executor* const executor = &reactor;
  const std::lock_guard lock(mutex_);
  for (const auto& reactor_subscribers : all_subscribers_) {
    if (reactor_subscribers->executor() == executor) return *reactor_subscribers;
  }
  return *all_subscribers_.emplace_back(std::make_unique<ReactorSubscribers>(*this, reactor));
}

std::vector<std::shared_ptr<const std::string>> EventTopic::State::kept_from(
    std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  return log_.from(number);
}

EventTopicStatistics EventTopic::State::statistics() const {
  EventTopicStatistics statistics;
  statistics.delivered = delivered_.load(std::memory_order_relaxed);
  statistics.lost = lost_.load(std::memory_order_relaxed);
  statistics.gaps = gaps_.load(std::memory_order_relaxed);
  statistics.disconnected = disconnected_.load(std::memory_order_relaxed);
  statistics.refused = refused_.load(std::memory_order_relaxed);
  statistics.subscribers = subscribers_.load(std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  statistics.published = log_.published();
  statistics.events_kept = log_.size();
  return statistics;
}

EventTopic::EventTopic(const EventTopicOptions& options)
    : state_(std::make_unique<State>(options)) {}

EventTopic::~EventTopic() = default;

Result<std::uint64_t> EventTopic::publish(const Event& event) { return state_->publish(event); }

Task<void> EventTopic::follow() { return state_->follow(); }

Reply EventTopic::subscribe(const RequestView& request) { return state_->subscribe(request); }

Reply EventTopic::subscribe(const RequestView& request, std::vector<std::string> keys) {
  return state_->subscribe(request, std::move(keys));
}

EventTopicStatistics EventTopic::statistics() const { return state_->statistics(); }

std::vector<std::shared_ptr<const std::string>> EventTopic::kept_from(std::uint64_t number) const {
  return state_->kept_from(number);
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
