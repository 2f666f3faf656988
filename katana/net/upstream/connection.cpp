#include "katana/net/upstream/connection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/net/reactor/destinations.hpp"
#include "katana/net/reactor/opening_session.hpp"
#include "katana/net/upstream/addresses.hpp"

namespace katana::upstream {

// One net::Connection, from its beginning to its end. It owns itself: its creator may be gone
// before that.
class Connection::Attempt final : public net::Protocol {
 public:
  Attempt(Connection& owner, const Server& server) : owner_(&owner) {
    if (owner.shared_->tls() == nullptr) return;
    const std::string& name =
        server.certificate_name.empty() ? server.host : server.certificate_name;
    transforms_.emplace(owner.shared_->tls(), name);
    if (tls::Prelude* const prelude = owner.owner_.prelude()) transforms_->set_prelude(*prelude);
  }

  Result<void> begin(net::Reactor& reactor, const engine::ConnectOptions& to) {
    auto begun = reactor.connect(to, *this, transforms_ ? &*transforms_ : nullptr);
    if (!begun) return std::unexpected(begun.error());
    connection_ = *begun;
    connection_->outlast_drain();
    return {};
  }

  // The owner is not called any more.
  void detach(bool send_first) noexcept {
    owner_ = nullptr;
    if (connection_->finishing()) return;
    if (send_first && opened_) {
      connection_->finish(net::Finish::close);
    } else {
      connection_->reset();
    }
    wake();
  }
  void lose(Error why) noexcept {
    if (lost_) return;
    lost_.emplace(std::move(why));
    connection_->reset();
    wake();
  }
  void time_out() noexcept {
    timed_out_ = true;
    if (!opened_ && connection_->transform() != nullptr) {
      connection_->transform()->cut(net::TransformCut::timed_out);
    }
    connection_->reset();
    wake();
  }
  // Within a call of the session the reactor does it.
  void wake() noexcept {
    if (!in_call_) connection_->wake();
  }

  // Null: nothing can be written.
  net::Connection* writable() const noexcept {
    return opened_ && !lost_ && !timed_out_ ? connection_ : nullptr;
  }
  bool opened() const noexcept { return opened_; }
  bool timed_out() const noexcept { return timed_out_; }
  const std::optional<Error>& lost() const noexcept { return lost_; }
  std::string tls_problem() const { return transforms_ ? transforms_->problem() : std::string(); }
  // Bytes went in either direction: the server is there.
  bool answered() const noexcept {
    return connection_->counters().bytes_sent + connection_->counters().bytes_received > 0;
  }

 private:
  // The session in the net::Connection's memory.
  class Session final : public net::Session {
   public:
    explicit Session(Attempt& attempt) noexcept : attempt_(attempt) {}
    ~Session() override { attempt_.end(); }
    std::size_t on_bytes(Bytes input) noexcept override {
      const Call call(attempt_);
      return attempt_.owner_ != nullptr ? attempt_.owner_->owner_.on_bytes(input) : input.size();
    }
    void on_input_end() noexcept override { attempt_.connection_->reset(); }
    void on_writable() noexcept override {
      const Call call(attempt_);
      if (attempt_.owner_ != nullptr) attempt_.owner_->owner_.on_writable();
    }
    void on_deadline() noexcept override {}  // Connection has its own timer
    void on_drain() noexcept override {}     // it outlasts that
    Bytes protocol_name() const noexcept override { return "upstream"; }

   private:
    Attempt& attempt_;
  };
  struct Call {
    explicit Call(Attempt& given) noexcept : attempt(given) { attempt.in_call_ = true; }
    ~Call() { attempt.in_call_ = false; }
    Call(const Call&) = delete;
    Attempt& attempt;
  };

  std::size_t session_bytes() const noexcept override {
    return std::max(sizeof(Session), sizeof(net::OpeningSession));
  }
  net::Session* open(void* memory, net::Connection& connection) noexcept override {
    connection_ = &connection;
    opened_ = true;
    if (owner_ != nullptr) owner_->owner_.on_open();
    return new (memory) Session(*this);
  }
  void on_not_opened(net::Connection&) noexcept override { end(); }
  void end() noexcept {
    if (owner_ != nullptr) owner_->on_gone(*connection_);
    delete this;
  }

