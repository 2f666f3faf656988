#include "katana/stores/bus/nats/store_sender.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "katana/base/text/format.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/stores/bus/nats/jet_json.hpp"
#include "katana/stores/bus/subject.hpp"

namespace katana::bus {
namespace {

std::string answers_inbox() {
  std::string inbox(inbox_prefix);
  for (const char byte : random_octets(16)) {
    fmt::format_to(std::back_inserter(inbox), "{:02x}", static_cast<unsigned char>(byte));
  }
  return inbox;
}

}  // namespace

StoreSender::StoreSender(net::Reactor& reactor, StoreQueue& queue, JetStreams& streams,
                         StoreLink& link)
    : TimerEntry([](TimerEntry& entry) noexcept { static_cast<StoreSender&>(entry).on_time(); }),
      reactor_(reactor),
      queue_(queue),
      streams_(streams),
      link_(link),
      inbox_(answers_inbox()) {}

StoreSender::~StoreSender() { streams_.forget(this); }

void StoreSender::send_waiting() {
  while (link_.is_up()) {
    auto item = queue_.next(reactor_.now());
    if (!item) break;
    const HeldMessage message = std::move(item->message).adopt();
    if (!link_.send_stored(message, fmt::format("{}.{}", inbox_, item->number))) break;
    queue_.note_sent(item->number, reactor_.now());
  }
  arm();
}

void StoreSender::arm() {
  const Instant due = link_.is_up() ? queue_.due() : never;
  if (due == never) return cancel();
  reactor_.timers().arm(*this, std::max(due, reactor_.now()));
}

void StoreSender::on_time() {
  if (queue_.expire(reactor_.now())) {
    note_refused(
        Error(Code::deadline_exceeded, fmt::format("no stream has acknowledged it for {} ms",
                                                   milliseconds_of(StoreQueue::answer_timeout))));
  }
  send_waiting();
}

void StoreSender::on_answer(const NatsMessage& message) {
  const std::size_t dot = message.subject.rfind('.');
  if (dot == Bytes::npos) return;
  const Bytes digits = message.subject.substr(dot + 1);
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (failure != std::errc() || end != digits.data() + digits.size()) return;
  Result<Stored> stored = message.status != 0
                              ? fail(Code::not_found, "no stream has such a subject")
                              : jet::read_stored(message.payload);
  if (!stored && stored.error().code() == Code::invalid_argument) {
    // The stream would never take the message, nor any message behind it.
    streams_.note_not_stored(queue_.first_subject(), stored.error());
  } else if (!stored) {
    queue_.refuse(number, reactor_.now());
    note_refused(stored.error());
    return arm();
  }
  queue_.acknowledge(number);
  if (stalled_since_ != never) {
    streams_.note_going(this, fmt::format("what is stored to '{}'", subject_),
                        reactor_.now() - std::exchange(stalled_since_, never));
  }
  send_waiting();
}

void StoreSender::on_down() {
  queue_.lose_link();
  cancel();
}

void StoreSender::note_refused(const Error& why) {
  const Instant since = queue_.refused_since();
  if (since == never || reactor_.now() - since < stalled_after) return;
  stalled_since_ = since;
  subject_ = queue_.first_subject();
  streams_.note_stalled(this, fmt::format("what is stored to '{}'", subject_), why);
}

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
