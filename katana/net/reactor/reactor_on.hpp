// ReactorOn<Engine>: the reactor on one engine. Instantiated once per engine, by the module that
// chooses one.
//
// Owns       its parts (reactor_links.hpp lists them); each is a base of the next.
// Thread     its reactor's.
// Allocates  listen() and connect(); a turn for transforms only.
// Fails      listen() and connect() return an Error.
// Invariant  see Reactor. A session's actions in a call take effect right after it. Output is sent
//            with one gathered send, an end begins, receiving is paused or resumed. Its actions
//            outside a call take effect before the turn ends (Connection::wake).
//
// The life of received bytes: on_bytes → deliver → offer (Session::on_bytes, as long as it makes
// progress) → flush_and_update (send) → unconsumed bytes are carried.
//
// With a transform: on_bytes → on_sealed (Transform::receive) → deliver, as without one; flush →
// flush_sealed (Transform::seal). A connection without a transform pays a branch in on_bytes and
// one in flush.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "katana/base/system/check.hpp"
#include "katana/net/reactor/opening_session.hpp"
#include "katana/net/reactor/reactor_transforms.hpp"

namespace katana::net {

template <template <class> class EngineOf>
class ReactorOn final : public ReactorTransforms<EngineOf<ReactorOn<EngineOf>>> {
  using Base = ReactorTransforms<EngineOf<ReactorOn>>;
  using Base::accept_retry_, Base::add_connection, Base::admit_waiting, Base::apply_requests,
      Base::at_next_turn_, Base::attachments_, Base::begin_opening, Base::busy_since_ns_,
      Base::connection_blocks_, Base::connection_of, Base::counters_, Base::current_, Base::defers,
      Base::deliver, Base::destroy, Base::draining_, Base::drop, Base::end_input, Base::end_turn,
      Base::engine_, Base::enter, Base::first_backlog_, Base::first_deferred_, Base::first_woken_,
      Base::flush_and_update, Base::flush_sealed, Base::heap_bytes_each_, Base::keeps,
      Base::note_failure, Base::note_sent, Base::note_time, Base::now_, Base::on_sealed,
      Base::open_session, Base::openings_left_, Base::options_, Base::output_blocks_,
      Base::pop_pending, Base::prepare_transforms, Base::reads_on, Base::relief_due_,
      Base::relieve_output, Base::renew_budget, Base::review_slowing, Base::run_backlog,
      Base::run_deferred, Base::run_messages, Base::run_pending, Base::run_pending_output,
      Base::set_turn_alarm, Base::shared_bytes_, Base::share_, Base::should_spin, Base::slowing_,
      Base::stopped_, Base::take_woken, Base::timers_, Base::turn_alarm_after_,
      Base::turn_alarm_due_ns_, Base::update_receive, Base::waiting_;
  using typename Base::Cause;
  using typename Base::Slowing;

 public:
  // `engine_arguments` go to the engine's constructor after its options and sink.
  template <class... EngineArguments>
  ReactorOn(const ReactorOptions& options, std::size_t session_bytes_max,
            EngineArguments&&... engine_arguments)
      : Base(options, session_bytes_max, *this, engine_arguments...) {
    static_assert(engine::Engine<EngineOf<ReactorOn>>);
  }

  ~ReactorOn() override {
    this->tasks().close();
    this->destroy_all();
    attachments_.clear();  // their waits end with the reactor
    stopped_ = true;       // a new client finds no listener
    this->receive_expected();
    if (share_ == nullptr) return;
    share_->leave();
    share_->receive();
    reset_arrived();
  }

  Result<void> start() override { return engine_.start(); }

  Result<void> listen(const engine::ListenOptions& options, Protocol& protocol) override {
    return listen_for(options, {&protocol, nullptr});
  }
  Result<void> listen_transformed(const engine::ListenOptions& options, Protocol& protocol,
                                  TransformFactory& transforms) override {
    prepare_transforms();
    return listen_for(options, {&protocol, &transforms});
  }

