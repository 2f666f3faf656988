#include "katana/stores/redis/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace katana::redis {

SecretText Shared::password() const {
  const std::scoped_lock lock(mutex_);
  return password_.copy();
}

void Shared::set_password(SecretText password) {
  const std::scoped_lock lock(mutex_);
  password_ = std::move(password);
}

std::shared_ptr<Counters> Shared::join() {
  const std::scoped_lock lock(mutex_);
  if (joined_.size() >= options_.connections_max) return nullptr;
  joined_.reserve(joined_.size() + 1);
  // The counts stay in the totals when the connection is gone, and are never missing in between.
  std::shared_ptr<Counters> made(new Counters, [this](Counters* counters) {
    {
      const std::scoped_lock inner(mutex_);
      gone_ += *counters;
      std::erase(joined_, counters);
    }
    delete counters;
  });
  joined_.push_back(made.get());
  return made;
}

Totals Shared::totals() const {
  const std::scoped_lock lock(mutex_);
  Totals totals = gone_;
  for (const Counters* const each : joined_) totals += *each;
  return totals;
}

Pending::Pending(Command given, Effect what)
    : TimerEntry([](TimerEntry& entry) noexcept {
        auto& self = static_cast<Pending&>(entry);
        self.home->expire(self);
      }),
      command(std::move(given)),
      effect(what),
      name(command.name()) {}

Pipeline::Resuming::Resuming(Pipeline& given) noexcept
    : Message([](Message& message) noexcept {
        auto& self = static_cast<Resuming&>(message);
        self.is_due = false;
        self.pipeline.resume_failed();
      }),
      pipeline(given) {}

Pipeline::Timer::Timer(Pipeline& given, void (Pipeline::*what)() noexcept) noexcept
    : TimerEntry([](TimerEntry& entry) noexcept {
        auto& self = static_cast<Timer&>(entry);
        (self.pipeline.*self.due)();
      }),
      pipeline(given),
      due(what) {}

Pipeline::Pipeline(net::Reactor& reactor, std::shared_ptr<Shared> shared,
                   std::shared_ptr<Counters> counters)
    : reactor_(reactor),
      shared_(std::move(shared)),
      counters_(std::move(counters)),
      connection_(reactor, shared_->servers(), *this),
      greeting_(shared_->options()) {}

// Coroutines that still wait are not the reactor's: they find out when they are destroyed.
Pipeline::~Pipeline() {
  counters_->waiting.set(0);
  counters_->waiting_bytes.set(0);
  for (LinkedList<Pending>* const list : {&queued_, &sent_, &failed_}) {
    while (!list->empty()) {
      Pending& pending = list->pop_front();
      pending.cancel();
      pending.home = nullptr;
      if (!pending.awaited) delete &pending;
    }
  }
}

Result<Pipeline*> Pipeline::of(net::Reactor& reactor, const std::shared_ptr<Shared>& shared) {
  if (auto* const found = reactor.attached(shared.get())) return static_cast<Pipeline*>(found);
  auto counters = shared->join();
  if (counters == nullptr) {
    return fail(Kind::overloaded,
                fmt::format("{} reactors of the process are connected to Redis already; raise "
                            "connections_max",
                            shared->options().connections_max));
  }
  auto made = std::make_unique<Pipeline>(reactor, shared, std::move(counters));
  Pipeline* const pipeline = made.get();
  reactor.attach(shared.get(), std::move(made));
  return pipeline;
}

// ---- asking ------------------------------------------------------------------------------------

bool Pipeline::is_given_up() const noexcept {
  return down_since_ != never && reactor_.now() - down_since_ >= shared_->options().wait_while_down;
}

std::optional<Error> Pipeline::refusal_of(const Pending& pending) const {
  const Options& options = shared_->options();
  if (is_given_up()) {
    counters_->unavailable.add();
    return Error(Kind::unavailable, "Redis cannot be reached", pending.name,
                 connection_.problem() ? connection_.problem()->describe() : std::string());
  }
  if (load() >= options.commands_max) {
    counters_->overloads.add();
    return Error(Kind::overloaded, "too many commands wait for Redis", pending.name,
                 fmt::format("{} of them on this reactor: commands_max", load()));
  }
  const std::size_t bytes = pending.command.wire_bytes();
  if (queued_bytes_ + connection_.pending() + bytes > options.queued_bytes_max) {
    counters_->overloads.add();
    return Error(Kind::overloaded, "too much waits to be sent to Redis", pending.name,
                 fmt::format("{} bytes, and {} more: queued_bytes_max",
                             queued_bytes_ + connection_.pending(), bytes));
  }
  return {};
}

