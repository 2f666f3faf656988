#include "katana/stores/bus/requests.hpp"

#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <utility>

#include "katana/base/coroutine/deadline.hpp"
#include "katana/base/text/format.hpp"
#include "katana/base/values/secrets.hpp"

namespace katana::bus {
namespace {

std::string new_inbox() {
  std::string inbox(inbox_prefix);
  for (const char octet : random_octets(16)) {
    fmt::format_to(std::back_inserter(inbox), "{:02x}", static_cast<unsigned char>(octet));
  }
  return inbox;
}

}  // namespace

Requests::Requests(FanOut& fan_out, Port& port)
    : fan_out_(fan_out), port_(port), inbox_(new_inbox()) {}

Requests& Requests::of(FanOut& fan_out, Port& port) {
  if (port.attached() == nullptr) port.attach(std::make_unique<Requests>(fan_out, port));
  return static_cast<Requests&>(*port.attached());
}

Requests::~Requests() {
  for (const auto& [number, each] : waiting_) each->requests_ = nullptr;
}

Result<void> Requests::ready() {
  if (waiting_.size() >= fan_out_.options().requests_max) {
    return fail(Code::resource_exhausted,
                fmt::format("{} requests are waiting for answers on this reactor, which is "
                            "requests_max",
                            waiting_.size()));
  }
  if (subscription_) return {};
  auto subscribed = fan_out_.subscribe(
      inbox_ + ".*", [this](const Delivery& message) { on_answer(message); }, {.traced = false});
  if (!subscribed) return std::unexpected(subscribed.error());
  subscription_ = *std::move(subscribed);
  return {};
}

void Requests::on_answer(const Delivery& message) noexcept {
  const Bytes digits = message.subject().substr(inbox_.size() + 1);
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (failure != std::errc() || end != digits.data() + digits.size()) return;
  const auto found = waiting_.find(number);
  if (found == waiting_.end()) return;  // it is too late
  Wait& wait = *found->second;
  if (message.status() != 0 && wait.ignores_no_responders_) return;
  wait.answer_ = message.hold();
  wait.end();
}

Requests::Wait::Wait(Requests& requests, Instant end)
    : TimerEntry([](TimerEntry& entry) noexcept { static_cast<Wait&>(entry).end(); }),
      requests_(&requests),
      number_(++requests.last_) {
  requests.waiting_.emplace(number_, this);
  if (end != never) requests.port_.reactor().timers().arm(*this, end);
}

Requests::Wait::~Wait() {
  if (requests_ != nullptr) requests_->waiting_.erase(number_);
}

std::string Requests::Wait::reply_to() const {
  return fmt::format("{}.{}", requests_->inbox_, number_);
}

// This may be gone when it returns.
void Requests::Wait::end() noexcept {
  if (requests_ != nullptr) {
    cancel();
    requests_->waiting_.erase(number_);
    requests_ = nullptr;
  }
  over_ = true;
  if (waiting_) std::exchange(waiting_, {}).resume();
}

// ---- requests ----------------------------------------------------------------------------------

Task<Result<HeldMessage>> Bus::request(Request request) {
  const std::string& subject = request.subject;
  Port& port = fan_out().port_here();
  port.requests_made.add(1);
  Requests& requests = Requests::of(fan_out(), port);
  if (auto ready = requests.ready(); !ready) {
    port.requests_failed.add(1);
    co_return std::unexpected(ready.error());
  }
  const Instant now = port.reactor().now();
  const Duration left = time_left(now, request.timeout);
  Requests::Wait wait(requests, left > Duration{} ? now + left : never);
  const std::string reply_to = wait.reply_to();
  const auto published = publish(
      {.subject = subject, .payload = request.payload, .reply_to = reply_to, .id = request.id});
  if (!published) {
    port.requests_failed.add(1);
    co_return std::unexpected(published.error());
  }
  if (published->is_here) wait.ignore_no_responders();
  std::optional<HeldMessage> answer;
  if (!published->nobody) answer = co_await wait;
  if (answer && answer->status() == 0) co_return *std::move(answer);
  port.requests_failed.add(1);
  if (published->nobody || answer) {
    co_return fail(Code::unavailable, fmt::format("no subscriber of '{}' could reply", subject));
  }
  co_return fail(Code::deadline_exceeded,
                 fmt::format("no answer to '{}' within {} ms", subject, milliseconds_of(left)));
}

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
