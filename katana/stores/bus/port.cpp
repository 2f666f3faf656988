#include "katana/stores/bus/port.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "katana/base/system/failure.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/stores/bus/message_span.hpp"

namespace katana::bus {
namespace {

// Subjects may be chosen by clients, and such as collide.
KeyedHash random_hash() {
  std::array<std::uint64_t, 2> key{};
  fill_random({reinterpret_cast<char*>(key.data()), sizeof(key)});
  return {key[0], key[1]};
}

}  // namespace

Port::Port(PortOwner& owner, net::Reactor& reactor)
    : owner_(owner),
      reactor_(&reactor),
      hash_(random_hash()),
      routes_(std::make_unique<std::array<Route, routes_max>>()),
      local_doorbell_(
          *this,
          [](Message& message) noexcept { static_cast<Doorbell&>(message).port.on_local(); }),
      posted_doorbell_(*this, [](Message& message) noexcept {
        static_cast<Doorbell&>(message).port.on_posted();
      }) {}

Port::~Port() = default;

// ---- from any thread ---------------------------------------------------------------------------

void Port::Gap::add(Bytes of_subject, const std::shared_ptr<Pattern>& of_pattern, bool is_shared) {
  if (is_shared || (count != 0 && (subject != of_subject || pattern != of_pattern))) {
    is_mixed = true;
  }
  if (count == 0) {
    subject = of_subject;
    pattern = of_pattern;
  }
  ++count;
}

bool Port::post(PortEntry&& entry) noexcept {
  const std::size_t bytes =
      sizeof(PortEntry) + (entry.message ? entry.message.allocated_bytes() : entry.subject.size());
  const BusOptions& limits = owner_.options();
  const std::lock_guard lock(mutex_);
  if (closed_) return false;
  // An empty queue takes one message of any size. No queue takes a message behind a gap that was
  // not told yet.
  const bool fits = gap_.count == 0 && posted_.size() < limits.queue_messages_max &&
                    (posted_.empty() || (posted_bytes_ <= limits.queue_bytes_max &&
                                         bytes <= limits.queue_bytes_max - posted_bytes_));
  if (fits) {
    posted_bytes_ += bytes;
    posted_.push_back(std::move(entry));
  } else if (entry.message) {
    dropped.add(1);
    gap_.add(entry.message.envelope().subject(), entry.pattern, entry.member != 0);
  } else {
    gap_.add(entry.subject, entry.pattern, true);
    const bool is_state =
        entry.kind == NoticeKind::connected || entry.kind == NoticeKind::disconnected;
    // All subscribers are told, also those it was not meant for: a subscriber that waits for the
    // server would otherwise wait for ever.
    if (is_state) state_behind_gap_ = entry.kind;
  }
  // Under the lock: close() then waits for a thread that is about to wake the reactor.
  if (!std::exchange(rung_, true)) {
    alive_while_rung_ = shared_from_this();
    reactor_->post(posted_doorbell_);
  }
  return fits;
}

std::size_t Port::waiting(std::size_t& bytes) const noexcept {
  const std::lock_guard lock(mutex_);
  bytes += posted_bytes_;
  return posted_.size();
}

// ---- subscriptions -----------------------------------------------------------------------------

std::uint64_t Port::subscribe(std::shared_ptr<Pattern> pattern, Handler handler,
                              SubscribeOptions options) {
  auto made = std::make_unique<LocalSubscription>();
  LocalSubscription& entry = *made;
  entry.pattern = std::move(pattern);
  entry.handler = std::move(handler);
  entry.options = std::move(options);
  entry.number = ++last_number_;
  subscriptions_.emplace(entry.number, std::move(made));
  if (entry.options.queue_group.empty()) by_pattern_[entry.pattern.get()].push_back(&entry);
  ++generation_;
  return entry.number;
}

void Port::cancel(std::uint64_t number) noexcept {
  const auto found = subscriptions_.find(number);
  if (found == subscriptions_.end()) return;
  std::unique_ptr<LocalSubscription> entry = std::move(found->second);
  subscriptions_.erase(found);
  entry->alive = false;
  ++generation_;
  bool is_closed = false;
  {
    const std::lock_guard lock(mutex_);
    is_closed = closed_;
  }
  if (!is_closed) owner_.remove(*entry, *this);
  cancelled_.push_back(std::move(entry));
  if (giving_ == 0) bury();
}

const std::vector<LocalSubscription*>* Port::subscribers(const Pattern& pattern) const noexcept {
  const auto found = by_pattern_.find(&pattern);
  return found != by_pattern_.end() ? &found->second : nullptr;
}

// No message is being delivered, so no list is being walked.
void Port::bury() noexcept {
  // A handler that is destroyed may cancel others.
  while (!cancelled_.empty()) {
    std::vector<std::unique_ptr<LocalSubscription>> gone = std::move(cancelled_);
    cancelled_.clear();
    for (const auto& each : gone) {
      const auto list = by_pattern_.find(each->pattern.get());
      if (list == by_pattern_.end()) continue;
      std::erase(list->second, each.get());
      if (list->second.empty()) by_pattern_.erase(list);
    }
  }
}

void Port::end_giving() noexcept {
  if (--giving_ == 0 && !cancelled_.empty()) bury();
}

void Port::close() noexcept {
  std::vector<PortEntry> left;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(closed_, true)) return;
    left.swap(posted_);
    posted_bytes_ = 0;
  }
  for (const auto& [number, each] : subscriptions_) owner_.remove(*each, *this);
  local_.clear();
  attached_.reset();
  // Routes of two ports refer to one another.
  for (Route& each : *routes_) each = {};
  spare_route_ = {};
}