bool Pipeline::submit(Pending& pending, Instant deadline) {
  connection_.start();
  pending.error = refusal_of(pending);
  if (pending.error) return false;
  pending.home = this;
  pending.state = Pending::State::queued;
  enqueue(pending);
  if (deadline != never) reactor_.timers().arm(pending, deadline);
  if (queued_.size() == 1) flush();
  return true;
}

void Pipeline::enqueue(Pending& pending) noexcept {
  queued_bytes_ += pending.command.wire_bytes();
  queued_.push_back(pending);
  note_waiting();
}

void Pipeline::unqueue(Pending& pending) noexcept {
  queued_bytes_ -= pending.command.wire_bytes();
  queued_.remove(pending);
  note_waiting();
}

void Pipeline::note_waiting() noexcept {
  counters_->waiting.set(queued_.size() + sent_.size());
  counters_->waiting_bytes.set(queued_bytes_);
}

void Pipeline::flush() noexcept {
  while (!queued_.empty() && connection_.is_up() && !leaving_) {
    Pending& pending = *queued_.first();
    if (!connection_.write(pending.command.wire())) {
      connection_.want_writable();
      return;
    }
    unqueue(pending);
    if (pending.script == nullptr) pending.command.release();
    pending.state = Pending::State::sent;
    pending.sent_at = reactor_.now();
    sent_.push_back(pending);
    note_waiting();
    counters_->commands.add();
    if (!stall_timer_.armed()) {
      reactor_.timers().arm(stall_timer_, pending.sent_at + shared_->options().stalled_after);
    }
  }
}

// A server that hangs closes nothing: an idle connection would count as up, and the next call would
// be the one that finds out.
void Pipeline::probe() noexcept {
  const Duration most = shared_->options().stalled_after;
  reactor_.timers().arm(stall_timer_, reactor_.now() + most);
  auto pending = std::make_unique<Pending>(Command("PING"), Effect::reads);
  if (!connection_.is_up() || leaving_ || !connection_.write(pending->command.wire())) return;
  pending->command.release();
  pending->is_probe = true;
  pending->home = this;
  pending->state = Pending::State::sent;
  pending->sent_at = reactor_.now();
  sent_.push_back(*pending.release());
}

void Pipeline::look_for_stall() noexcept {
  if (sent_.empty()) return probe();
  const Duration most = shared_->options().stalled_after;
  const Instant due = sent_.first()->sent_at + most;
  if (reactor_.now() < due) return reactor_.timers().arm(stall_timer_, due);
  connection_.lose(
      katana::Error(Code::deadline_exceeded,
                    fmt::format("Redis at {} has answered nothing for {} ms (stalled_after)",
                                connection_.server().text(), most.count_ms())));
}

void Pipeline::forget(Pending& pending) noexcept {
  pending.cancel();
  pending.home = nullptr;
}

void Pipeline::leave(Pending& pending) noexcept {
  Pipeline* const home = pending.home;
  pending.cancel();
  pending.awaited = false;
  pending.script = nullptr;
  if (home == nullptr) {
    delete &pending;
  } else if (pending.state == Pending::State::sent) {
    pending.command.release();  // its place stays until the reply has come
  } else if (pending.state == Pending::State::queued) {
    home->unqueue(pending);
    delete &pending;
  } else {
    home->failed_.remove(pending);
    delete &pending;
  }
}

// The call that it is of has it from now on.
void Pipeline::resume(Pending& pending) noexcept { pending.waiting.resume(); }

void Pipeline::expire(Pending& pending) noexcept {
  counters_->timeouts.add();

  if (pending.state == Pending::State::queued) {
    unqueue(pending);
    forget(pending);
    pending.error.emplace(
        Kind::timeout, "the deadline came before Redis was asked", pending.name,
        connection_.problem() ? connection_.problem()->describe() : std::string());
  } else if (pending.effect == Effect::reads) {
    pending.error.emplace(Kind::timeout, "Redis has not answered in time", pending.name);
  } else {
    counters_->unknown_outcomes.add();
    pending.error.emplace(Kind::unknown_outcome,
                          "Redis has not answered in time: it may have done what was asked",
                          pending.name);
  }

  resume(pending);
}

// ---- replies -----------------------------------------------------------------------------------

void Pipeline::on_open() noexcept {
  reader_.begin(shared_->options().reply);
  leaving_ = false;
  const SecretText password = shared_->password();
  // The outbox is empty, and a greeting small.
  greeting_.begin(password.reveal(), [this](Bytes wire) { (void)connection_.write(wire); });
}

std::size_t Pipeline::on_bytes(Bytes input) noexcept {
  const std::size_t consumed =
      reader_.read(input, [this](Reply reply) { return take_reply(std::move(reply)); });
  if (auto problem = reader_.problem(connection_.server().text())) {
    counters_->protocol_errors.add();
    connection_.lose(*std::move(problem));
  }
  return consumed;
}

