#include "katana/stores/bus/nats/nats_home.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>

#include "katana/net/reactor/sleep.hpp"
#include "katana/stores/bus/message_span.hpp"
#include "katana/stores/bus/subject.hpp"

namespace katana::bus {
namespace {

constexpr Bytes numbers_prefix = "_numbers.";
// The number of the subscription to the answers of streams; those of patterns are above it.
constexpr std::uint64_t answers_number = 1;

char* put_text(char* to, Bytes text) noexcept {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

char* put_hex(char* to, std::uint64_t number) noexcept {
  return std::to_chars(to, to + 16, number, 16).ptr;
}

// "HEX", up to the end or `delimiter`, which is taken off, too.
bool take_hex(Bytes& text, char delimiter, std::uint64_t& number) noexcept {
  const std::size_t end = text.find(delimiter);
  const Bytes digits = text.substr(0, end);
  const auto [at, failure] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  text = end == Bytes::npos ? Bytes() : text.substr(end + 1);
  return failure == std::errc() && at == digits.data() + digits.size();
}

// Takes the line of the numbers off the headers; its writer puts it first.
Origin take_origin(Bytes& headers) noexcept {
  if (!headers.starts_with(sequence_header)) return {};
  const std::size_t end = headers.find("\r\n");
  Bytes value = headers.substr(0, end).substr(sequence_header.size());
  headers = end == Bytes::npos ? Bytes() : headers.substr(end + 2);
  Origin origin;
  if (!take_hex(value, '-', origin.publisher) || !take_hex(value, '-', origin.sequence)) return {};
  return origin;
}

}  // namespace

void NatsBus::Home::set_health(BusState state, std::string detail) {
  const std::lock_guard lock(bus_->mutex_);
  const bool is_ready = state == BusState::connected;
  if (bus_->health_.state != state) bus_->health_.since = reactor_.now();
  bus_->health_.ready = is_ready;
  bus_->health_.state = state;
  bus_->health_.detail = std::move(detail);
  bus_->is_up_.store(is_ready, std::memory_order_release);
}

bool NatsBus::Home::set_groups_problem(std::string problem) {
  const std::lock_guard lock(bus_->mutex_);
  if (bus_->groups_problem_ == problem) return false;
  bus_->groups_problem_ = std::move(problem);
  return true;
}

void NatsBus::Home::tell_groups(const Notice& notice) {
  for (const auto& [number, place] : places_) {
    if (place.group.empty()) continue;
    bus_->fan_out_.tell_group(place.pattern, place.group, notice);
  }
}

void NatsBus::Home::on_up(const ServerInfo& info) noexcept {
  const bool again = std::exchange(was_up_, true);
  bus_->payload_max_.store(info.max_payload, std::memory_order_relaxed);
  bus_->takes_headers_.store(info.has_headers, std::memory_order_relaxed);
  set_health(BusState::connected, fmt::format("{} ({})", link_->server(), info.version));
  last_problem_.clear();
  subscribe_all(*link_, false);
  (void)link_->subscribe(answers_number, storing_->inbox() + ".*", {});
  if (again) bus_->reconnects_.fetch_add(1, std::memory_order_relaxed);
  bus_->fan_out_.tell(nullptr, {.kind = NoticeKind::connected});
  if (again) {
    bus_->fan_out_.tell(nullptr,
                        {.kind = NoticeKind::may_have_missed, .reason = MissReason::network});
  }
  if (options_.observer != nullptr) {
    const Duration away = again ? reactor_.now() - down_since_ : Duration{};
    options_.observer->on_connected(link_->server(), again, away);
  }
  send_waiting();
  send_stores();
}

void NatsBus::Home::on_down(const Error& why) noexcept {
  down_since_ = reactor_.now();
  storing_->on_down();
  set_health(BusState::reconnecting, why.describe());
  bus_->fan_out_.tell(nullptr, {.kind = NoticeKind::disconnected});
  // A reactor that has ended closes its open connections, which is no failure of the server.
  if (options_.observer == nullptr || reactor_.stopped()) return;
  options_.observer->on_disconnected(link_->server(), why);
}

void NatsBus::Home::on_unreachable(const Error& why) noexcept {
  std::string problem = why.describe();
  if (problem == last_problem_) return;
  set_health(was_up_ ? BusState::reconnecting : BusState::connecting, problem);
  last_problem_ = std::move(problem);
  if (options_.observer != nullptr) options_.observer->on_unreachable(link_->server(), why);
}

// ---- subscriptions -----------------------------------------------------------------------------

void NatsBus::Home::subscribe(NatsLink& link, std::uint64_t number, const Wanted& place) {
  if (!link.is_up()) return;
  const std::string subject = bus_->full_subject(place.pattern->text);
  bool done = link.subscribe(number, subject, place.group);
  if (done && place.has_numbers) {
    done = link.subscribe(
        number + 1, bus_->full_subject(std::string(numbers_prefix) + place.pattern->text), {});
  }
  if (!done) {
    link.lose(Error(Code::resource_exhausted, "the server does not take what is subscribed to"));
  }
}

void NatsBus::Home::subscribe_all(NatsLink& link, bool groups) {
  for (const auto& [number, place] : places_) {
    if (number % 2 == 0 && place.group.empty() != groups) subscribe(link, number, place);
  }
}

void NatsBus::Home::take_changes() {
  std::vector<Change> changes;
  {
    const std::lock_guard lock(bus_->mutex_);
    changes.swap(bus_->changes_);
    bus_->has_changes_.store(false, std::memory_order_relaxed);
  }
  for (const Change& each : changes) {
    const bool is_grouped = !each.group.empty();
    if (!each.is_wanted) {
      const auto place = places_.find(each.number);
      if (place == places_.end()) continue;
      NatsLink& link = is_grouped ? groups_->link : *link_;
      const bool has_numbers = place->second.has_numbers;
      places_.erase(place);
      gaps_.remove(each.number);
      if (!link.is_up()) continue;
      (void)link.unsubscribe(each.number);
      if (has_numbers) (void)link.unsubscribe(each.number + 1);
      continue;
    }
    const bool has_numbers = options_.numbers && !is_grouped && !is_raw_subject(each.pattern->text);
    const auto place =
        places_.emplace(each.number, Wanted{each.pattern, each.group, has_numbers}).first;
    if (!is_grouped) {
      gaps_.add(each.number, reactor_.now());
      subscribe(*link_, each.number, place->second);
      continue;
    }
    if (groups_ == nullptr) {
      groups_ = std::make_unique<Groups>(*this);
      groups_->link.start();
    }
    subscribe(groups_->link, each.number, place->second);
  }
}

// ---- output ------------------------------------------------------------------------------------

bool NatsBus::Home::send(Bytes subject, Bytes reply_to, Bytes headers, Bytes payload,
                         Batch* memory) {
  // A number that was given and not sent would be a gap: so it is known before that there is room.
  constexpr std::size_t overhead_max = 2 * subject_bytes_max + 512;
  const std::size_t prefixes = 2 * options_.prefix.size();
  if (!link_->takes(payload.size() + headers.size() + prefixes + overhead_max)) return false;
  const bool is_numbered =
      options_.numbers && link_->info().has_headers && !is_raw_subject(subject);
  std::array<char, 64> line;
  Bytes all = headers;
  if (is_numbered) {
    const Origin origin = sequencer_.next(subject, reactor_.now());
    arm_repeats();
    char* to = put_text(line.data(), sequence_begin_);
    to = put_text(put_hex(to, origin.sequence), "\r\n");
    all = {line.data(), static_cast<std::size_t>(to - line.data())};
    if (!headers.empty()) {
      all_headers_.assign(all).append(headers);
      all = all_headers_;
    }
  }
  // A message that fails from here on is lost with the connection, as messages written before it.
  if (options_.prefix.empty()) {
    (void)link_->publish(subject, reply_to, all, payload, memory);
    return true;
  }
  const auto full = [this](std::string& to, Bytes text) -> Bytes {
    if (text.empty() || is_raw_subject(text)) return text;
    to.assign(options_.prefix).append(".").append(text);
    return to;
  };
  (void)link_->publish(full(subject_, subject), full(reply_to_, reply_to), all, payload, memory);
  return true;
}

// Sends waiting messages in the order of publication, as many as the connection takes.
void NatsBus::Home::send_waiting() {
  while (link_->is_up()) {
    Posted next;
    {
      const std::lock_guard lock(bus_->mutex_);
      if (bus_->outgoing_.empty()) return;
      next = bus_->outgoing_.front();
    }
    HeldMessage message = std::move(next).adopt();
    const std::string headers(message.headers());
    if (!send(message.subject(), message.reply_to(), headers, message.payload(),
              &message.memory())) {
      link_->want_writable();
      return;
    }
    const std::lock_guard lock(bus_->mutex_);
    bus_->outgoing_bytes_ -= bus_->outgoing_.front().allocated_bytes();
    bus_->outgoing_.pop_front();
    bus_->has_outgoing_.store(!bus_->outgoing_.empty(), std::memory_order_relaxed);
  }
}

void NatsBus::Home::on_rung() noexcept {
  const std::shared_ptr<Home> alive = std::move(alive_while_rung_);
  if (bus_ == nullptr) return;
  {
    const std::lock_guard lock(bus_->mutex_);
    bus_->rung_ = false;
  }
  take_changes();
  send_waiting();
  send_stores();
}

// Waits in a graceful shutdown until the submitted messages are stored, at most store_drain_max. A
// server that is away gets no more time than that.
Task<void> NatsBus::Home::until_stored(std::shared_ptr<Home> self) {
  net::Reactor& reactor = self->reactor_;
  co_await reactor.drain_begun().wait();
  const Instant end = reactor.now() + store_drain_max;
  while (self->bus_ != nullptr && self->bus_->to_store_.size() != 0 && reactor.now() < end) {
    co_await net::sleep_for(milliseconds(10));
  }
}

// ---- numbers -----------------------------------------------------------------------------------

void NatsBus::Home::arm_repeats() {
  const Instant due = sequencer_.due();
  if (repeat_timer_.armed() || due == never) return;
  reactor_.timers().arm(repeat_timer_, due);
}

// "PUBLISHER-NUMBER-AGE", in hexadecimal; the age in milliseconds.
void NatsBus::Home::on_repeats() noexcept {
  constexpr std::size_t at_once = 256;  // the others in their own turn
  sequencer_.repeat(reactor_.now(), at_once, [this](const Sequencer::Repeat& repeat) {
    if (!link_->is_up()) return;
    const std::string payload = fmt::format("{:x}-{:x}-{:x}", repeat.origin.publisher,
                                            repeat.origin.sequence, repeat.age.count_ms());
    (void)link_->publish(
        bus_->full_subject(std::string(numbers_prefix) + std::string(repeat.subject)), {}, {},
        payload, nullptr);
  });
  arm_repeats();
}

void NatsBus::Home::on_numbers(const Wanted& place, std::uint64_t number, Bytes subject,
                               Bytes payload) {
  Origin origin;
  std::uint64_t age_ms = 0;
  if (!subject.starts_with(numbers_prefix) || !take_hex(payload, '-', origin.publisher) ||
      !take_hex(payload, '-', origin.sequence) || !take_hex(payload, '-', age_ms) ||
      age_ms > INT64_MAX / 1'000'000) {
    return;
  }
  subject.remove_prefix(numbers_prefix.size());
  tell(place, subject,
       gaps_.on_repeat(number, subject, origin, milliseconds(static_cast<std::int64_t>(age_ms)),
                       reactor_.now()));
}

void NatsBus::Home::tell(const Wanted& place, Bytes subject, const GapDetector::Verdict& verdict) {
  if (verdict.missed != 0) {
    bus_->fan_out_.tell(place.pattern, {.kind = NoticeKind::missed,
                                        .reason = MissReason::network,
                                        .count = verdict.missed,
                                        .subject = subject});
    if (options_.observer != nullptr) {
      options_.observer->on_missed(place.pattern->text, subject, verdict.missed);
    }
  }
  if (verdict.may_have_missed) {
    bus_->fan_out_.tell(
        place.pattern,
        {.kind = NoticeKind::may_have_missed, .reason = MissReason::network, .subject = subject});
  }
}

// ---- input -------------------------------------------------------------------------------------

Bytes NatsBus::Home::without_prefix(Bytes subject) const noexcept {
  const std::string& prefix = options_.prefix;
  if (prefix.empty() || !subject.starts_with(prefix) || subject.size() <= prefix.size() ||
      subject[prefix.size()] != '.') {
    return subject;
  }
  return subject.substr(prefix.size() + 1);
}

void NatsBus::Home::on_message(const NatsMessage& message) noexcept {
  if (message.subscription == answers_number) return storing_->on_answer(message);
  const std::uint64_t number = message.subscription & ~std::uint64_t{1};
  const auto found = places_.find(number);
  if (found == places_.end()) return;  // cancelled meanwhile
  const Wanted place = found->second;
  const Bytes subject = without_prefix(message.subject);
  if (message.subscription != number) {
    on_numbers(place, number, subject, message.payload);
    return;
  }
  // Other clients may publish to names that are no subjects here.
  if (!is_subject(subject) || (is_hidden(subject) && begins_with_wildcard(place.pattern->text))) {
    return;
  }
  Bytes headers = message.headers;
  const Origin origin = take_origin(headers);
  if (headers.size() > header_bytes_max ||
      message.payload.size() > options_.bus.payload_bytes_max) {
    on_too_large(number, subject);
    return;
  }
  if (place.has_numbers) {
    const auto verdict = gaps_.on_message(number, subject, origin);
    if (verdict.is_duplicate) {
      bus_->fan_out_.count_duplicate();
      return;
    }
    tell(place, subject, verdict);
  }
  bus_->fan_out_.count_received(message.payload.size());
  const bool is_own = origin.publisher == sequencer_.publisher();
  const HeldMessage made = make_message({.subject = subject,
                                         .payload = message.payload,
                                         .reply_to = without_prefix(message.reply_to)},
                                        is_own, origin, message.status, headers);
  bus_->fan_out_.deliver_to(place.pattern, place.group, Posted(made.batch()));
}

void NatsBus::Home::on_too_large(std::uint64_t subscription, Bytes subject) noexcept {
  const auto found = places_.find(subscription & ~std::uint64_t{1});
  if (found == places_.end()) return;
  tell(found->second, without_prefix(subject), {.missed = 1});
}

// Finds the subscription that a "Permissions Violation for Subscription to "a.b"" names.
void NatsBus::Home::on_server_error(Bytes text) noexcept {
  if (options_.observer != nullptr) {
    options_.observer->on_server_error(link_->server(), std::string(text.substr(0, 300)));
  }
  constexpr Bytes mark = "Subscription to \"";
  const std::size_t at = text.find(mark);
  if (at == Bytes::npos) return;
  Bytes subject = text.substr(at + mark.size());
  subject = without_prefix(subject.substr(0, subject.find('"')));
  for (const auto& [number, place] : places_) {
    if (place.pattern->text != subject) continue;
    const std::shared_ptr<Pattern> pattern = place.pattern;
    bus_->fan_out_.tell(pattern, {.kind = NoticeKind::denied});
    return;
  }
}

// ---- functions of NatsBus that use its Home -----------------------------------------------------

NatsBus::~NatsBus() {
  const std::lock_guard lock(mutex_);
  if (home_ != nullptr) {
    home_->leave();
  } else if (health_.state != BusState::closed) {
    streams_->note_not_stored(to_store_.size());
  }
}

void NatsBus::start(net::Reactor& home) {
  auto started = std::make_shared<Home>(*this, home);
  home.attach(started.get(), std::make_unique<Home::Place>(started));
  {
    const std::lock_guard lock(mutex_);
    KATANA_REQUIRE(home_ == nullptr);
    home_ = started.get();
    home_reactor_ = &home;
    health_.since = home.now();
    health_.detail = "begun";
  }
  started->start();
}

// Called with the lock held: the reactor is then there.
void NatsBus::ring() {
  if (home_ == nullptr || std::exchange(rung_, true)) return;
  home_->ring();
}

Result<Published> NatsBus::publish(const Publication& given) {
  return publish_within_span(
      fan_out_.system(), given, headers_room(given),
      [this](const Publication& publication) { return publish_now(publication); });
}

Result<Published> NatsBus::publish_now(const Publication& publication) {
  if (auto checked = check_sendable(publication); !checked) {
    return std::unexpected(checked.error());
  }
  std::optional<HeldMessage> made;
  const Published published{.is_here = fan_out_.deliver(publication, false, made)};
  const bool is_up = is_up_.load(std::memory_order_acquire);
  if (!is_up && options_.away.policy == WhenAway::refuse) {
    kept_refused_.fetch_add(1, std::memory_order_relaxed);
    return fail(Code::unavailable,
                fmt::format("no NATS server is connected, and '{}' is not kept for one: {}",
                            publication.subject, health().detail));
  }
  // relaxed: the home reactor's thread writes these values, or threads whose publications are not
  // ordered with this one.
  const net::Reactor* const here = net::Reactor::current();
  if (is_up && here != nullptr && here == home_reactor_.load(std::memory_order_relaxed) &&
      !has_outgoing_.load(std::memory_order_relaxed)) {
    // Only this thread ends the Home.
    Home& home = *home_;
    // An answer may come at once: the subscription to its subject goes out before the question.
    if (has_changes_.load(std::memory_order_relaxed)) home.take_changes();
    if (home.send(publication)) return published;
  }
  if (!made) made.emplace(make_message(publication, true));
  if (auto kept = enqueue(*made); !kept) return std::unexpected(kept.error());
  return published;
}

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
