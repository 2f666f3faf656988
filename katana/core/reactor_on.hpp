// ReactorOn<Engine>: the reactor on one engine. Instantiated once per engine, by the room that
// chooses one.
//
// Thread     its reactor's.
// Invariant  see Reactor. Whatever a session did in a call is settled right after it: output is
//            sent with one gathered send, an end is carried out, receiving is paused or resumed.
//            What it did outside of a call is settled before the turn ends (Connection::wake).
//
// The life of received bytes: on_bytes → offer (Session::on_bytes, as long as it makes progress) →
// settle (send) → what was not consumed is carried.
//
// With a transform: on_bytes → on_sealed (Transform::receive) → deliver, which is what happens to
// the bytes of a link without one; settle → flush → flush_sealed (Transform::seal). A connection
// without one pays a branch in on_bytes and one in flush.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "katana/base/check.hpp"
#include "katana/base/hints.hpp"
#include "katana/base/poison.hpp"
#include "katana/core/opening_session.hpp"
#include "katana/core/reactor.hpp"
#include "katana/core/records.hpp"

namespace katana::core {

template <template <class> class EngineOf>
class ReactorOn final : public Reactor {
 public:
  // `engine_arguments` go to the engine's constructor after its options and sink.
  template <class... EngineArguments>
  ReactorOn(const ReactorOptions& options, std::size_t session_bytes_max,
            EngineArguments&&... engine_arguments)
      : Reactor(options, Instant{}),
        connection_blocks_(sizeof(Connection) + session_bytes_max, options.engine.links_max),
        connections_(options.engine.links_max),
        engine_(options.engine, *this, engine_arguments...) {
    static_assert(engine::Engine<EngineOf<ReactorOn>>);
    note_time();
  }

  ~ReactorOn() override {
    for (Connection* const connection : connections_) {
      if (connection != nullptr) destroy(*connection, Cause::cut_off);
    }
    attachments_.clear();  // what they wait for is not to be waited for here
    receive_expected();
  }

  Instant read_clock() const noexcept override {
    if constexpr (requires { engine_.read_clock(); }) return engine_.read_clock();
    return now_;
  }
  MemoryBudget memory_budget() const noexcept override {
    const std::size_t each = connection_blocks_.block_bytes() + heap_bytes_each_;
    return {each * connection_blocks_.capacity(),
            output_blocks_.block_bytes() * output_blocks_.capacity(),
            carry_pools_.small.block_bytes() * carry_pools_.small.capacity() +
                carry_pools_.large.block_bytes() * carry_pools_.large.capacity(),
            engine_.memory_bytes(),
            memory_.bytes_max(),
            shared_bytes_};
  }