LocalSubscription* Port::find_member(std::uint64_t number) noexcept {
  const auto found = subscriptions_.find(number);
  return found != subscriptions_.end() ? found->second.get() : nullptr;
}

// ---- routes ------------------------------------------------------------------------------------

Route& Port::route(Bytes subject) {
  const std::uint64_t generation = owner_.generation();
  const auto is_valid = [&](const Route& route) {
    return route.generation == generation && route.local_generation == generation_ &&
           route.subject == subject;
  };
  // Most often the next message has the same subject: this needs no hash.
  if (is_valid(*last_route_)) [[likely]]
    return *last_route_;
  Route* place = &(*routes_)[hash_.of(subject) & (routes_max - 1)];
  if (is_valid(*place)) return *(last_route_ = place);
  if (place->is_pinned) place = &spare_route_;  // somebody walks its list
  place->subject = subject;
  place->generation = generation;
  place->local_generation = generation_;
  place->here.clear();
  place->others.clear();
  place->grouped.clear();
  owner_.fill(*place, *this);
  return *(last_route_ = place);
}

// ---- messages ----------------------------------------------------------------------------------

bool Port::add_local(const HeldMessage& message, std::uint64_t member) {
  const BusOptions& limits = owner_.options();
  const std::size_t bytes = sizeof(LocalEntry) + message.allocated_bytes();
  if (!std::exchange(local_due_, true)) reactor_->defer(local_doorbell_);
  if (local_gap_.count != 0 || local_.size() >= limits.queue_messages_max ||
      (!local_.empty() && local_bytes_ + bytes > limits.queue_bytes_max)) {
    const std::lock_guard lock(mutex_);  // of the counter
    dropped.add(1);
    local_gap_.add(message.subject(), nullptr, member != 0);
    return false;
  }
  local_.push_back({message, member});
  local_bytes_ += bytes;
  return true;
}

// Messages that handlers publish meanwhile come in the next turn.
void Port::on_local() noexcept {
  local_due_ = false;
  local_given_.swap(local_);
  local_bytes_ = 0;
  const Gap gap = std::exchange(local_gap_, {});
  begin_giving();
  for (const LocalEntry& each : local_given_) give(each.message, nullptr, each.member);
  if (gap.count != 0) tell(gap);
  end_giving();
  local_given_.clear();
}

void Port::on_posted() noexcept {
  std::shared_ptr<Port> alive;
  Gap gap;
  std::optional<NoticeKind> state;
  {
    const std::lock_guard lock(mutex_);
    alive = std::move(alive_while_rung_);
    rung_ = false;
    if (closed_) return;
    posted_given_.swap(posted_);
    posted_bytes_ = 0;
    gap = std::exchange(gap_, {});
    state = std::exchange(state_behind_gap_, std::nullopt);
  }
  begin_giving();
  for (PortEntry& each : posted_given_) {
    if (!each.message) {
      tell(each);
      continue;
    }
    const HeldMessage message = std::move(each.message).adopt();
    give(message, each.pattern.get(), each.member);
  }
  if (gap.count != 0) tell(gap);
  if (state) tell(PortEntry{.kind = *state});
  end_giving();
  posted_given_.clear();
}