  Connection* owner_;
  std::optional<tls::ClientTransforms> transforms_;
  net::Connection* connection_ = nullptr;
  std::optional<Error> lost_;  // set by the owner's lose()
  bool opened_ = false;
  bool timed_out_ = false;
  bool in_call_ = false;
};

Connection::Connection(net::Reactor& reactor, std::shared_ptr<Shared> shared, Owner& owner)
    : TimerEntry(&Connection::on_timer),
      reactor_(reactor),
      shared_(std::move(shared)),
      owner_(owner),
      random_(shared_->options().seed != 0 ? shared_->options().seed
                                           : net::Destinations::seed_for(reactor)),
      pause_(shared_->options().backoff_min) {
  if (shared_->options().order == Order::spread) {
    turn_ = static_cast<std::size_t>(random_.below(shared_->server_count()));
  }
}

Connection::~Connection() {
  shared_->note_stopped(is_up(), is_down_);
  if (attempt_ != nullptr) attempt_->detach(false);
}

void Connection::start() noexcept {
  if (state_ != State::stopped) return;
  state_ = State::waiting;
  arm(Duration{});
}

void Connection::stop() noexcept {
  shared_->note_stopped(is_up(), is_down_);
  is_down_ = false;
  state_ = State::stopped;
  cancel();
  lookup_.reset();
  if (attempt_ != nullptr) std::exchange(attempt_, nullptr)->detach(true);
}

void Connection::arm(Duration after) noexcept {
  reactor_.timers().arm(*this, reactor_.now() + after);
}

void Connection::on_timer(TimerEntry& entry) noexcept {
  auto& self = static_cast<Connection&>(entry);
  if (self.state_ == State::waiting) return self.begin();
  if (self.state_ == State::resolving) return self.go_on();
  if (self.attempt_ != nullptr) self.attempt_->time_out();
}

// ---- an attempt --------------------------------------------------------------------------------

void Connection::begin() noexcept {
  if (address_ < addresses_.size()) return connect();  // the next one of the same server
  server_ = shared_->server(turn_);
  port_ = server_.port;
  address_ = 0;
  addresses_.clear();
  if (net::Destinations::of(reactor_) != nullptr) {
    ask_destinations();
  } else if (server_.is_path() || is_numeric_address(server_.host)) {
    addresses_ = {server_.host};
    connect();
  } else {
    state_ = State::resolving;
    lookup_.emplace(look_up());
    if (lookup_->start()) go_on();
  }
}

void Connection::ask_destinations() noexcept {
  const net::Destinations& destinations = *net::Destinations::of(reactor_);
  auto found =
      destinations.find(shared_->tls() != nullptr ? "https" : "http", server_.host, server_.port);
  if (!found) return fail_attempt(found.error(), false);
  port_ = found->port;
  addresses_ = {std::move(found->address)};
  connect();
}

Task<void> Connection::look_up() {
  auto known = co_await shared_->resolver().look_up(server_.host, reactor_);
  lookup_problem_.reset();
  if (known.addresses) {
    addresses_ = *std::move(known.addresses);
  } else {
    lookup_problem_ = std::move(known.addresses).error();
  }
  arm(Duration{});  // the coroutine is destroyed once it is done
}

// The lookup is done.
void Connection::go_on() noexcept {
  cancel();
  lookup_.reset();
  if (lookup_problem_) return fail_attempt(*lookup_problem_, false);
  connect();
}

void Connection::connect() noexcept {
  state_ = State::connecting;
  shared_->note_attempt();
  const engine::ConnectOptions to{.address = addresses_[address_],
                                  .port = port_,
                                  .vanished_after = shared_->options().vanished_after};
  arm(shared_->options().connect_timeout);
  // on_open() may be called within, and may write.
  attempt_ = new Attempt(*this, server_);
  if (auto begun = attempt_->begin(reactor_, to); !begun) {
    delete std::exchange(attempt_, nullptr);
    fail_attempt(begun.error(), true);
  }
}

void Connection::fail_attempt(const Error& why, bool try_addresses) noexcept {
  note_problem(why, false);
  ++address_;
  if (try_addresses && address_ < addresses_.size()) {
    state_ = State::waiting;
    arm(Duration{});
  } else {
    pause();
  }
  owner_.on_unreachable(why);
}

void Connection::note_problem(const Error& why, bool was_up) noexcept {
  problem_ = why;
  shared_->note_failure(server_, why, was_up, !is_down_, reactor_.now());
  is_down_ = true;
}

// Waits before the next server's turn.
void Connection::pause() noexcept {
  const Options& options = shared_->options();
  addresses_.clear();
  address_ = 0;
  ++turn_;
  const std::int64_t most =
      std::min(options.backoff_max.ns, std::max(pause_.ns, options.backoff_min.ns) * 3);
  pause_ = nanoseconds(static_cast<std::int64_t>(
      random_.between(static_cast<std::uint64_t>(options.backoff_min.ns),
                      static_cast<std::uint64_t>(std::max(most, options.backoff_min.ns)))));
  state_ = State::waiting;
  arm(pause_);
}

void Connection::established() noexcept {
  if (state_ != State::connecting) return;
  KATANA_REQUIRE(attempt_ != nullptr && attempt_->opened());
  cancel();
  state_ = State::up;
  up_since_ = reactor_.now();
  problem_.reset();
  shared_->note_up(server_, std::exchange(is_down_, false), reactor_.now());
}

// ---- its end -----------------------------------------------------------------------------------

void Connection::lose(Error why) noexcept {
  if (attempt_ != nullptr) attempt_->lose(std::move(why));
}

std::string Connection::place() const {
  const std::string& address = addresses_[address_];
  const std::string text = fmt::format("{} at {}", shared_->options().kind, server_.text());
  return address == server_.host ? text : fmt::format("{} (address {})", text, address);
}

Error Connection::why(const net::Connection& connection) const {
  if (attempt_->lost()) return *attempt_->lost();
  const std::string tls_problem = attempt_->tls_problem();
  if (!tls_problem.empty()) {
    return Error(attempt_->timed_out() ? Code::deadline_exceeded : Code::permission_denied,
                 fmt::format("{}: {}", place(), tls_problem));
  }
  if (attempt_->timed_out()) {
    return Error(Code::deadline_exceeded,
                 fmt::format("connect to {}: deadline exceeded after {} ms (connect_timeout)",
                             place(), shared_->options().connect_timeout.count_ms()));
  }
  const int failure = connection.failure();
  const std::string reason =
      failure != 0 ? std::generic_category().message(failure) : "the server closed the connection";
  return Error(Code::unavailable, state_ == State::up
                                      ? fmt::format("connection to {} lost: {}", place(), reason)
                                      : fmt::format("connect to {}: {}", place(), reason));
}

// Calls the owner last: it may stop.
void Connection::on_gone(const net::Connection& connection) noexcept {
  const Error error = why(connection);
  const bool was_up = is_up();
  const bool was_open = attempt_->opened();
  // A server that answered is there, and its other addresses would behave the same.
  const bool answered = attempt_->answered();
  attempt_ = nullptr;
  cancel();
  if (reactor_.stopped()) return end(error, was_up, was_open);
  note_problem(error, was_up);
  if (was_up && reactor_.now() - up_since_ > shared_->options().backoff_max) {
    pause_ = shared_->options().backoff_min;
  }
  ++address_;
  if (!answered && address_ < addresses_.size()) {
    state_ = State::waiting;
    arm(Duration{});
  } else {
    pause();
  }
  if (was_open) {
    owner_.on_closed(error);
  } else {
    owner_.on_unreachable(error);
  }
}

// The reactor has ended and has closed the open connections: that is no failure of the server.
void Connection::end(const Error& error, bool was_up, bool was_open) noexcept {
  shared_->note_stopped(was_up, std::exchange(is_down_, false));
  state_ = State::stopped;
  if (was_open) owner_.on_closed(error);
}

// ---- bytes -------------------------------------------------------------------------------------

net::Connection* Connection::open_connection() const noexcept {
  return attempt_ != nullptr ? attempt_->writable() : nullptr;
}

bool Connection::takes(std::size_t bytes) const noexcept {
  net::Connection* const connection = open_connection();
  return connection != nullptr &&
         connection->outbox().pending() + bytes <= shared_->options().outgoing_bytes_max;
}

bool Connection::write(Bytes text) noexcept {
  if (!takes(text.size()) || !open_connection()->outbox().write(text)) return false;
  attempt_->wake();
  return true;
}

bool Connection::refer(Bytes text, Retained& memory) noexcept {
  if (!takes(text.size()) || !open_connection()->outbox().refer(text, memory)) return false;
  attempt_->wake();
  return true;
}

std::size_t Connection::pending() const noexcept {
  net::Connection* const connection = open_connection();
  return connection != nullptr ? connection->outbox().pending() : 0;
}

void Connection::want_writable() noexcept {
  net::Connection* const connection = open_connection();
  if (connection == nullptr) return;
  connection->want_writable();
  attempt_->wake();
}

void Connection::pause_input() noexcept {
  net::Connection* const connection = open_connection();
  if (connection == nullptr) return;
  connection->pause(net::PauseReason::content_unwanted);
  attempt_->wake();
}

void Connection::resume_input() noexcept {
  net::Connection* const connection = open_connection();
  if (connection == nullptr) return;
  connection->resume(net::PauseReason::content_unwanted);
  attempt_->wake();
}

}  // namespace katana::upstream

// SPDX-License-Identifier: Apache-2.0
