#include "katana/stores/bus/nats/jet_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "katana/base/text/format.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/stores/bus/subject.hpp"

namespace katana::bus {
namespace {

constexpr std::size_t pull_max = 256;
constexpr Duration pull_expires = seconds(5);
constexpr Duration pull_heartbeat = seconds(1);
constexpr Duration silence_max = seconds(3);
constexpr Duration pause_min = milliseconds(100);
constexpr Duration pause_max = seconds(2);
// A recovery that takes longer is a record, and the bus is not ready meanwhile.
constexpr Duration stalled_after = seconds(2);

std::string new_inbox() {
  std::string inbox(inbox_prefix);
  for (const char byte : random_octets(12)) {
    fmt::format_to(std::back_inserter(inbox), "{:02x}", static_cast<unsigned char>(byte));
  }
  return inbox;
}

Instant now_here() noexcept { return net::Reactor::current()->now(); }

}  // namespace

JetReader::JetReader(JetStreams& streams, ConsumeOptions options, bool follows)
    : TimerEntry([](TimerEntry& entry) noexcept { static_cast<JetReader&>(entry).on_time(); }),
      streams_(streams),
      bus_(streams.bus()),
      options_(std::move(options)),
      stream_(streams.names().full_stream(options_.stream)),
      follows_(follows),
      places_(std::clamp<std::size_t>(options_.unacknowledged_max, 1, pull_max)) {}

JetReader::~JetReader() { close(); }

Task<Result<void>> JetReader::begin() {
  if (follows_) {
    auto stream = co_await streams_.look(options_.stream, false, JetStreams::api_timeout);
    if (!stream) co_return std::unexpected(stream.error());
    created_ = stream->created;
  }
  auto made = co_await streams_.create(options_, follows_, JetStreams::api_timeout);
  if (!made) co_return std::unexpected(made.error());
  name_ = made->name;
  waiting_at_begin_ = made->pending;
  position_ = made->given;
  last_number_ = made->given_count;
  floor_ = made->acknowledged;
  if (auto heard = listen(); !heard) co_return heard;
  if (is_server_away()) suspect(Error(Code::unavailable, "no server is connected"));
  co_return Result<void>();
}

// ---- messages from the server ------------------------------------------------------------------

// Subscribes to a new subject: answers to earlier questions then go nowhere.
Result<void> JetReader::listen() {
  inbox_ = new_inbox();
  SubscribeOptions how;
  how.on_notice = [this](const Notice& notice) { on_notice(notice); };
  auto subscribed = bus_.subscribe(
      inbox_, [this](const Delivery& message) { on_message(message); }, std::move(how));
  if (!subscribed) return std::unexpected(subscribed.error());
  subscription_ = *std::move(subscribed);
  return {};
}

// Messages of a connection that ended may be lost, and the server that has the consumer may have
// ended with it.
void JetReader::on_notice(const Notice& notice) {
  suspect(Error(Code::unavailable,
                notice.kind == NoticeKind::disconnected
                    ? "the connection to the server was lost"
                    : fmt::format("messages may have been lost ({})", name_of(notice.kind))));
}

void JetReader::on_message(const Delivery& message) {
  if (message.status() != 0) return on_status(message);
  const auto place = jet::read_place(message.reply_to());
  if (!place) return;
  queue_.push_back({.message = message.hold(),
                    .sequence = place->sequence,
                    .deliveries = place->deliveries,
                    .waiting = place->waiting,
                    .stored_at = place->stored_at,
                    .ack_to = std::string(message.reply_to())});
  if (place->number != last_number_ + 1) has_others_ = true;
  last_number_ = place->number;
  note_answer();
  if (asked_ > 0) --asked_;
  if (asked_ == 0) {
    cancel();
  } else {
    arm(silence_max);
  }
  arrived_.set();
}

// Status 100 is a heartbeat, 404 and 408 are the end of a question. Any other status ends it, too:
// 409 when the consumer was deleted or has another leader, 503 when no server has it.
void JetReader::on_status(const Delivery& message) {
  const std::uint16_t status = message.status();
  if (status == 100) {
    note_answer();
    arm(silence_max);
    return;
  }
  cancel();
  asked_ = 0;
  if (status == 404 || status == 408) {
    note_answer();
    if (!follows_) is_closed_ = true;
    arrived_.set();
    return;
  }
  suspect(Error(Code::unavailable, fmt::format("the server refuses to give more: {} {}", status,
                                               message.payload().substr(0, 100))));
}

void JetReader::on_time() noexcept {
  if (suspicion_) return arrived_.set();
  suspect(Error(Code::unavailable, fmt::format("the server has said nothing for {} ms",
                                               milliseconds_of(silence_max))));
}

void JetReader::arm(Duration time) {
  net::Reactor& reactor = *net::Reactor::current();
  reactor.timers().arm(*this, reactor.now() + time);
}

// ---- messages to the caller --------------------------------------------------------------------

Task<std::optional<Result<StoredMessage>>> JetReader::next() {
  while (true) {
    if (auto message = take()) co_return Result<StoredMessage>(*std::move(message));
    if (!problems_.empty()) {
      const Error problem = std::move(problems_.front());
      problems_.pop_front();
      co_return Result<StoredMessage>(std::unexpected(problem));
    }
    if (is_closed_) co_return std::nullopt;
    if (suspicion_) {
      co_await recover();
      continue;
    }
    if (asked_ == 0) pull();
    arrived_.reset();
    if (queue_.empty() && !suspicion_) co_await arrived_.wait();
  }
}

std::optional<StoredMessage> JetReader::take() {
  while (!queue_.empty()) {
    StoredMessage first = std::move(queue_.front());
    queue_.pop_front();
    if (is_known(first.sequence)) {  // acknowledged to a consumer that is gone
      acknowledge(first);
      continue;
    }
    count(first);
    return first;
  }
  return std::nullopt;
}

// True when this reader gave the message before, and it was acknowledged. Always false for a
// durable consumer, because other readers may have been given it.
bool JetReader::is_known(std::uint64_t sequence) const noexcept {
  return follows_ && options_.durable.empty() && sequence <= position_ &&
         !unacknowledged_.contains(sequence);
}

void JetReader::count(StoredMessage& message) {
  ++given_;
  message.is_anew = std::exchange(is_anew_, false);
  const bool is_whole = options_.filter.empty() && options_.durable.empty() &&
                        (options_.start != StartAt::last_per_subject || given_ > waiting_at_begin_);
  if (is_whole && message.sequence > position_ + 1) {
    message.missed = message.sequence - position_ - 1;
    streams_.count_missed(message.missed);
  }
  if (message.sequence > position_) {
    position_ = message.sequence;
    position_stored_at_ = message.stored_at;
    has_given_ = true;
  }
  if (!follows_) return;
  // The last delivery: its acknowledgement is not awaited.
  if (options_.deliveries_max != 0 && message.deliveries >= options_.deliveries_max) {
    unacknowledged_.erase(message.sequence);
  } else {
    unacknowledged_.insert(message.sequence);
  }
}

void JetReader::acknowledge(const StoredMessage& message) noexcept {
  unacknowledged_.erase(message.sequence);
  if (!message.ack_to.empty()) (void)bus_.publish(message.ack_to, "+ACK");
}

void JetReader::reject(const StoredMessage& message, Duration delay) noexcept {
  if (message.ack_to.empty()) return;
  const std::string text =
      delay > Duration{} ? fmt::format("-NAK {{\"delay\":{}}}", delay.ns) : "-NAK";
  (void)bus_.publish(message.ack_to, text);
}

// Gives fetched messages that were not read back to the server: another reader gets them at once.
void JetReader::close() noexcept {
  streams_.forget(this);
  const bool was_closed = std::exchange(is_closed_, true);
  if (was_closed && !subscription_) return;
  cancel();
  subscription_.cancel();
  for (const StoredMessage& each : queue_) reject(each, {});
  queue_.clear();
  arrived_.set();
}

void JetReader::remove() noexcept {
  close();
  (void)bus_.publish(fmt::format("$JS.API.CONSUMER.DELETE.{}.{}", stream_, name_), "");
}

void JetReader::pull() {
  const auto published =
      bus_.publish({.subject = fmt::format("$JS.API.CONSUMER.MSG.NEXT.{}.{}", stream_, name_),
                    .payload = jet::write_pull(places_, pull_expires, pull_heartbeat),
                    .reply_to = inbox_});
  if (!published) return suspect(published.error());
  asked_ = places_;
  arm(silence_max);
}

// ---- going on ----------------------------------------------------------------------------------

void JetReader::suspect(Error why) {
  cancel();
  asked_ = 0;
  if (!suspicion_) {
    is_fruitless_ = !has_answered_;
    if (!is_fruitless_) suspected_at_ = now_here();
  }
  suspicion_ = std::move(why);
  arrived_.set();
}

// Called for a message or a heartbeat: the consumer is there, and gives its messages.
void JetReader::note_answer() {
  if (std::exchange(has_answered_, true)) return;
  pause_ = {};
  told_.clear();
  streams_.note_going(this, options_, now_here() - suspected_at_);
}

bool JetReader::is_server_away() const {
  const BusState state = bus_.health().state;
  return state != BusState::connected && state != BusState::in_process;
}

// Waits before the next attempt, but no longer than until a server is there again.
Task<void> JetReader::wait_for_server() {
  while (!is_closed_) {
    const bool is_away = subscription_ && is_server_away();  // else no notice would come
    if (is_away) retry_at_ = {};
    if (!is_away && now_here() >= retry_at_) break;
    arrived_.reset();
    if (!is_away) arm(retry_at_ - now_here());
    co_await arrived_.wait();
  }
  cancel();
}

Task<void> JetReader::recover() {
  const Error why = *suspicion_;
  if (!follows_) {
    suspicion_.reset();
    problems_.push_back(why);
    is_closed_ = true;
    co_return;
  }
  if (is_server_away() && told_.empty()) co_return tell(why);
  if (std::exchange(is_fruitless_, false)) co_return note_failure(why);
  co_await wait_for_server();
  if (is_closed_) co_return;
  subscription_.cancel();
  auto again = co_await make_again();
  if (again) again = listen();
  if (!again) {
    const auto heard = listen();  // of the next server
    co_return note_failure(heard ? again.error() : heard.error());
  }
  suspicion_.reset();
  has_answered_ = false;
  if (is_server_away()) suspect(Error(Code::unavailable, "the connection to the server was lost"));
}

void JetReader::tell(const Error& why) {
  told_ = why.describe();
  problems_.push_back(why.within(fmt::format("the consumer of stream '{}'", options_.stream)));
}

// The first attempt comes at once, and each further one after twice as long.
void JetReader::note_failure(const Error& why) {
  pause_ = std::clamp(pause_ * 2, pause_min, pause_max);
  retry_at_ = now_here() + pause_;
  suspicion_ = why;
  if (why.describe() != told_) tell(why);
  if (now_here() - suspected_at_ >= stalled_after) streams_.note_stalled(this, options_, why);
}

Task<Result<void>> JetReader::make_again() {
  auto stream = co_await streams_.look(options_.stream, true, JetStreams::recovery_timeout);
  if (!stream) co_return std::unexpected(stream.error());
  auto same = co_await is_same(*stream);
  if (!same) co_return std::unexpected(same.error());
  const std::string before = name_;
  if (!*same) {
    begin_anew(*stream);
  } else {
    note_expired(*stream);
  }
  auto attached = co_await attach();
  if (!attached) co_return std::unexpected(attached.error());
  if (name_ != before) {  // it would end without a call
    (void)bus_.publish(fmt::format("$JS.API.CONSUMER.DELETE.{}.{}", stream_, before), "");
  }
  co_return Result<void>();
}

Task<Result<bool>> JetReader::is_same(const jet::Stream& stream) {
  if (stream.created != created_ || stream.last_sequence < position_) co_return false;
  if (!has_given_ || position_ < stream.first_sequence) co_return true;
  const std::string json = fmt::format("{{\"seq\":{}}}", position_);
  auto answer =
      co_await streams_.ask("STREAM.MSG.GET." + stream_, json, JetStreams::recovery_timeout);
  if (!answer) {
    if (answer.error().code() == Code::not_found) co_return true;  // it was removed
    co_return std::unexpected(answer.error());
  }
  auto stored_at = jet::read_stored_at(*answer);
  if (!stored_at) co_return std::unexpected(stored_at.error());
  co_return *stored_at == position_stored_at_;
}

void JetReader::begin_anew(const jet::Stream& stream) {
  problems_.emplace_back(
      Code::data_loss,
      fmt::format("stream '{}' was made again, or went back: what came behind sequence {} is "
                  "lost, and it is read from its first message on",
                  options_.stream, position_));
  streams_.note_gap(options_, problems_.back());
  created_ = stream.created;
  position_ = 0;
  has_given_ = false;
  is_anew_ = true;
  floor_ = 0;
  unacknowledged_.clear();
}

void JetReader::note_expired(const jet::Stream& stream) {
  unacknowledged_.erase(unacknowledged_.begin(),
                        unacknowledged_.lower_bound(stream.first_sequence));
  if (!options_.durable.empty() || stream.first_sequence <= position_ + 1) return;
  problems_.emplace_back(Code::data_loss,
                         fmt::format("messages {} to {} left stream '{}' before they were read",
                                     position_ + 1, stream.first_sequence - 1, options_.stream));
  streams_.note_gap(options_, problems_.back());
  // With a filter the number of lost messages is unknown.
  if (!options_.filter.empty()) position_ = stream.first_sequence - 1;
}

// The sequence at which the consumer goes on. Other readers of a durable consumer may have messages
// that they did not acknowledge. It then goes on behind the sequence up to which all messages are
// acknowledged.
std::uint64_t JetReader::go_on_at() const noexcept {
  if (!options_.durable.empty() && has_others_) return floor_ + 1;
  return unacknowledged_.empty() ? position_ + 1 : *unacknowledged_.begin();
}

Task<Result<jet::ConsumerState>> JetReader::attach() {
  ConsumeOptions from = options_;
  const bool begins = options_.start == StartAt::last_per_subject && given_ < waiting_at_begin_;
  if (!begins) {
    from.start = StartAt::sequence;
    from.start_sequence = go_on_at();
  }
  if (!options_.durable.empty()) {
    auto found =
        co_await streams_.ask(fmt::format("CONSUMER.INFO.{}.{}", stream_, options_.durable), "",
                              JetStreams::recovery_timeout);
    if (!found && found.error().code() != Code::not_found) co_return std::unexpected(found.error());
    if (found) {
      auto state = jet::read_consumer(*found);
      if (state) {
        last_number_ = state->given_count;
        floor_ = state->acknowledged;
      }
      co_return state;
    }
  }
  auto made = co_await streams_.create(from, true, JetStreams::recovery_timeout);
  if (!made) co_return std::unexpected(made.error());
  name_ = made->name;
  last_number_ = made->given_count;
  if (!has_given_) position_ = std::max(position_, made->given);
  co_return made;
}

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