void Port::give(const Delivery& message, const Pattern* pattern, std::uint64_t member) noexcept {
  if (member != 0) {
    // The member may be gone meanwhile. The message is then lost: a group gets messages at most
    // once.
    if (LocalSubscription* const entry = find_member(member)) {
      call(*entry, message);
    }
    return;
  }
  if (pattern != nullptr) {
    const auto list = by_pattern_.find(pattern);
    if (list != by_pattern_.end()) give_all(list->second, message);
    return;
  }
  Route& to = route(message.subject());
  const bool was_pinned = std::exchange(to.is_pinned, true);
  give_all(to.here, message);
  to.is_pinned = was_pinned;
}

// Subscriptions that handlers make meanwhile stand behind `size`, and do not get this message.
void Port::give_all(const std::vector<LocalSubscription*>& list, const Delivery& message) noexcept {
  const std::size_t size = list.size();
  const bool is_from_here = message.is_from_here();
  for (std::size_t index = 0; index < size; ++index) {
    LocalSubscription& entry = *list[index];
    if (!entry.alive || (is_from_here && !entry.options.own)) continue;
    call(entry, message);
  }
}

void Port::call(LocalSubscription& entry, const Delivery& message) noexcept {
  delivered.add(1);
  trace::Tracer* const tracer = owner_.tracer();
  if (tracer != nullptr && entry.options.traced) [[unlikely]]
    return call_within_span(*tracer, entry, message);
  try {
    entry.handler(message);
  } catch (...) {
    report(entry);
  }
}

void Port::call_within_span(trace::Tracer& tracer, LocalSubscription& entry,
                            const Delivery& message) noexcept {
  HandlerSpan span(&tracer, owner_.system(), entry.pattern->text, entry.options.queue_group,
                   message);
  try {
    entry.handler(message);
  } catch (...) {
    span.fail("exception");
    report(entry);
  }
}

void Port::report(const LocalSubscription& entry) noexcept {
  FailureObserver* const observer = reactor_->failure_observer();
  if (observer == nullptr) return;
  const std::string place = "bus subscription '" + entry.pattern->text + "'";
  observer->on_failure({.what = "a subscriber's handler threw",
                        .exception = std::current_exception(),
                        .place = place});
}

// ---- notices -----------------------------------------------------------------------------------

void Port::tell(LocalSubscription& entry, const Notice& notice) noexcept {
  if (!entry.alive || !entry.options.on_notice) return;
  try {
    entry.options.on_notice(notice);
  } catch (...) {
    report(entry);
  }
}

void Port::tell(const PortEntry& told) noexcept {
  const Notice notice{
      .kind = told.kind, .reason = told.reason, .count = told.count, .subject = told.subject};
  if (told.member != 0) {
    if (LocalSubscription* const entry = find_member(told.member)) tell(*entry, notice);
    return;
  }
  // Code that subscribes or cancels meanwhile changes the table.
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, each] : subscriptions_) {
    if (told.pattern == nullptr || each->pattern == told.pattern) numbers.push_back(number);
  }
  std::ranges::sort(numbers);
  for (const std::uint64_t number : numbers) {
    if (LocalSubscription* const entry = find_member(number)) tell(*entry, notice);
  }
}

void Port::tell(const Gap& gap) noexcept {
  if (gap.is_mixed) {
    tell(PortEntry{.kind = NoticeKind::may_have_missed, .reason = MissReason::slow_reactor});
    return;
  }
  const Notice notice{.kind = NoticeKind::missed,
                      .reason = MissReason::slow_reactor,
                      .count = gap.count,
                      .subject = gap.subject};
  const auto tell_all = [&](const std::vector<LocalSubscription*>& list) {
    const std::size_t size = list.size();
    for (std::size_t index = 0; index < size; ++index) tell(*list[index], notice);
  };
  if (gap.pattern != nullptr) {
    const auto list = by_pattern_.find(gap.pattern.get());
    if (list != by_pattern_.end()) tell_all(list->second);
    return;
  }
  Route& to = route(gap.subject);
  const bool was_pinned = std::exchange(to.is_pinned, true);
  tell_all(to.here);
  to.is_pinned = was_pinned;
}

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
