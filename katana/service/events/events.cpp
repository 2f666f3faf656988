#include "katana/service/events/events.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <optional>
#include <utility>

#include "katana/base/misuse.hpp"
#include "katana/base/when.hpp"
#include "katana/bus/subject.hpp"
#include "katana/core/sleep.hpp"
#include "katana/session/exchange.hpp"

namespace katana {
namespace {

constexpr Bytes comment = ":\n\n";

std::uint64_t epoch_of(const EventTopicOptions& options) {
  if (options.epoch != 0) return options.epoch;
  if (options.bus != nullptr) return 1;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

std::string opening_of(const EventTopicOptions& options) {
  if (options.retry <= Duration{}) return std::string(comment);
  return fmt::format("retry: {}\n\n", options.retry.count_ms());
}

constexpr Bytes name_header = "Katana-Event";

std::string subject_of(const std::string& name) { return "events." + name; }

bool has_line_end(Bytes text) noexcept {
  return text.find_first_of(Bytes("\r\n\0", 3)) != Bytes::npos;
}

}  // namespace

void append_event(std::string& to, Bytes id, const Event& event) {
  if (!id.empty()) to.append("id: ").append(id).append("\n");
  if (!event.name.empty()) to.append("event: ").append(event.name).append("\n");
  Bytes rest = event.data;
  for (bool more = true; more;) {
    const std::size_t end = rest.find_first_of("\r\n");
    more = end != Bytes::npos;
    to.append("data: ").append(rest.substr(0, end)).append("\n");
    if (more) rest.remove_prefix(end + (rest.substr(end).starts_with("\r\n") ? 2 : 1));
  }
  to.append("\n");
}

// The subscribers of one reactor, and the message that tells it of new events.
class EventTopic::ReactorSubscribers final : public Message {
 public:
  ReactorSubscribers(EventTopic& topic, Executor& executor) noexcept
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

  EventTopic& topic_;
  Executor& executor_;
  Subscription* first_ = nullptr;  // the reactor's
  // The topic's mutex guards these. The executor expects a message from when the first subscriber
  // comes until the last has left and nothing is under way.
  bool promised_ = false;
  bool rung_ = false;
};

class EventTopic::Subscription final : public ContentSource, private core::TimerEntry {
 public:
  Subscription(EventTopic& topic, std::uint64_t cursor)
      : TimerEntry([](TimerEntry& entry) noexcept { static_cast<Subscription&>(entry).on_tick(); }),
        topic_(topic),
        cursor_(cursor),
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

  // Armed for the heartbeat after what was sent last: what was sent meanwhile puts it off.
  void on_tick() noexcept {
    const bool silent = now() - spoke_at_ >= topic_.options_.heartbeat;
    if (silent && unsent_.empty()) {
      unsent_ = comment;
      spoke();  // whether there is room for it or not
    } else if (silent) {
      spoke();  // what waits for room will do
    }
    set_tick();
    if (silent) stream_->wake();  // which may destroy this object
  }

  // What is published while a server drains would keep it from ever ending.
  void end_after_what_is_there() noexcept { end_at_ = topic_.figures().published + 1; }

  // The next thing to send. False: there is none.
  bool fetch() {
    if (cursor_ >= end_at_) {
      ending_ = true;
      return false;
    }
    const Taken taken = topic_.take(cursor_);
    if (taken.lost != 0) {
      count(topic_.lost_, taken.lost);
      if (topic_.options_.slow_reader == SlowReader::disconnect) {
        count(topic_.disconnected_, 1);
        ending_ = true;
        return false;
      }
      words_.clear();
      append_event(words_, {}, {.data = fmt::to_string(taken.lost), .name = "lost"});
      unsent_ = words_;
      return true;
    }
    if (taken.octets == nullptr) return false;
    octets_ = taken.octets;
    unsent_ = *octets_;
    return true;
  }