bool Pipeline::take_reply(Reply reply) {
  if (reply.type() == Reply::Type::push) {
    counters_->pushes.add();
    return true;
  }
  if (greeting_.is_going()) return take_greeting(reply);
  if (sent_.empty()) {
    counters_->protocol_errors.add();
    connection_.lose(katana::Error(
        Code::data_loss,
        fmt::format("Redis at {} sent a reply without a request", connection_.server().text())));
    return false;
  }
  Pending& pending = sent_.pop_front();
  note_waiting();
  if (pending.awaited) {
    counters_->replies.add();
    counters_->reply_wait_ns.add(static_cast<std::uint64_t>((reactor_.now() - pending.sent_at).ns));
    answer(pending, std::move(reply));
  } else {
    if (!pending.is_probe) counters_->abandoned.add();
    delete &pending;
  }
  if (!leaving_ || !sent_.empty()) return true;
  connection_.lose(katana::Error(Code::unavailable, fmt::format("Redis at {} has become a replica",
                                                                connection_.server().text())));
  return false;
}

bool Pipeline::take_greeting(const Reply& reply) {
  if (auto taken = greeting_.take(reply); !taken) {
    connection_.lose(taken.error().within("Redis at " + connection_.server().text()));
    return false;
  }
  if (greeting_.is_going()) return true;
  connection_.established();
  reactor_.timers().arm(stall_timer_, reactor_.now() + shared_->options().stalled_after);
  down_since_ = never;
  down_timer_.cancel();
  flush();
  return true;
}

void Pipeline::answer(Pending& pending, Reply reply) {
  if (reply.is_error()) return take_error(pending, reply);
  forget(pending);
  pending.reply = std::move(reply);
  resume(pending);
}

void Pipeline::take_error(Pending& pending, const Reply& reply) {
  Error error = Error::of_server(reply.text(), pending.name);
  // The server does not know the digest and has run nothing.
  if (error.prefix() == "NOSCRIPT" && pending.script != nullptr) return send_script(pending);
  if (error.prefix() == "READONLY") leaving_ = true;
  counters_->server_errors.add();
  forget(pending);
  pending.error.emplace(std::move(error));
  resume(pending);
}

void Pipeline::send_script(Pending& pending) {
  pending.command = pending.command.renamed("EVAL", *std::exchange(pending.script, nullptr));
  pending.state = Pending::State::queued;
  counters_->scripts_sent.add();
  enqueue(pending);
  flush();
}

// ---- outages -----------------------------------------------------------------------------------

void Pipeline::on_closed(const katana::Error& why) noexcept {
  greeting_.end();
  stall_timer_.cancel();
  fail_sent(why);
  note_down(why);
}

void Pipeline::on_unreachable(const katana::Error& why) noexcept { note_down(why); }

void Pipeline::note_down(const katana::Error&) noexcept {
  if (down_since_ == never) down_since_ = reactor_.now();
  if (is_given_up()) return fail_queued();
  reactor_.timers().arm(down_timer_, down_since_ + shared_->options().wait_while_down);
}

void Pipeline::fail_queued() noexcept {
  const std::string why = connection_.problem() ? connection_.problem()->describe() : std::string();
  while (!queued_.empty()) {
    Pending& pending = *queued_.first();
    unqueue(pending);
    counters_->unavailable.add();
    fail_later(pending, Error(Kind::unavailable, "Redis cannot be reached", pending.name, why));
  }
}

void Pipeline::fail_sent(const katana::Error& why) noexcept {
  const std::string detail = why.describe();
  while (!sent_.empty()) {
    Pending& pending = sent_.pop_front();
    if (!pending.awaited) {
      delete &pending;
      continue;
    }
    if (pending.effect == Effect::reads) {
      fail_later(pending,
                 Error(Kind::lost_reply, "the connection to Redis was lost", pending.name, detail));
    } else {
      counters_->unknown_outcomes.add();
      fail_later(pending, Error(Kind::unknown_outcome,
                                "the connection to Redis was lost: it may have done what was asked",
                                pending.name, detail));
    }
  }
  note_waiting();
}

// The caller is resumed later: it may call anything, and the connection is about to be gone.
void Pipeline::fail_later(Pending& pending, Error error) noexcept {
  pending.cancel();
  pending.state = Pending::State::failed;
  pending.error.emplace(std::move(error));
  failed_.push_back(pending);
  if (!std::exchange(resuming_.is_due, true)) reactor_.defer(resuming_);
}

// Commands that fail meanwhile are resumed in the next turn.
void Pipeline::resume_failed() noexcept {
  for (std::size_t count = failed_.size(); count > 0 && !failed_.empty(); --count) {
    Pending& pending = failed_.pop_front();
    forget(pending);
    resume(pending);
  }
  if (!failed_.empty() && !std::exchange(resuming_.is_due, true)) reactor_.defer(resuming_);
}

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
