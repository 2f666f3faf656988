#include "katana/http/session/exchange.hpp"

#include <array>
#include <utility>

#include "katana/http/session/websocket_connection.hpp"

namespace katana::session {

HeldMemory& Exchange::memory() noexcept { return reactor().memory(); }

bool Exchange::upgrade(const http::ReplyHead&, std::unique_ptr<WebSocketReplacement>) noexcept {
  return false;
}

void Exchange::report_failure(Failure failure) noexcept {
  if (failure.severity == Severity::error) note_failure();
  FailureObserver* const observer = failure_observer();
  if (observer == nullptr) return;
  if (core_.route != nullptr && failure.place.empty()) failure.place = core_.route->name;
  if (core_.route != nullptr && failure.method.empty()) failure.method = core_.route->method;
  // Not every failure happens in a coroutine: the record gets the exchange's fields.
  const ActivityScope scope(core_.context != nullptr ? core_.context.get() : current_activity);
  if (current_activity != nullptr) {
    failure.request_id = current_activity->name;
    failure.trace_id = current_activity->trace;
  }
  observer->on_failure(failure);
}

Result<void> Exchange::spawn(Task<Result<void>> task, std::string name) {
  return reactor().tasks().spawn_keeping(share(), std::move(task), std::move(name));
}

RequestShare Exchange::share() {
  if (!core_.state) core_.state = RequestShare(new RequestState);
  return core_.state;
}

Instant Exchange::handler_due() noexcept {
  if (core_.handler_deadline != never) {  // after a wait of middleware
    const bool is_grace = core_.state && core_.state->due != never;
    return is_grace ? core_.state->due : core_.handler_deadline;
  }
  const Instant now = reactor().now();
  const Duration time = handler_time();
  return time < never - now ? now + time : never;
}

Client Exchange::client(const http::Head& head) noexcept {
  Client client = client_of(arrival(), head);
  if (client.is_malformed) [[unlikely]]
    note_forwarding_malformed();
  if (core_.state) client.mark_reads(core_.state->personal_mark().get());
  return client;
}

std::shared_ptr<PersonalMark> Exchange::personal_mark() noexcept {
  return core_.state ? core_.state->personal_mark() : nullptr;
}

void Exchange::personalise(Personal by) noexcept {
  if (core_.state) core_.state->personal_mark()->set(by);
}

void Exchange::note_read_fields(std::span<const std::string_view> names) {
  if (core_.state) core_.state->note_read_fields(names);
}

RequestProgress Exchange::progress() noexcept {
  const Arrival from = arrival();
  RequestProgress progress{.status = core_.status, .client = from.peer};
  if (core_.status != 0) {
    progress.step = RequestStep::replying;
  } else if (core_.waits_for_content()) {
    progress.step = RequestStep::receiving;
  }
  // The head is only lent while its session is called, and nothing asks then.
  if (const http::Head* const head = core_.is_detached() ? core_.head() : nullptr) {
    progress.method = head->method_text();
    if (from.trust != nullptr) progress.client = client_of(from, *head).endpoint();
  }
  return progress;
}

void Exchange::refuse_by(RequestHandler& handler, unsigned status, Bytes detail) noexcept {
  if (const std::unique_ptr<Pending> pending = std::move(core_.pending)) {
    const ActivityScope scope(core_.context.get());
    if (pending->refuse(status, detail)) return;
  }
  handler.on_refused(*this, core_.head(), status, detail);
}

void Exchange::note_patient(ExchangeObserver* observer) noexcept {
  if (!std::exchange(core_.patient, true) && observer != nullptr) observer->on_events_begin(*this);
}

bool Exchange::write_file(FilePart& part) noexcept {
  std::array<char, 16 * 1024> buffer;
  while (part.size > 0) {
    const std::ptrdiff_t count = part.read(buffer);
    if (count <= 0) {
      abort();
      return false;
    }
    if (!write({buffer.data(), static_cast<std::size_t>(count)})) return false;
    part.remove_prefix(static_cast<std::uint64_t>(count));
  }
  return true;
}

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