  Result<Connection*> connect(const engine::ConnectOptions& options, Protocol& protocol,
                              TransformFactory* transforms) override {
    KATANA_REQUIRE(sizeof(Connection) + protocol.session_bytes() <=
                   connection_blocks_.block_bytes());
    std::unique_ptr<Transform> transform;
    if (transforms != nullptr) {
      prepare_transforms();
      transform = transforms->make(output_blocks_);
      if (transform == nullptr) {
        return fail(Code::resource_exhausted, "connect: out of memory for a transform");
      }
    }
    auto link = engine_.connect(options);
    if (!link) return std::unexpected(link.error());
    Connection& connection = add_connection(*link);
    connection.outgoing_ = true;
    ++counters_.connected;
    if (transform == nullptr) {
      open_session(connection, protocol);
    } else {
      connection.transform_ = std::move(transform);
      connection.session_ = new (&connection + 1) OpeningSession(connection, protocol);
      connection.interrupted_ = true;
      connection.wake();
    }
    return &connection;
  }

  void guard(engine::Listener listener, const ListenerGuard& guard) override {
    served_[listener].guard = guard;
    if (guard.limits == nullptr) return;
    KATANA_REQUIRE(this->clients_ == nullptr || this->clients_ == guard.limits);
    this->clients_ = guard.limits;
  }
  void balance(ConnectionBalance::Share& share) override {
    share_ = &share;
    share.serve(*this, this->arrivals_.arrived, busy_since_ns_, options_.engine.links_max);
  }
  std::uint16_t port(engine::Listener listener) const override { return engine_.port(listener); }
  int socket(engine::Listener listener) const override { return engine_.socket(listener); }
  Result<void> watch(int fd, engine::Readiness wanted, engine::Watcher& watcher) override {
    return engine_.watch(fd, wanted, watcher);
  }
  void unwatch(int fd) override { engine_.unwatch(fd); }

  void turn(Duration wait_max) override {
    current_ = this;
    enter(this);
    const bool due = turn_is_due() || should_spin();
    const std::uint64_t received = counters_.bytes_received;
    engine_.turn(due ? Duration{} : wait_max);
    timers_.advance(now_);
    run_messages();
    apply_requests();
    run_deferred();
    take_woken();
    while (Connection* const connection = pop_pending()) run_pending(*connection);
    if (first_backlog_ != nullptr) run_backlog();
    if (relief_due_) relieve_output();
    if (slowing_ != Slowing::no) review_slowing();
    end_turn(counters_.bytes_received == received);
    // Without this check the next wait would not end if the last connection has ended just now.
    if (draining_ && drained()) stopped_ = true;
    busy_since_ns_.store(never.ns, std::memory_order_release);
  }

  bool turn_is_due() const noexcept override {
    return first_woken_ != nullptr || first_backlog_ != nullptr || first_deferred_ != nullptr ||
           !waiting_.empty() || keeps();
  }

  // For tests, and for functions of only one engine.
  EngineOf<ReactorOn>& engine() noexcept { return engine_; }

  // ---- the calls of the engine

  // First call of each turn; reads the time.
  void on_turn(Instant) noexcept {
    note_time();
    ++counters_.turns;
    begin_turn();
    renew_budget();
    openings_left_ = options_.openings_per_turn_max;
    if (!waiting_.empty()) admit_waiting();
  }

  // False: the connection is refused, and the engine closes the link.
  bool on_accepted(engine::Link link, engine::Listener listener,
                   const engine::PeerEndpoint& peer) noexcept {
    // Code that limits, logs or trusts by address would have to ignore such a connection.
    if (peer.family == engine::PeerEndpoint::Family::none) [[unlikely]] {
      ++counters_.peers_unknown;
      return false;
    }
    const Served& served = served_[listener];
    if (served.guard.peers != nullptr && !contains(*served.guard.peers, peer)) [[unlikely]] {
      ++counters_.peers_untrusted;
      return false;
    }
    const bool is_limited = served.guard.limits != nullptr && !served.guard.is_proxied;
    ClientLimits::Slot slot = 0;
    if (is_limited && !this->admit_client(peer, served.transforms != nullptr, slot)) return false;
    listener = served.guard.known_as.value_or(listener);
    if (share_ != nullptr) {
      if (ConnectionBalance::Share* const other = share_->lighter(now_)) [[unlikely]] {
        ++counters_.passed_on;
        share_->pass(*other, {engine_.detach(link), listener, peer, slot});
        return true;
      }
    }
    return begin(link, served, {.listener = listener, .peer = peer, .client = slot});
  }

