#include "katana/stores/bus/messages.hpp"

#include <algorithm>
#include <utility>

#include "katana/stores/bus/fan_out.hpp"
#include "katana/stores/bus/message_span.hpp"
#include "katana/stores/bus/port.hpp"

namespace katana::bus {

Result<std::unique_ptr<Messages>> Messages::open(Bus& bus, Bytes pattern, MessagesOptions options) {
  SubscribeOptions how;
  how.queue_group = options.queue_group;
  how.own = options.own;
  how.traced = false;  // a MessageSpan of the reader is the work on a message
  std::unique_ptr<Messages> made(new Messages(bus, std::move(options)));
  how.on_notice = [messages = made.get()](const Notice& notice) { messages->add(notice); };
  auto subscribed = bus.subscribe(
      pattern, [messages = made.get()](const Delivery& message) { messages->add(message); },
      std::move(how));
  if (!subscribed) return std::unexpected(subscribed.error());
  made->subscription_ = *std::move(subscribed);
  return made;
}

Task<std::optional<Received>> Messages::next() {
  while (queue_.empty() && !closed_) {
    arrived_.reset();
    co_await arrived_.wait();
  }
  co_return try_next();
}

std::optional<Received> Messages::try_next() noexcept {
  if (queue_.empty()) return std::nullopt;
  std::optional<Received> first = std::move(queue_.front());
  queue_.pop_front();
  if (first->message) {
    --messages_;
    bytes_ -= first->message->allocated_bytes();
  }
  return first;
}

void Messages::close() noexcept {
  closed_ = true;
  subscription_.cancel();
  arrived_.set();
}

void Messages::add(const Delivery& message) {
  if (closed_) return;
  const std::size_t bytes = message.allocated_bytes();
  if (is_full(bytes) && options_.policy != SlowSubscriber::drop_oldest) {
    note_dropped(false, 1);
    if (options_.policy == SlowSubscriber::disconnect) {
      add(Notice{.kind = NoticeKind::closed, .reason = MissReason::slow_reader});
      close();
    }
    return;
  }
  while (messages_ > 0 && is_full(bytes)) drop_oldest_message();
  HeldMessage kept = message.hold();
  kept.charge_to(net::Reactor::current()->memory());
  queue_.push_back({.message = std::move(kept)});
  ++messages_;
  bytes_ += bytes;
  arrived_.set();
}

// Drops the oldest message, which at most the kinds of notices stand before.
void Messages::drop_oldest_message() {
  const auto oldest =
      std::ranges::find_if(queue_, [](const Received& each) { return each.message.has_value(); });
  bytes_ -= oldest->message->allocated_bytes();
  --messages_;
  queue_.erase(oldest);
  note_dropped(true, 1);
}

void Messages::note_dropped(bool at_front, std::uint64_t count) {
  dropped_ += count;
  bus_.fan_out().port_here().stream_dropped.add(count);
  const Notice notice{
      .kind = NoticeKind::missed, .reason = MissReason::slow_reader, .count = count};
  if (!at_front) {
    add(notice);
    return;
  }
  for (Received& each : queue_) {
    if (each.message) break;
    if (each.notice->kind != notice.kind || each.notice->reason != notice.reason) continue;
    each.notice->count += count;
    return;
  }
  queue_.push_front({.notice = notice});
  arrived_.set();
}

// Between two messages there is one of each kind and reason: so the queue is bounded by messages.
void Messages::add(const Notice& notice) {
  Notice kept = notice;
  kept.subject = {};  // lent for the call
  for (auto each = queue_.rbegin(); each != queue_.rend() && !each->message; ++each) {
    if (each->notice->kind != kept.kind || each->notice->reason != kept.reason) continue;
    kept.count += each->notice->count;
    queue_.erase(std::next(each).base());
    break;
  }
  queue_.push_back({.notice = kept});
  arrived_.set();
}

MessageSpan::MessageSpan(Bus& bus, const Delivery& message)
    : span_(bus.fan_out().tracer() != nullptr
                ? std::make_unique<HandlerSpan>(bus.fan_out().tracer(), bus.fan_out().system(),
                                                Bytes(), Bytes(), message)
                : nullptr) {}

MessageSpan::~MessageSpan() = default;

void MessageSpan::fail(Bytes error_type) noexcept {
  if (span_ != nullptr) span_->fail(error_type);
}

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
