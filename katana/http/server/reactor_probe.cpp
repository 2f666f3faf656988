#include "katana/http/server/reactor_probe.hpp"

#include "katana/base/system/monotonic_clock.hpp"
#include "katana/http/server/crash_facts.hpp"
#include "katana/http/server/reactor_walk.hpp"

namespace katana::server {

void ReactorStatus::request() {
  const std::lock_guard lock(mutex_);
  if (probe_ == nullptr) return;
  if (&probe_->reactor_ == net::Reactor::current()) {
    statistics_ = probe_->statistics();
    return;
  }
  if (under_way_.exchange(true, std::memory_order_relaxed)) return;
  answer_ = std::make_shared<net::SharedEvent>();
  probe_->reactor_.post(question_);
}

std::shared_ptr<net::SharedEvent> ReactorStatus::answer() const {
  const std::lock_guard lock(mutex_);
  return answer_;
}

ReactorStatistics ReactorStatus::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

Duration ReactorStatus::busy_for(Instant now) const noexcept {
  const std::lock_guard lock(mutex_);
  const Instant since = probe_ != nullptr ? probe_->reactor_.busy_since() : never;
  return since < now ? now - since : Duration{};
}

std::string ReactorStatus::busy_with() const {
  const std::lock_guard lock(mutex_);
  const std::string* const site = probe_ != nullptr ? probe_->reactor_.site() : nullptr;
  return site != nullptr ? *site : std::string();
}

bool ReactorStatus::begin(std::shared_ptr<ReactorWalk> walk) const {
  const std::lock_guard lock(mutex_);
  if (probe_ == nullptr) return false;
  ReactorWalk::begin(std::move(walk), probe_->reactor_);
  return true;
}

ReactorStatus::Question::Question(ReactorStatus& owner) noexcept
    : Message([](Message& message) noexcept {
        ReactorStatus& asked = static_cast<Question&>(message).status;
        std::shared_ptr<net::SharedEvent> answer;
        {
          const std::lock_guard lock(asked.mutex_);
          if (asked.probe_ != nullptr) asked.statistics_ = asked.probe_->statistics();
          answer = std::exchange(asked.answer_, nullptr);
          // release: a thread that sees the answer also sees the figures. The question may be
          // posted again only now, after the mailbox has released it.
          asked.under_way_.store(false, std::memory_order_release);
        }
        if (answer != nullptr) answer->set();
      }),
      status(owner) {}

ReactorProbe::Tick::Tick(ReactorProbe& owner) noexcept
    : net::TimerEntry(
          [](net::TimerEntry& entry) noexcept { static_cast<Tick&>(entry).probe.on_tick(); }),
      probe(owner) {}

ReactorProbe::ReactorProbe(net::Reactor& reactor, std::size_t number, session::HttpCounters& http,
                           std::shared_ptr<ReactorStatus> status, metrics::LogHistogram lag,
                           Duration interval)
    : Message(
          [](Message& message) noexcept { static_cast<ReactorProbe&>(message).begin_interval(); }),
      reactor_(reactor),
      http_(http),
      status_(std::move(status)),
      lag_(lag),
      interval_(interval),
      facts_(std::make_unique<ReactorFacts>(reactor, number)) {
  const std::lock_guard lock(status_->mutex_);
  status_->probe_ = this;
}

// The reactor does not run any more: these are its last figures. A question that is still under way
// finds no reader.
ReactorProbe::~ReactorProbe() {
  reactor_.call_at_next_turn(nullptr);
  const std::lock_guard lock(status_->mutex_);
  const Duration cpu_time = status_->statistics_.cpu_time;  // this thread may be another
  status_->statistics_ = statistics();
  status_->statistics_.cpu_time = cpu_time;
  status_->probe_ = nullptr;
}

void ReactorProbe::start(const tls::TlsTransforms* first, const tls::TlsTransforms* second,
                         const proxy::ProxyCounters* proxied) noexcept {
  tls_ = {first, second};
  proxied_ = proxied;
  reactor_.call_at_next_turn(this);
}

void ReactorProbe::begin_interval() noexcept {
  turns_seen_ = reactor_.counters().turns;
  due_ = reactor_.now() + interval_;
  reactor_.timers().arm(tick_, due_);
}

ReactorStatistics ReactorProbe::statistics() const noexcept {
  tls::TlsCounters tls;
  for (const tls::TlsTransforms* each : tls_) {
    if (each != nullptr) tls += each->counters();
  }
  return {reactor_.counters(),
          http_,
          tls,
          reactor_.paused_links(),
          reactor_.memory_budget(),
          reactor_.memory_used(),
          reactor_.links_open(),
          reactor_.tasks().counts(),
          reactor_.tasks().size(),
          clock_time(CLOCK_THREAD_CPUTIME_ID),
          proxied_ != nullptr ? *proxied_ : proxy::ProxyCounters{}};
}

// The reactor has no log. Nothing is lost with such a connection: it waits for no reply.
void ReactorProbe::tell_unknown_peers() noexcept {
  const std::uint64_t count = reactor_.counters().peers_unknown - peers_unknown_told_;
  const bool told = logger_.warn(KATANA_AT_MOST(1, seconds(60)),
                                 "{} connections were closed as they were accepted: their clients "
                                 "had reset them, and the kernel "
                                 "no longer says who they were (getpeername: not connected)",
                                 count);
  if (told) peers_unknown_told_ += count;
}

void ReactorProbe::on_tick() noexcept {
  const Instant now = reactor_.now();
  lag_.observe(now - due_);
  // The turn of this tick is no work.
  const bool has_worked = reactor_.counters().turns - turns_seen_ > 1;
  if (has_worked) {
    begin_interval();
  } else {
    reactor_.call_at_next_turn(this);
  }
  if (reactor_.counters().peers_unknown != peers_unknown_told_) [[unlikely]]
    tell_unknown_peers();
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