  // Inlined into the engine that calls it.
  [[gnu::always_inline]] void on_bytes(engine::Link link, Bytes bytes) noexcept {
    Connection& connection = connection_of(link);
    counters_.bytes_received += bytes.size();
    connection.counters_.bytes_received += bytes.size();
    if (connection.client_slot() != 0) [[unlikely]]
      this->charge_client(connection, bytes.size());
    if (connection.finishing()) {
      drop(connection, bytes);
      return;
    }
    if (connection.transform_ != nullptr) [[unlikely]] {
      on_sealed(connection, bytes);
      return;
    }
    if (deliver(connection, bytes)) update_receive(connection);
  }

  // A pending send went on by `count` bytes; 0: there may be room.
  void on_sent(engine::Link link, std::size_t count) noexcept {
    Connection& connection = connection_of(link);
    connection.send_pending_ = false;
    if (connection.transform_ == nullptr) [[likely]] {
      note_sent(connection, connection.outbox_, count);
    } else {
      note_sent(connection, connection.transform_->output(), count);
      if (defers(connection, connection.unsent())) return;
      if (!flush_sealed(connection)) return;
    }
    if (flush_and_update(connection)) run_pending_output(connection);
  }

  // The link, or the other side's stream, has ended.
  void on_closed(engine::Link link, engine::Closed closed) noexcept {
    Connection& connection = connection_of(link);
    if (closed == engine::Closed::link || connection.lingering()) note_failure(connection);
    if (connection.transform_ != nullptr && !connection.input_ended_ && !connection.finishing() &&
        !was_never_there(connection)) {
      connection.input_truncated_ = true;
      connection.transform_->cut(TransformCut::input_ended);
    }
    if (closed == engine::Closed::link || connection.lingering()) {
      counters_.file_failures += connection.outbox_.has_files() ? 1 : 0;
      if (closed == engine::Closed::link && reads_on(connection)) return;
      destroy(connection, closed == engine::Closed::link ? Cause::link_lost : Cause::linger_ends);
      return;
    }
    if (end_input(connection)) update_receive(connection);
  }

  // Accepting is tried again after ReactorOptions::accept_retry.
  void on_accept_failed(engine::AcceptFailure) noexcept {
    ++counters_.accept_failures;
    timers_.arm(accept_retry_, now_ + options_.accept_retry);
  }

 private:
  // The kernel reports why an outgoing connection was not made, for example ECONNREFUSED. A later
  // failure is a reset, which a transform describes better.
  static bool was_never_there(const Connection& connection) noexcept {
    const int failure = connection.failure_;
    return failure != 0 && failure != ECONNRESET && failure != EPIPE;
  }
  // The protocol, transforms and guard of a listener's connections.
  struct Served {
    Protocol* protocol = nullptr;
    TransformFactory* transforms = nullptr;
    ListenerGuard guard = {};
  };
  // The turn has begun: observers on other threads see it.
  void begin_turn() noexcept {
    if (turn_alarm_due_ns_ == nullptr) {
      busy_since_ns_.store(now_.ns, std::memory_order_release);
    } else {
      // seq_cst, as the load: the alarm is set, or its thread has yet to look and sees the turn.
      busy_since_ns_.store(now_.ns, std::memory_order_seq_cst);
      const Instant due = now_ + turn_alarm_after_;
      if (due.ns < turn_alarm_due_ns_->load(std::memory_order_seq_cst)) [[unlikely]]
        set_turn_alarm(due);
    }
    if (at_next_turn_ != nullptr) [[unlikely]] {
      Message* const message = std::exchange(at_next_turn_, nullptr);
      message->run(*message);
    }
  }
  // Begins a link that was accepted, here or by another reactor. False: it is refused, and the
  // engine closes it.
  bool begin(engine::Link link, const Served& served, const PassedConnection& accepted) noexcept {
    Connection* const connection = &add_connection(link);
    connection->peer_ = accepted.peer;
    connection->listener_ = static_cast<std::uint8_t>(accepted.listener);
    const bool is_limited = accepted.client != 0;
    if (is_limited) this->name_client(*connection, accepted.client);
    connection->handshake_counted_ = is_limited && served.transforms != nullptr;
    if (served.guard.limits != nullptr) [[unlikely]] {
      connection->limited_behind_proxy_ = served.guard.is_proxied;
      if (!is_limited && !served.guard.is_proxied) this->expect_named_clients(*connection);
    }
    ++counters_.accepted;
    if (share_ != nullptr) share_->opened(now_);
    if (options_.connection_age_max > Duration{}) set_age(*connection);
    if (served.transforms == nullptr) [[likely]] {
      open_session(*connection, *served.protocol);
    } else if (!begin_opening(*connection, *served.protocol, *served.transforms)) {
      return false;
    }
    // A session that speaks first, or that ends at once. It is handled before the turn ends,
    // because the engine is in the middle of its accept.
    if (!connection->outbox_.empty() || connection->finishing() || connection->interrupted_) {
      connection->wake();
    }
    return true;
  }