  MemoryBudget memory_used() const noexcept override {
    return {used(connection_blocks_),
            used(output_blocks_),
            used(carry_pools_.small) + used(carry_pools_.large),
            engine_.memory_bytes(),
            memory_.used(),
            0};
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

  std::uint16_t port(engine::Listener listener) const override { return engine_.port(listener); }
  int socket(engine::Listener listener) const override { return engine_.socket(listener); }
  Result<void> watch(int fd, engine::Watcher& watcher) override {
    return engine_.watch(fd, watcher);
  }
  void unwatch(int fd) override { engine_.unwatch(fd); }

  void turn(Duration wait_max) override {
    current_ = this;
    enter(this);
    const bool due = first_woken_ != nullptr || first_backlog_ != nullptr ||
                     first_deferred_ != nullptr || !waiting_.empty() || keeps() || should_spin();
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
    // The last connection may have ended just now, and then nothing would end the next wait.
    if (draining_ && drained()) stopped_ = true;
    busy_since_ns_.store(never.ns, std::memory_order_relaxed);
  }

  EngineOf<ReactorOn>& engine() noexcept { return engine_; }

  // ---- what the engine calls

  void on_turn(Instant) noexcept {
    note_time();
    busy_since_ns_.store(now_.ns, std::memory_order_relaxed);
    ++counters_.turns;
    renew_budget();
    openings_left_ = options_.openings_per_turn_max;
    if (!waiting_.empty()) admit_waiting();
  }

  bool on_accepted(engine::Link link, engine::Listener listener,
                   const engine::PeerEndpoint& peer) noexcept {
    // Whoever limits, logs or trusts by address would have to pass over it.
    if (peer.family == engine::PeerEndpoint::Family::none) [[unlikely]] {
      ++counters_.peers_unknown;
      return false;
    }
    Connection* const connection = &add_connection(link);
    connection->peer_ = peer;
    connection->listener_ = static_cast<std::uint8_t>(listener);
    ++counters_.accepted;
    const Served& served = served_[listener];
    if (served.transforms == nullptr) [[likely]] {
      open_session(*connection, *served.protocol);
    } else if (!begin_opening(*connection, served)) {
      return false;
    }
    // A session that speaks first, or not at all: settled before the turn ends, because the engine
    // is in the midst of its accept.
    if (!connection->outbox_.empty() || connection->finishing() || connection->interrupted_) {
      connection->wake();
    }
    return true;
  }

  void on_bytes(engine::Link link, Bytes bytes) noexcept {
    Connection& connection = *connections_[link.index];
    counters_.bytes_received += bytes.size();
    connection.counters_.bytes_received += bytes.size();
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

  void on_sent(engine::Link link, std::size_t count) noexcept {
    Connection& connection = *connections_[link.index];
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

  void on_closed(engine::Link link, engine::Closed closed) noexcept {
    Connection& connection = *connections_[link.index];
    if (connection.transform_ != nullptr && !connection.input_ended_ && !connection.finishing()) {
      connection.input_truncated_ = true;
      connection.transform_->cut(TransformCut::input_ended);
    }
    if (closed == engine::Closed::link || connection.lingering()) {
      note_failure(connection);
      destroy(connection, closed == engine::Closed::link ? Cause::link_lost : Cause::linger_ends);
      return;
    }
    if (end_input(connection)) update_receive(connection);
  }

  void on_accept_failed(engine::AcceptFailure) noexcept {
    ++counters_.accept_failures;
    timers_.arm(accept_retry_, now_ + options_.accept_retry);
  }

 private:
  Connection& add_connection(engine::Link link) noexcept {
    char* const block = connection_blocks_.take();
    KATANA_CHECK(block != nullptr);  // there is one for every link
    auto* const connection = new (block) Connection(*this, link);
    connections_[link.index] = connection;
    ++links_open_;
    return *connection;
  }

  using Cause = ConnectionCause;
  // Rounds of sealing and sending in one go.
  static constexpr int sealed_rounds_max = 16;
  // What may be pending beyond sealed_high_bytes: a record, and what the transform says of itself.
  static constexpr std::size_t sealed_slack_bytes = 64 * 1024;
  struct Offered {
    std::size_t consumed;
    bool alive;
  };
  // What a listener's connections are made of.
  struct Served {
    Protocol* protocol = nullptr;
    TransformFactory* transforms = nullptr;
  };
  static void open_session(Connection& connection, Protocol& protocol) noexcept {
    connection.enter(Cause::opened);
    connection.session_ = protocol.open(&connection + 1, connection);
  }
  struct AcceptRetry : TimerEntry {
    explicit AcceptRetry(ReactorOn& owner) noexcept
        : TimerEntry([](TimerEntry& entry) noexcept {
            static_cast<AcceptRetry&>(entry).reactor.engine_.resume_accept();
          }),
          reactor(owner) {}
    ReactorOn& reactor;
  };

  Result<void> listen_for(const engine::ListenOptions& options, Served served) {
    KATANA_REQUIRE(served.transforms == nullptr ||
                   served.protocol->session_bytes() >= sizeof(OpeningSession));
    KATANA_REQUIRE(sizeof(Connection) + served.protocol->session_bytes() <=
                   connection_blocks_.block_bytes());
    KATANA_REQUIRE(served_.size() < 256);  // what Connection::listener_ counts
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

  // False: the connection is gone.
  bool end_input(Connection& connection) noexcept {
    connection.input_ended_ = true;
    if (connection.finishing()) return true;
    // What came before the end goes first: it may be carried since a handler answered in this turn.
    if (!connection.paused() && !offer_carried(connection)) return false;
    // Unless the session has yet to be offered the rest, in which case it is told after that.
    const bool more =
        !connection.carry_.empty() && !connection.paused() && connection.writable_due_;
    if (!connection.finishing() && !more) connection.session_->on_input_end();
    return flush_and_update(connection);
  }

  // Rounds of "sent, so there is room, so there is more to send" in one go: a fast reader of an
  // endless reply must not keep the turn to itself, and beside others it sends outbox_high_bytes.
  // In the last of so many the session is not asked for more.
  static constexpr int writable_rounds_max = 17;
  static constexpr int writable_rounds_shared = 2;

  static std::size_t used(const BlockPool& pool) noexcept {
    return (pool.capacity() - pool.available()) * pool.block_bytes();
  }

  void note_time() noexcept {
    now_ = engine_.now();
    wall_clock_s_ = engine_.wall_clock_s();
  }

  // Bytes for the session. False: the connection is gone.
  [[gnu::always_inline]] bool deliver(Connection& connection, Bytes bytes) noexcept {
    const bool direct = connection.carry_.empty() && !connection.paused();
    if (direct) {
      const Offered offered = offer(connection, bytes, writable_rounds_max);
      if (!offered.alive) return false;
      bytes.remove_prefix(offered.consumed);
    }
    if (!bytes.empty() && !keep(connection, bytes)) return false;
    return direct || connection.paused() || offer_carried(connection);
  }

  // ---- with a transform

  void prepare_transforms() {
    if (buffers_ != nullptr) return;
    buffers_ = std::make_unique<TransformBuffers>(options_.engine.receive_bytes_max);
  }

  // False: there is none to be had, and the connection is gone. The engine closes the link.
  bool begin_opening(Connection& connection, const Served& served) noexcept {
    connection.transform_ = served.transforms->make(output_blocks_);
    connection.session_ = new (&connection + 1) OpeningSession(connection, *served.protocol);
    if (connection.transform_ != nullptr) return true;
    const engine::Link link = connection.link_;
    release(connection, Cause::cut_off);
    connections_[link.index] = nullptr;
    return false;
  }

  // Bytes of a link that has a transform.
  [[gnu::noinline]] void on_sealed(Connection& connection, Bytes bytes) noexcept {
    if (!unseal(connection, bytes)) return;
    // What it has to say of itself: a handshake, an alert, new keys.
    const Outbox& output = connection.transform_->output();
    if (!output.empty() && !connection.send_pending_ && !flush_sealed(connection)) return;
    if (output.pending() > options_.sealed_high_bytes + sealed_slack_bytes) {
      destroy(connection, Cause::cut_off);  // it makes us talk, and does not listen
      return;
    }
    if (flush_and_update(connection)) update_receive(connection);
  }

  // False: the connection is gone.
  bool unseal(Connection& connection, Bytes bytes) noexcept {
    std::vector<char>& plain = buffers_->plain;
    while (!connection.finishing()) {
      const Lending lent(plain.data(), plain.size());
      const TransformStep step = connection.transform_->receive(bytes, plain, now_);
      bytes.remove_prefix(step.consumed);
      switch (step.event) {
        case TransformEvent::need_bytes: return true;
        case TransformEvent::bytes:
          if (!deliver(connection, {plain.data(), step.produced})) return false;
          if (bytes.empty() && step.produced < plain.size()) return true;
          break;
        case TransformEvent::costly:
          if (openings_left_ == 0) return wait_for_turn(connection, bytes);
          --openings_left_;
          connection.transform_->admit();
          break;
        case TransformEvent::opened: end_opening(connection); break;
        case TransformEvent::ended: return connection.input_ended_ || end_input(connection);
        case TransformEvent::failed:
          connection.outbox_.clear();  // there is nothing any more that it could go through
          // Of ours nobody waits for a reply that a reset could destroy.
          connection.finish(connection.outgoing_ ? Finish::close : Finish::linger);
          break;
      }
    }
    return true;
  }

  void end_opening(Connection& connection) noexcept {
    auto* const opening = static_cast<OpeningSession*>(connection.session_);
    Protocol& protocol = opening->open();
    opening->~OpeningSession();
    connection.deadline_ = never;
    open_session(connection, protocol);
  }

  // It may not go on in this turn. What came behind is carried, sealed as it is: there is no
  // session yet that could have anything carried.
  KATANA_RARE bool wait_for_turn(Connection& connection, Bytes bytes) noexcept {
    if (!bytes.empty() && !keep(connection, bytes)) return false;
    connection.pause(PauseReason::opening);
    waiting_.push(*connection.transform_, connection);
    ++counters_.openings_delayed;
    return true;
  }

  KATANA_RARE void admit_waiting() noexcept {
    while (openings_left_ != 0 && !waiting_.empty()) {
      Connection& connection = waiting_.pop();
      KATANA_CHECK(connection.carry_.bytes().size() <= buffers_->waited.size());
      connection.resume(PauseReason::opening);
      const Bytes carried = connection.carry_.bytes();
      std::ranges::copy(carried, buffers_->waited.begin());
      const Bytes bytes(buffers_->waited.data(), carried.size());
      connection.carry_.clear();
      on_sealed(connection, bytes);
    }
  }

  // Seals what is pending, as much as the peer may be behind, and sends it. False: the connection
  // is gone. REQUIRES that no send is pending.
  [[gnu::noinline]] bool flush_sealed(Connection& connection) noexcept {
    Outbox& output = connection.transform_->output();
    for (int round = 0; round < sealed_rounds_max; ++round) {
      if (round != 0 && budget_spent() && !connection.outbox_.empty()) break;
      if (!connection.outbox_.empty() && !seal(connection, output)) return false;
      if (output.empty()) return true;
      if (!send(connection, output)) return false;
      if (connection.send_pending_) return true;
    }
    connection.join_backlog();  // a long file and a fast reader
    return true;
  }

  // False: the connection is gone.
  bool seal(Connection& connection, Outbox& output) noexcept {
    while (!connection.outbox_.empty() && output.pending() < options_.sealed_high_bytes) {
      const Bytes record = next_record(connection.outbox_, buffers_->record);
      if (record.empty()) {
        ++counters_.file_failures;  // it is shorter than what its reply said
        destroy(connection, Cause::cut_off);
        return false;
      }
      const std::size_t sealed = connection.transform_->seal(record);
      if (sealed == 0 && !connection.transform_->can_seal()) {
        connection.outbox_.clear();
        connection.finish(Finish::linger);
        return true;
      }
      if (sealed == 0) {
        // Blocks are scarce: whoever gives some back wakes it. It has the peer's time and no more.
        connection.pause(PauseReason::pool_low);
        connection.blocks_wanted_ = connection.transform_->output().empty();
        if (connection.send_deadline_ == never) {
          set_send_deadline(connection, now_ + options_.send_timeout);
        }
        return true;
      }
      connection.blocks_wanted_ = false;
      connection.outbox_.advance(sealed);
    }
    return true;
  }

  // Offers `bytes` as long as the session takes some and may go on. It may go on at once when it
  // stopped for a full outbox and the peer took all of that, but no more than `rounds` times.
  Offered offer(Connection& connection, Bytes bytes, int rounds) noexcept {
    std::size_t consumed = 0;
    for (;;) {
      const std::size_t used = connection.session_->on_bytes(bytes.substr(consumed));
      KATANA_CHECK(used <= bytes.size() - consumed);
      consumed += used;
      const bool was_paused = connection.paused();
      if (connection.finishing() && consumed < bytes.size()) connection.input_unread_ = true;
      if (!flush_and_update(connection)) return {consumed, false};
      if (connection.finishing()) return {bytes.size(), true};
      if (consumed == bytes.size() || connection.paused()) return {consumed, true};
      if (connection.take_session_replaced()) continue;  // the rest is its replacement's
      if (was_paused ? --rounds == 0 || budget_spent() : used == 0) return {consumed, true};
    }
  }

  // False: the connection is gone.
  KATANA_RARE bool offer_carried(Connection& connection) noexcept {
    if (connection.carry_.empty()) return true;
    const Offered offered = offer(connection, connection.carry_.bytes(), 1);
    if (!offered.alive) return false;
    if (connection.finishing()) {
      connection.carry_.clear();
    } else {
      connection.carry_.consume(offered.consumed);
    }
    return true;
  }

  KATANA_RARE bool keep(Connection& connection, Bytes bytes) noexcept {
    if (connection.carry_.append(bytes)) return true;
    ++counters_.pool_exhausted;
    destroy(connection, Cause::cut_off);
    return false;
  }

  KATANA_RARE void drop(Connection& connection, Bytes bytes) noexcept {
    connection.input_unread_ = true;
    std::uint32_t& dropped = connection.counters_.bytes_dropped;
    dropped += static_cast<std::uint32_t>(bytes.size());
    if (dropped > options_.linger_bytes_max) destroy(connection, Cause::linger_ends);
  }

  // The turn has sent enough, and what is pending waits for a later one.
  bool defers(Connection& connection, std::size_t pending) noexcept {
    return budget_spent() && pending > options_.output_block_bytes && defer_output(connection);
  }
  KATANA_RARE bool defer_output(Connection& connection) noexcept {
    ++counters_.output_deferrals;
    connection.join_backlog();
    return true;
  }

  // Sends what is pending and carries out an end. False: the connection is gone.
  bool flush_and_update(Connection& connection) noexcept {
    if (connection.interrupted_ && !interrupt(connection)) return false;
    if (!connection.outbox_.empty() && !connection.send_pending_) {
      if (defers(connection, connection.outbox_.pending())) [[unlikely]]
        return true;
      if (!flush(connection)) return false;
    }
    if (connection.finishing() && connection.outbox_.empty() && !connection.lingering()) {
      return end(connection);
    }
    const bool waits = connection.waits_until_writable() || connection.writable_wanted_;
    if (waits && !connection.finishing()) [[unlikely]]
      offer_writable(connection);
    return true;
  }

  // A reset, another session, or the first word of a transform. False: the connection is gone.
  KATANA_RARE bool interrupt(Connection& connection) noexcept {
    while (connection.interrupted_) {  // whoever opens may end it, or make room for yet another
      if (connection.state_ == ConnectionState::resetting) {
        destroy(connection, Cause::cut_off);
        return false;
      }
      connection.interrupted_ = false;
      if (connection.replacement_ != nullptr) {
        replace_session(connection);
      } else {
        if (!unseal(connection, {})) return false;
        if (!flush_sealed(connection)) return false;
      }
    }
    return true;
  }

  void replace_session(Connection& connection) noexcept {
    const std::unique_ptr<SessionReplacement> replacement = std::move(connection.replacement_);
    if (connection.finishing()) return;
    KATANA_REQUIRE(sizeof(Connection) + replacement->session_bytes() <=
                   connection_blocks_.block_bytes());
    connection.session_->~Session();
    // Those that are about output are the connection's, whoever has written it.
    connection.pause_reasons_ &= static_cast<std::uint8_t>(PauseReason::outbox_full) |
                                 static_cast<std::uint8_t>(PauseReason::pool_low);
    connection.writable_wanted_ = connection.writable_due_ = false;
    connection.session_replaced_ = true;
    connection.session_ = replacement->open(&connection + 1, connection);
    connection.wake();  // it is offered what waits, and told that the input has ended
  }

  bool flush(Connection& connection) noexcept {
    if (connection.transform_ != nullptr) [[unlikely]]
      return flush_sealed(connection);
    return send(connection, connection.outbox_);
  }

  // Sends `outbox`, which is not empty: the connection's, or its transform's. False: the connection
  // is gone.
  [[gnu::always_inline]] bool send(Connection& connection, Outbox& outbox) noexcept {
    std::array<iovec, gather_max> parts;
    do {
      const std::size_t count = outbox.gather(parts);
      std::size_t accepted = 0;
      if (outbox.has_files()) [[unlikely]] {
        if (const FilePart file = outbox.file_behind(count); file.size != 0) {
          return flush_file(connection, {parts.data(), count}, file);
        }
      }
      const engine::Sent sent = engine_.send(connection.link_, {parts.data(), count}, accepted);
      if (sent == engine::Sent::failed) {
        note_failure(connection);
        destroy(connection, Cause::link_lost);
        return false;
      }
      note_send(connection, outbox, sent, accepted);
      if (sent == engine::Sent::pending) return true;
    } while (!outbox.empty());
    return true;
  }

  // `before`, and the file behind it. What is left after that waits for the others: whoever reads a
  // long file fast does not keep the turn to itself.
  KATANA_RARE bool flush_file(Connection& connection, std::span<const iovec> before,
                              const FilePart& file) noexcept {
    std::size_t accepted = 0;
    const engine::Sent sent = engine_.send_file(connection.link_, before, file, accepted);
    if (sent == engine::Sent::failed) {
      // Perhaps the file is shorter than what its reply said: the peer must not take the end of the
      // connection for the end of the reply.
      ++counters_.file_failures;
      destroy(connection, Cause::cut_off);
      return false;
    }
    note_send(connection, connection.outbox_, sent, accepted);
    if (sent == engine::Sent::completed && !connection.outbox_.empty()) connection.join_backlog();
    return true;
  }

  void note_send(Connection& connection, Outbox& outbox, engine::Sent sent,
                 std::size_t accepted) noexcept {
    if (sent == engine::Sent::pending) {
      connection.send_pending_ = true;
      if (connection.send_deadline_ == never) {
        set_send_deadline(connection, now_ + options_.send_timeout);
      }
    }
    note_sent(connection, outbox, accepted);
  }

  // The outbox is sent and the session has finished. With bytes of the peer that were not read, in
  // the carry or in a socket that is not being read, closing would reset the connection.
  KATANA_RARE bool end(Connection& connection) noexcept {
    if (connection.transform_ != nullptr) {
      connection.transform_->seal_end();
      if (!connection.send_pending_ && !flush_sealed(connection)) return false;
      if (!connection.transform_->output().empty()) return true;  // on_sent() comes back
    }
    const bool unread =
        connection.input_unread_ || connection.receive_paused_ || !connection.carry_.empty();
    if (!unread || connection.input_ended_) {
      destroy(connection, Cause::sent);
      return false;
    }
    connection.enter(Cause::sent_unread);
    connection.send_pending_ = true;  // nothing is sent after the end of our side
    connection.carry_.clear();
    connection.pause_reasons_ = 0;
    // Not the session's deadline, which is still the session's to set.
    set_send_deadline(connection, now_ + options_.linger_timeout);
    engine_.shutdown_send(connection.link_);
    update_receive(connection);
    return true;
  }

  // Receiving is off while the session is paused, and while it has carried bytes that wait for its
  // next turn: more would be carried on top of them. A pending handler alone leaves it on until a
  // block is full, so that a peer that leaves is noticed.
  void update_receive(Connection& connection) noexcept {
    if ((connection.pause_reasons_ | unsigned{connection.receive_paused_} |
         unsigned{connection.writable_due_} | memory_.strain()) == 0) {
      return;
    }
    change_receive(connection);
  }
  KATANA_RARE void change_receive(Connection& connection) noexcept {
    if (memory_.strain() != 0) ease_memory(connection);
    const unsigned hard =
        connection.pause_reasons_ & ~static_cast<unsigned>(PauseReason::handler_pending);
    const bool full =
        connection.paused() && connection.carry_.bytes().size() >= options_.carry_small_bytes;
    const bool carries_behind_output = connection.writable_due_ && !connection.carry_.empty();
    const bool pause = hard != 0 || full || carries_behind_output;
    if (connection.has(PauseReason::pool_low)) connection.wait_for_blocks();
    if (pause == connection.receive_paused_) return;
    connection.receive_paused_ = pause;
    if (pause) {
      engine_.pause_receive(connection.link_);
    } else {
      engine_.resume_receive(connection.link_);
    }
  }

  // Those that have more to send than what was sent at once, in turn: each gets one round while
  // others wait.
  KATANA_RARE void run_backlog() noexcept {
    renew_budget();
    running_backlog_ = true;
    for (std::size_t left = backlog_count_; left != 0 && !budget_spent(); --left) {
      Connection* const connection = pop_backlog();
      if (connection == nullptr) break;
      run_pending(*connection);
    }
    running_backlog_ = false;
  }

  // A woken connection: its deadlines, the room it gained, the bytes that wait, the output it made.
  void run_pending(Connection& connection) noexcept {
    if (!meet_deadlines(connection)) return;
    const bool sealed = connection.transform_ != nullptr && !connection.send_pending_ &&
                        !connection.transform_->output().empty();
    if (sealed && !flush_sealed(connection)) return;
    run_pending_output(connection);
  }

  void run_pending_output(Connection& connection) noexcept {
    const int rounds = first_backlog_ == nullptr ? writable_rounds_max : writable_rounds_shared;
    for (int round = 0; round < rounds; ++round) {
      if (!flush_and_update(connection)) return;
      if (connection.finishing()) {
        connection.writable_due_ = false;  // nobody waits for it any more
        break;
      }
      if (connection.writable_due_) {
        // What it would write now could not be sent in this round.
        if (round + 1 == rounds || budget_spent()) break;
        connection.writable_due_ = false;
        connection.session_->on_writable();
        continue;
      }
      if (connection.paused()) break;
      const std::size_t carried = connection.carry_.bytes().size();
      if (!offer_carried(connection)) return;
      if (connection.carry_.bytes().size() == carried && !connection.writable_due_) break;
    }
    if (connection.writable_due_) connection.join_backlog();
    if (connection.input_ended_ && !connection.writable_due_ && !connection.paused() &&
        !connection.finishing()) {
      connection.session_->on_input_end();
      if (!flush_and_update(connection)) return;
    }
    update_receive(connection);
  }

  // False: the connection is gone.
  bool meet_deadlines(Connection& connection) noexcept {
    if (now_ >= connection.send_deadline_) {
      counters_.send_timeouts += connection.lingering() ? 0 : 1;
      destroy(connection, connection.lingering() ? Cause::linger_ends : Cause::cut_off);
      return false;
    }
    if (now_ >= connection.deadline_) {
      connection.deadline_ = never;
      if (!connection.lingering()) connection.session_->on_deadline();
    }
    const Instant earliest = std::min(connection.deadline_, connection.send_deadline_);
    if (earliest < connection.armed_until_) connection.arm(earliest);
    return true;
  }

  KATANA_RARE void note_failure(Connection& connection) noexcept {
    if (!connection.outgoing_) return;
    connection.failure_ = static_cast<std::uint16_t>(engine_.failure(connection.link_));
  }

  // The engine first: until it has closed the link it may borrow bytes of the outbox.
  KATANA_RARE void destroy(Connection& connection, Cause cause) noexcept {
    const engine::Link link = connection.link_;
    if (cause == Cause::cut_off) {
      engine_.reset(link);
    } else {
      engine_.close(link);
    }
    release(connection, cause);
    connections_[link.index] = nullptr;
    if (accept_retry_.armed()) timers_.arm(accept_retry_, now_);  // a descriptor is free
  }

  void release(Connection& connection, Cause cause) noexcept {
    KATANA_CHECK(state_after(connection.state_, cause) == ConnectionState::closed);
    connection.session_->~Session();
    if (preferred_ == &connection) preferred_ = nullptr;
    forget_queued(connection);
    if (connection.transform_ != nullptr) waiting_.remove(*connection.transform_);
    connection.~Connection();
    connection_blocks_.give(reinterpret_cast<char*>(&connection));
    --links_open_;
    ++counters_.closed;
  }

  void wake_engine() noexcept override { engine_.wake(); }
  std::span<Connection* const> links() const noexcept override { return connections_; }
  void reset_link(Connection& connection) noexcept override { destroy(connection, Cause::cut_off); }

  void close_listeners() noexcept override { engine_.close_listeners(); }
  bool drained() const noexcept override { return links_open_ == 0 && !engine_.accepting(); }

  BlockPool connection_blocks_;
  std::vector<Connection*> connections_;
  std::vector<Served> served_;
  std::size_t heap_bytes_each_ = 0;  // the most of all listeners'
  std::size_t shared_bytes_ = 0;
  std::unique_ptr<TransformBuffers> buffers_;  // null: no listener has transforms
  WaitingTransforms waiting_;
  std::uint32_t openings_left_ = 0;  // in this turn
  EngineOf<ReactorOn> engine_;
  AcceptRetry accept_retry_{*this};
};

}  // namespace katana::core
