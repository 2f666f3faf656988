#include "katana/stores/bus/fan_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "katana/base/system/misuse.hpp"
#include "katana/observe/trace/tracer.hpp"
#include "katana/stores/bus/subject.hpp"

namespace katana::bus {
namespace {

std::uint64_t next_id() noexcept {
  static std::atomic<std::uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

// The ports of one reactor, of every bus: closed when it ends.
class FanOut::Ports final : public net::Attachment {
 public:
  ~Ports() override {
    for (const Place& each : places_) each.port->close();
  }
  static Ports* of(const net::Reactor& reactor) noexcept {
    return static_cast<Ports*>(reactor.attached(&key));
  }
  static Ports& of_or_new(net::Reactor& reactor) {
    if (Ports* const found = of(reactor)) return *found;
    auto made = std::make_unique<Ports>();
    Ports& ports = *made;
    reactor.attach(&key, std::move(made));
    return ports;
  }
  Port* find(std::uint64_t bus) const noexcept {
    for (const Place& each : places_) {
      if (each.bus == bus) return each.port.get();
    }
    return nullptr;
  }
  void add(std::uint64_t bus, std::shared_ptr<Port> port) {
    places_.push_back({bus, std::move(port)});
  }

 private:
  struct Place {
    std::uint64_t bus;
    std::shared_ptr<Port> port;
  };
  inline static constexpr char key = 0;  // its address is
  std::vector<Place> places_;
};

FanOut::FanOut(const BusOptions& options, Interest* interest)
    : PortOwner(options, interest == nullptr ? "in_process" : "nats"),
      interest_(interest),
      id_(next_id()) {}

FanOut::~FanOut() {
  std::vector<std::shared_ptr<Port>> ports;
  {
    const std::lock_guard lock(mutex_);
    ports.swap(ports_);
  }
  for (const auto& each : ports) each->close();
}

void FanOut::trace_with(trace::Tracer& tracer) noexcept {
  set_tracer(tracer.options().experimental ? &tracer : nullptr);
}

Port* FanOut::find_port_here() const noexcept {
  const net::Reactor* const reactor = net::Reactor::current();
  if (reactor == nullptr) return nullptr;
  const Ports* const ports = Ports::of(*reactor);
  return ports != nullptr ? ports->find(id_) : nullptr;
}

Port& FanOut::port_here() {
  if (Port* const found = find_port_here()) return *found;
  net::Reactor* const reactor = net::Reactor::current();
  if (reactor == nullptr) [[unlikely]] {
    throw_misuse("a bus was subscribed to, or asked, on a thread without a reactor",
                 "subscribe in a handler or another coroutine that a reactor runs; publish() is "
                 "for any thread");
  }
  std::shared_ptr<Port> port;
  {
    const std::lock_guard lock(mutex_);
    port = std::make_shared<Port>(static_cast<PortOwner&>(*this), *reactor);
    ports_.push_back(port);
  }
  Ports::of_or_new(*reactor).add(id_, port);
  return *port;
}

Port* FanOut::publishing_port() {
  return net::Reactor::current() != nullptr ? &port_here() : nullptr;
}

// ---- subscriptions -----------------------------------------------------------------------------

Result<Subscription> FanOut::subscribe(Bytes pattern, Handler handler, SubscribeOptions how) {
  if (auto checked = check_pattern(pattern); !checked) return std::unexpected(checked.error());
  const std::string group = how.queue_group;
  if (!group.empty() && (!is_subject(group) || group.find('.') != std::string::npos)) {
    return fail(Code::invalid_argument,
                fmt::format("'{}' is no name of a queue group: it is one token", group));
  }
  Port& port = port_here();
  const std::lock_guard lock(mutex_);
  if (subscriptions_ >= options().subscriptions_max) {
    return fail(Code::resource_exhausted,
                fmt::format("'{}' would be one subscription more than subscriptions_max, which is "
                            "{}",
                            pattern, options().subscriptions_max));
  }
  const std::shared_ptr<Pattern> found = find_or_add(pattern);
  const std::uint64_t number = port.subscribe(found, std::move(handler), std::move(how));
  ++subscriptions_;
  add(found, port, group, number);
  return Subscription(port.shared_from_this(), number);
}

std::shared_ptr<Pattern> FanOut::find_or_add(Bytes pattern) {
  if (const auto* const found = patterns_.find(pattern)) return *found;
  return patterns_.add(pattern, std::make_shared<Pattern>(pattern));
}

void FanOut::add(const std::shared_ptr<Pattern>& pattern, Port& port, Bytes group,
                 std::uint64_t number) {
  bool is_first = false;
  if (group.empty()) {
    is_first = pattern->shares.empty();
    const auto share = std::ranges::find_if(
        pattern->shares, [&](const Pattern::Share& each) { return each.port.get() == &port; });
    if (share != pattern->shares.end()) {
      ++share->subscribers;
    } else {
      pattern->shares.push_back({port.shared_from_this(), 1});
    }
  } else {
    Pattern::Group& joined = pattern->groups.try_emplace(std::string(group)).first->second;
    is_first = joined.members.empty();
    joined.members.push_back({port.shared_from_this(), number});
  }
  note_change();
  if (is_first && interest_ != nullptr) interest_->on_wanted(pattern, group);
}

void FanOut::remove(const LocalSubscription& entry, Port& port) noexcept {
  const std::shared_ptr<Pattern>& pattern = entry.pattern;
  const Bytes group = entry.options.queue_group;
  const std::lock_guard lock(mutex_);
  --subscriptions_;
  bool was_last = false;
  if (group.empty()) {
    const auto share = std::ranges::find_if(
        pattern->shares, [&](const Pattern::Share& each) { return each.port.get() == &port; });
    if (share != pattern->shares.end() && --share->subscribers == 0) pattern->shares.erase(share);
    was_last = pattern->shares.empty();
  } else if (const auto left = pattern->groups.find(group); left != pattern->groups.end()) {
    std::erase_if(left->second.members, [&](const Pattern::Member& each) {
      return each.port.get() == &port && each.number == entry.number;
    });
    was_last = left->second.members.empty();
    if (was_last) pattern->groups.erase(left);
  }
  note_change();
  if (was_last && interest_ != nullptr) interest_->on_unwanted(pattern, group);
  if (pattern->is_unused()) patterns_.remove(pattern->text);
}

std::vector<FanOut::Wanted> FanOut::wanted() const {
  std::vector<Wanted> all;
  const std::lock_guard lock(mutex_);
  patterns_.for_each([&](const std::shared_ptr<Pattern>& each) {
    if (!each->shares.empty()) all.push_back({each, {}});
    for (const auto& [group, members] : each->groups) all.push_back({each, group});
  });
  return all;
}

std::vector<std::shared_ptr<Pattern>> FanOut::matching(Bytes subject) const {
  std::vector<std::shared_ptr<Pattern>> all;
  const std::lock_guard lock(mutex_);
  patterns_.match(subject, [&](const std::shared_ptr<Pattern>& each) { all.push_back(each); });
  return all;
}

// ---- messages ----------------------------------------------------------------------------------

Result<void> FanOut::check(const Publication& publication) {
  auto checked = check_publication(publication, options().payload_bytes_max);
  if (Port* const here = publishing_port()) [[likely]] {
    (checked ? here->published : here->refused).add(1);
    if (checked) here->published_bytes.add(publication.payload.size());
    return checked;
  }
  (checked ? published_ : refused_).fetch_add(1, std::memory_order_relaxed);
  if (checked) published_bytes_.fetch_add(publication.payload.size(), std::memory_order_relaxed);
  return checked;
}

void FanOut::fill(Route& route, Port& port) {
  const std::lock_guard lock(mutex_);
  fill_for(route, &port);
}

void FanOut::fill_for(Route& route, Port* here) {
  patterns_.match(route.subject, [&](const std::shared_ptr<Pattern>& pattern) {
    for (const Pattern::Share& each : pattern->shares) {
      if (each.port.get() == here) {
        const auto* const list = here->subscribers(*pattern);
        if (list == nullptr) continue;
        for (LocalSubscription* const entry : *list) {
          if (entry->alive) route.here.push_back(entry);
        }
      } else if (std::ranges::find(route.others, each.port) == route.others.end()) {
        route.others.push_back(each.port);
      }
    }
    if (!pattern->groups.empty()) route.grouped.push_back(pattern);
  });
}

bool FanOut::deliver(const Publication& publication, bool groups,
                     std::optional<HeldMessage>& made) {
  Port* const here = publishing_port();
  Route elsewhere;
  Route* route = &elsewhere;
  if (here != nullptr) [[likely]] {
    route = &here->route(publication.subject);
  } else {
    elsewhere.subject = publication.subject;
    const std::lock_guard lock(mutex_);
    fill_for(elsewhere, nullptr);
  }
  if (route->here.empty() && route->others.empty() && (route->grouped.empty() || !groups)) {
    return false;
  }
  if (!made) made.emplace(make_message(publication, true));
  for (const std::shared_ptr<Port>& each : route->others) {
    each->post({.message = Posted(made->batch())});
  }
  if (!route->here.empty()) here->add_local(*made);
  if (!groups) return true;
  bool has_some = !route->here.empty() || !route->others.empty();
  if (route->grouped.empty()) return has_some;
  const std::lock_guard lock(mutex_);
  for (const std::shared_ptr<Pattern>& pattern : route->grouped) {
    for (auto& [name, group] : pattern->groups) {
      if (deliver_to_group(group, here, &*made, nullptr)) has_some = true;
    }
  }
  return has_some;
}

// Members take turns. A member without room is passed over; when none has room, the message is
// dropped.
bool FanOut::deliver_to_group(Pattern::Group& group, Port* here, const HeldMessage* message,
                              const Posted* posted) {
  if (group.members.empty()) return false;
  for (std::size_t tries = 0; tries < group.members.size(); ++tries) {
    group.next = (group.next + 1) % group.members.size();
    const Pattern::Member& member = group.members[group.next];
    if (member.port.get() == here && message != nullptr) {
      if (here->add_local(*message, member.number)) return true;
    } else if (member.port->post({.message = posted != nullptr ? *posted : Posted(message->batch()),
                                  .member = member.number})) {
      return true;
    }
  }
  return false;
}

void FanOut::deliver_to(const std::shared_ptr<Pattern>& pattern, Bytes group,
                        const Posted& message) {
  const std::lock_guard lock(mutex_);
  if (group.empty()) {
    for (const Pattern::Share& each : pattern->shares) {
      each.port->post({.message = message, .pattern = pattern});
    }
    return;
  }
  const auto found = pattern->groups.find(group);
  if (found != pattern->groups.end()) {
    deliver_to_group(found->second, nullptr, nullptr, &message);
  }
}

bool FanOut::concerns(const Pattern& pattern, const Port& port) noexcept {
  const auto is_there = [&](const auto& each) { return each.port.get() == &port; };
  if (std::ranges::any_of(pattern.shares, is_there)) return true;
  return std::ranges::any_of(pattern.groups, [&](const auto& each) {
    return std::ranges::any_of(each.second.members, is_there);
  });
}

void FanOut::tell(const std::shared_ptr<Pattern>& pattern, const Notice& notice) {
  if (notice.kind == NoticeKind::missed) missed_.fetch_add(notice.count, std::memory_order_relaxed);
  if (notice.kind == NoticeKind::may_have_missed) {
    uncertain_.fetch_add(1, std::memory_order_relaxed);
  }
  const std::lock_guard lock(mutex_);
  for (const std::shared_ptr<Port>& each : ports_) {
    if (pattern != nullptr && !concerns(*pattern, *each)) continue;
    each->post({.pattern = pattern,
                .kind = notice.kind,
                .reason = notice.reason,
                .count = notice.count,
                .subject = std::string(notice.subject)});
  }
}

void FanOut::tell_group(const std::shared_ptr<Pattern>& pattern, Bytes group,
                        const Notice& notice) {
  const std::lock_guard lock(mutex_);
  const auto found = pattern->groups.find(group);
  if (found == pattern->groups.end()) return;
  for (const Pattern::Member& each : found->second.members) {
    each.port->post(
        {.pattern = pattern, .member = each.number, .kind = notice.kind, .reason = notice.reason});
  }
}

void FanOut::add_figures(BusStatistics& statistics) const {
  const auto of = [](const std::atomic<std::uint64_t>& value) {
    return value.load(std::memory_order_relaxed);
  };
  statistics.published += of(published_);
  statistics.published_bytes += of(published_bytes_);
  statistics.refused += of(refused_);
  statistics.received += of(received_);
  statistics.received_bytes += of(received_bytes_);
  statistics.missed += of(missed_);
  statistics.uncertain += of(uncertain_);
  statistics.duplicates += of(duplicates_);
  const std::lock_guard lock(mutex_);
  statistics.subscriptions += subscriptions_;
  for (const std::shared_ptr<Port>& each : ports_) {
    statistics.published += each->published.value();
    statistics.published_bytes += each->published_bytes.value();
    statistics.refused += each->refused.value();
    statistics.delivered += each->delivered.value();
    statistics.dropped += each->dropped.value();
    statistics.stream_dropped += each->stream_dropped.value();
    statistics.requests += each->requests_made.value();
    statistics.requests_failed += each->requests_failed.value();
    std::size_t bytes = 0;
    statistics.waiting += each->waiting(bytes);
    statistics.waiting_bytes += bytes;
  }
}

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