  // Connections for which no link is free wait until one is: see note_room().
  KATANA_RARE void adopt_arrived() noexcept override {
    if (stopped_) return reset_arrived();
    while (const PassedConnection* const arrived = share_->first_arrived()) {
      if (this->links_open_ == options_.engine.links_max) return;
      const PassedConnection passed = *arrived;
      const Served& served = served_[passed.listener];
      if (const auto link = engine_.adopt(passed.socket); !link) {
        ++counters_.accept_failures;
        forget_client(passed, served);
      } else if (!begin(*link, served, passed)) {
        engine_.close(*link);
      }
      share_->drop_first();  // after it counts as open: it is counted throughout
    }
  }
  KATANA_RARE void reset_arrived() noexcept override {
    if (share_ == nullptr) return;
    while (const PassedConnection* const arrived = share_->first_arrived()) {
      ++counters_.cut_off;
      engine_.discard(arrived->socket);
      forget_client(*arrived, served_[arrived->listener]);
      share_->drop_first();
    }
  }
  void forget_client(const PassedConnection& passed, const Served& served) noexcept {
    if (passed.client == 0) return;
    if (served.transforms != nullptr) this->clients_->end_handshake(passed.client);
    this->clients_->leave(passed.client);
  }
  static bool contains(const NetworkSet& peers, const engine::PeerEndpoint& peer) noexcept {
    const auto address = peer.ip();
    return address ? peers.contains(*address) : peers.has_local();
  }
  // Random enough to spread them, and the same in every run of a simulation.
  void set_age(Connection& connection) noexcept {
    const std::uint64_t spread =
        (connection.link_.index + std::uint64_t{connection.link_.generation} * 7919) * 2654435761u;
    const std::int64_t tenth_ns = options_.connection_age_max.ns / 10;
    const std::int64_t earlier_ns =
        tenth_ns / 1024 * static_cast<std::int64_t>(spread >> 16 & 1023);
    const Instant deadline = now_ + nanoseconds(options_.connection_age_max.ns - earlier_ns);
    connection.extras().age_deadline = deadline;
    if (deadline < connection.armed_until_) connection.arm(deadline);
  }
  Result<void> listen_for(const engine::ListenOptions& options, Served served) {
    KATANA_REQUIRE(served.transforms == nullptr ||
                   served.protocol->session_bytes() >= sizeof(OpeningSession));
    KATANA_REQUIRE(sizeof(Connection) + served.protocol->session_bytes() <=
                   connection_blocks_.block_bytes());
    KATANA_REQUIRE(served_.size() < 256);  // the range of Connection::listener_
    auto listener = engine_.listen(options);
    if (!listener) return std::unexpected(listener.error());
    if (served_.size() <= *listener) served_.resize(*listener + 1);
    served_[*listener] = served;
    const TransformFactory* const via = served.transforms;
    const std::size_t sealed = via != nullptr ? via->heap_bytes_each() : 0;
    heap_bytes_each_ = std::max(heap_bytes_each_, served.protocol->heap_bytes_each() + sealed);
    shared_bytes_ = std::max(shared_bytes_, served.protocol->shared_bytes());
    return {};
  }

  void wake_engine() noexcept override { engine_.wake(); }

  void close_listeners() noexcept override { engine_.close_listeners(); }
  void hand_over(engine::Listener listener) noexcept override { engine_.hand_over(listener); }
  bool drained() const noexcept override {
    return this->links_drained() && !engine_.accepting() && this->tasks().size() == 0 &&
           (share_ == nullptr || !share_->expects());
  }

  std::vector<Served> served_;
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