  EventTopic& topic_;
  ContentStream* stream_ = nullptr;
  ReactorSubscribers* reactor_subscribers_ = nullptr;
  Subscription* next_ = nullptr;
  Subscription* previous_ = nullptr;
  std::uint64_t cursor_;
  Octets octets_;  // the event that is being sent
  Bytes unsent_;   // of octets_, words_, or a literal
  std::string words_;
  Instant spoke_at_;
  std::uint64_t end_at_ = UINT64_MAX;  // the number of the first event that is not sent any more
  bool ending_ = false;
};

void EventTopic::ReactorSubscribers::enter(Subscription& subscription) noexcept {
  subscription.next_ = first_;
  if (first_ != nullptr) first_->previous_ = &subscription;
  first_ = &subscription;
  const std::lock_guard lock(topic_.mutex_);
  if (!std::exchange(promised_, true)) executor_.expect_open_ended();
}

void EventTopic::ReactorSubscribers::leave(Subscription& subscription) noexcept {
  Subscription* const after = subscription.next_;
  Subscription* const before = subscription.previous_;
  if (after != nullptr) after->previous_ = before;
  (before != nullptr ? before->next_ : first_) = after;
  if (first_ != nullptr) return;
  const std::lock_guard lock(topic_.mutex_);
  if (rung_) return;  // the message is under way: it takes the promise back when it comes
  promised_ = false;
  executor_.unexpect_open_ended();
}

void EventTopic::ReactorSubscribers::on_rung() noexcept {
  {
    const std::lock_guard lock(topic_.mutex_);
    rung_ = false;
    if (first_ == nullptr) {
      promised_ = false;
      executor_.unexpect_open_ended();
      return;
    }
  }
  // A subscription that is woken may end, and no other does because of it.
  for (Subscription* each = first_; each != nullptr;) {
    Subscription* const after = each->next_;
    each->wake();
    each = after;
  }
}

EventTopic::EventTopic(const EventTopicOptions& options)
    : options_(options),
      id_prefix_(fmt::format("{:x}-", epoch_of(options))),
      opening_(opening_of(options)) {
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

EventTopic::~EventTopic() {
  const auto left = subscribers_.load(std::memory_order_relaxed);
  if (left == 0) return;
  die_of_misuse(fmt::format("an EventTopic is destroyed while {} readers are subscribed", left),
                "destroy it after the server that its readers are connected to");
}

Result<std::uint64_t> EventTopic::publish(const Event& event) {
  if (has_line_end(event.name)) {
    return fail(Code::invalid_argument, "the name of an event has a line end or a zero octet");
  }
  if (event.data.size() + event.name.size() > options_.event_bytes_max) {
    return fail(Code::out_of_range,
                fmt::format("an event of {} octets is above event_bytes_max, which is {}",
                            event.data.size() + event.name.size(), options_.event_bytes_max));
  }
  if (options_.bus != nullptr) {
    const std::string subject = subject_of(options_.name);
    const bus::Header named[] = {{name_header, event.name}};
    bus::Publication publication{.subject = subject, .payload = event.data};
    if (!event.name.empty()) publication.headers = named;
    auto published = options_.bus->publish(publication);
    if (!published) return std::unexpected(published.error());
    return 0;
  }
  const std::lock_guard lock(mutex_);
  const std::uint64_t number = first_kept_ + kept_.size();
  auto octets = std::make_shared<std::string>();
  append_event(*octets, id_prefix_ + std::to_string(number), event);
  keep(std::move(octets));
  return number;
}

// With the mutex held. The newest stays, however large it is.
void EventTopic::keep(std::shared_ptr<std::string> octets) {
  bytes_kept_ += octets->size();
  kept_.push_back(std::move(octets));
  while (kept_.size() > options_.events_kept_max ||
         (bytes_kept_ > options_.bytes_kept_max && kept_.size() > 1)) {
    bytes_kept_ -= kept_.front()->size();
    kept_.pop_front();
    ++first_kept_;
  }
  for (const auto& reactor_subscribers : all_subscribers_) reactor_subscribers->ring();
}

// ---- events of all processes -------------------------------------------------------------------

// What was in the stream and is not any more is a gap, which readers are told as lost.
void EventTopic::add_stored(const bus::StoredMessage& message) {
  const Event event{.data = message.message.payload(),
                    .name = message.message.header(name_header).value_or("")};
  const std::lock_guard lock(mutex_);
  const std::uint64_t next = first_kept_ + kept_.size();
  if (message.sequence < next) return;  // it was given again
  if (message.sequence > next) {
    kept_.clear();
    bytes_kept_ = 0;
    first_kept_ = message.sequence;
  }
  auto octets = std::make_shared<std::string>();
  append_event(*octets, id_prefix_ + std::to_string(message.sequence), event);
  keep(std::move(octets));
}

Task<Result<void>> EventTopic::read_stream() {
  bus::Streams* const streams = options_.bus->streams();
  if (streams == nullptr) {
    co_return fail(Code::unsupported, "the bus keeps no streams");
  }
  bus::StreamOptions stream{.name = "events-" + options_.name,
                            .subjects = {subject_of(options_.name)},
                            .messages_max = options_.events_kept_max};
  auto ensured = co_await streams->ensure(stream);
  if (!ensured) co_return ensured;
  std::uint64_t next = 0;
  {
    const std::lock_guard lock(mutex_);
    next = first_kept_ + kept_.size();
  }
  bus::ConsumeOptions from{
      .stream = "events-" + options_.name, .start = bus::StartAt::sequence, .start_sequence = next};
  auto consumer = co_await streams->consume(from);
  if (!consumer) co_return std::unexpected(consumer.error());
  while (true) {
    auto message = co_await (*consumer)->next();
    if (!message) co_return Result<void>();
    if (!*message) co_return std::unexpected(message->error());
    (*consumer)->acknowledge(**message);
    add_stored(**message);
  }
}

Task<void> EventTopic::follow_stream() {
  while (true) {
    auto read = co_await read_stream();
    // Told by the bus's own records; what was read is kept, and it goes on behind it.
    co_await core::sleep_for(read ? milliseconds(10) : milliseconds(500));
  }
}

namespace {

Task<void> until_drained() { co_await core::Reactor::current()->drain_begun().wait(); }

}  // namespace

Task<void> EventTopic::follow() {
  if (options_.bus == nullptr) {
    die_of_misuse("EventTopic::follow() of a topic without a bus",
                  "give EventTopicOptions::bus and a name, or do not call it");
  }
  (void)co_await when_any(follow_stream(), until_drained());
}

Reply EventTopic::subscribe(const RequestView& request) {
  if (subscribers_.fetch_add(1, std::memory_order_relaxed) >= options_.subscribers_max) {
    subscribers_.fetch_sub(1, std::memory_order_relaxed);
    refused_.fetch_add(1, std::memory_order_relaxed);
    return problem(503, "There are as many readers of these events as there may be.")
        .with("Retry-After", "5");
  }
  std::unique_ptr<Subscription> subscription;
  try {
    subscription = std::make_unique<Subscription>(*this, first_wanted(request));
  } catch (...) {
    subscribers_.fetch_sub(1, std::memory_order_relaxed);
    throw;
  }
  Reply reply = Reply::stream("text/event-stream", http::unknown_length, std::move(subscription));
  reply.add_field("Cache-Control", "no-store");
  reply.add_field("X-Accel-Buffering", "no");  // a proxy in between passes on what comes
  return reply;
}

std::uint64_t EventTopic::first_wanted(const RequestView& request) const {
  const Bytes id = request.field("last-event-id").value_or("");
  const std::lock_guard lock(mutex_);
  const std::uint64_t next = first_kept_ + kept_.size();
  if (id.empty()) return next - std::min(kept_.size(), options_.recent_for_new);
  // Of another life of the program: everything that is kept is new to this reader.
  if (!id.starts_with(id_prefix_)) return first_kept_;
  const Bytes digits = id.substr(id_prefix_.size());
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool known =
      failure == std::errc() && end == digits.data() + digits.size() && number < next;
  return known ? number + 1 : first_kept_;
}

EventTopic::Taken EventTopic::take(std::uint64_t& cursor) {
  const std::lock_guard lock(mutex_);
  if (cursor < first_kept_) return {nullptr, first_kept_ - std::exchange(cursor, first_kept_)};
  const std::uint64_t index = cursor - first_kept_;
  if (index >= kept_.size()) return {};
  ++cursor;
  return {kept_[index], 0};
}

EventTopic::ReactorSubscribers& EventTopic::reactor_subscribers(core::Reactor& reactor) {
  const Executor* const executor = &reactor;
  const std::lock_guard lock(mutex_);
  for (const auto& reactor_subscribers : all_subscribers_) {
    if (reactor_subscribers->executor() == executor) return *reactor_subscribers;
  }
  return *all_subscribers_.emplace_back(std::make_unique<ReactorSubscribers>(*this, reactor));
}

std::vector<std::shared_ptr<const std::string>> EventTopic::kept_from(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  const std::uint64_t passed = number > first_kept_ ? number - first_kept_ : 0;
  if (passed >= kept_.size()) return {};
  return {kept_.begin() + static_cast<std::ptrdiff_t>(passed), kept_.end()};
}

EventTopicFigures EventTopic::figures() const {
  EventTopicFigures figures;
  figures.delivered = delivered_.load(std::memory_order_relaxed);
  figures.lost = lost_.load(std::memory_order_relaxed);
  figures.disconnected = disconnected_.load(std::memory_order_relaxed);
  figures.refused = refused_.load(std::memory_order_relaxed);
  figures.subscribers = subscribers_.load(std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  figures.published = first_kept_ - 1 + kept_.size();
  figures.events_kept = kept_.size();
  return figures;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
