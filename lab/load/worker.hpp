// Worker: one thread of load with its own connections, event loop and figures.
//
// A turn waits for events until the next thing is due and reads the input. It then sends the
// requests of the loop. In a closed loop these are the next requests of the connections that had
// replies. In an open loop they are the requests that the schedule makes due, on connections with
// room. Finally it looks at a share of the connections for timeouts. The clock is read once for
// each turn, each receive and each send.
//
// Owns       its connections and figures.
// Borrows    plan and target, until it is destroyed.
// Thread     run() is the thread. Functions under "from outside" may be called by the one thread
//            that made it; figures change hands at a flip, by release and acquire.
// Allocates  when made; later only for a head that is split over reads, at most 64 KiB each, and
//            for TLS handshakes.
// Fails      mistakes of servers are counted. Without epoll or descriptors run() ends with
//            problem().
// Invariant  a request that was sent ends in exactly one way (failure.hpp).
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/system/monotonic_clock.hpp"
#include "lab/load/connection.hpp"
#include "lab/load/descriptor.hpp"
#include "lab/load/figures.hpp"
#include "lab/load/http2_connection.hpp"
#include "lab/load/plan.hpp"
#include "lab/load/ring_queue.hpp"
#include "lab/load/target.hpp"
#include "lab/load/tls_connection.hpp"

struct epoll_event;

namespace katana::ws {
struct Frame;
}

namespace katana::load {

// The load of the generator itself, in the measured window.
struct OwnStatistics {
  std::int64_t wall_ns = 0;
  std::int64_t cpu_ns = 0;
  std::int64_t spun_ns = 0;       // the part of cpu_ns in the busy tail
  std::int64_t run_delay_ns = 0;  // able to run, and not given a CPU
  std::int64_t stall_max_ns = 0;  // longest that the loop was late by
  std::int64_t stalled_ns = 0;    // sum of those beyond stall_ns_min
  std::uint64_t stalls = 0;
  std::uint64_t in_flight_at_end = 0;
  std::uint64_t unsent = 0;     // open loop: due in the window, never sent
  std::uint64_t held_back = 0;  // open loop: sent late because no connection was free
  std::int64_t last_reply_ns = 0;
};

class Worker {
 public:
  static constexpr std::int64_t stall_ns_min = 10'000'000;

  Worker(const LoadPlan& plan, const Target& target, std::uint32_t index, Doorbell& doorbell);
  ~Worker();

  void run() noexcept;

  // From outside.
  bool is_ready() const noexcept { return ready_.load(std::memory_order_acquire); }
  bool is_done() const noexcept { return done_.load(std::memory_order_acquire); }
  // Begins at that instant, once for each run.
  void start(Instant begin) noexcept;
  // Ends now, without waiting for replies.
  void abandon() noexcept;
  // Asks for a flip: afterwards taken() has the counts up to it. is_flipped() says when.
  void flip() noexcept;
  bool is_flipped() const noexcept {
    return flips_done_.load(std::memory_order_acquire) ==
           flips_asked_.load(std::memory_order_relaxed);
  }
  Statistics& taken() noexcept {
    return statistics_[1 - flips_done_.load(std::memory_order_acquire) % 2];
  }
  // REQUIRES that the thread has ended.
  Statistics& rest() noexcept { return *now_; }
  const OwnStatistics& own() const noexcept { return own_; }
  const std::string& problem() const noexcept { return problem_; }
  // The parameters that the first TLS handshake agreed on, and the first error of a handshake of
  // TLS or WebSocket, or of TLS.
  std::string tls_agreed() const { return tls_ != nullptr ? tls_->agreed : std::string(); }
  const std::string& handshake_problem() const noexcept {
    return tls_ != nullptr ? tls_->problem : upgrade_problem_;
  }
  std::uint32_t open_count() const noexcept { return open_gauge_.load(std::memory_order_relaxed); }
  std::uint32_t in_flight_count() const noexcept {
    return in_flight_gauge_.load(std::memory_order_relaxed);
  }
  std::size_t memory_bytes_max() const noexcept;

 private:
  enum class Phase : std::uint8_t { opening, running, draining, ended };

  // The loop (worker.cpp).
  bool prepare();
  void turn();
  int wait(std::int64_t until_ns);
  std::int64_t next_wake_ns(std::int64_t now_ns) const noexcept;
  void note_stall(std::int64_t late_ns) noexcept;
  void obey() noexcept;
  void begin_run();
  void note_window();
  void advance_phase();
  void end_window();
  void finish();
  void publish_gauges() noexcept;
  void sweep();
  void look_after(Connection& connection);
  std::uint32_t connections_wanted() const noexcept;
  void follow_ramp();
  void retire(Connection& connection);
  void dispatch();
  void note_send_lag(std::int64_t due_ns);
  Connection* take_ready();
  void make_ready(Connection& connection);
  // Closed loop: it takes part at present.
  bool is_wanted(const Connection& connection) const noexcept { return connection.index < wanted_; }
  bool may_send() const noexcept { return phase_ == Phase::running && budget_ > 0; }
  std::int64_t read_clock() noexcept { return now_ns_ = monotonic_now().ns; }

  // Connections (worker_connections.cpp).
  void queue_open(Connection& connection);
  void open_queued();
  void open(Connection& connection);
  void settle_first(const Connection& connection) noexcept;
  bool is_counted() const noexcept { return phase_ == Phase::opening || is_window_noted_; }
  void on_established(Connection& connection);
  void note_connected(const Connection& connection);
  void become_open(Connection& connection);
  void on_event(const epoll_event& event);
  bool finish_connect(Connection& connection);
  void close(Connection& connection);
  void reopen(Connection& connection, bool after_failure);
  void fail_connect(Connection& connection, int error);
  template <class Visit>
  void for_each_in_flight(Connection& connection, Visit&& visit);
  void count_failure(const InFlight& request, Failure failure) noexcept;
  void fail_requests(Connection& connection, Failure failure);
  void withdraw_requests(Connection& connection);

  // Requests and replies (worker_requests.cpp).
  InFlight& place(const Connection& connection, std::uint32_t offset) noexcept;
  bool has_capacity(const Connection& connection) const noexcept;
  bool can_ask(const Connection& connection) const noexcept;
  void feed(Connection& connection);
  void feed_hungry();
  void push_request(Connection& connection, std::int64_t due_ns);
  void flush(Connection& connection);
  void on_write_error(Connection& connection, int error);
  long write_some(Connection& connection);
  void on_written(Connection& connection, std::size_t bytes);
  void note_written(Connection& connection, std::size_t bytes) noexcept;
  Bytes unwritten_octets(const Connection& connection, char* room) noexcept;
  long send_some(Connection& connection, Outbox& outbox);
  bool has_unsent(const Connection& connection) const noexcept;
  void receive(Connection& connection, bool until_end);
  void on_reset(Connection& connection);
  bool take(Connection& connection, Bytes bytes);
  bool take_all(Connection& connection, Bytes rest);
  bool take_step(Connection& connection, Bytes& input);
  void take_content(Answer& answer, Bytes content) const noexcept;
  bool end_reply(Connection& connection);
  void end_front(Connection& connection);
  void judge(const Answer& answer, const InFlight& request);
  void on_end(Connection& connection);
  void receive_again(Connection& connection);

  // TLS (worker_tls.cpp).
  TlsConnection& tls_of(const Connection& connection) const noexcept {
    return tls_->connections[connection.index];
  }
  bool begin_handshake(Connection& connection);
  bool end_handshake(Connection& connection);
  void fail_handshake(Connection& connection, std::string problem);
  const char* handshake_name() const noexcept {
    return tls_ != nullptr ? "TLS handshake" : "WebSocket handshake";
  }
  void flush_sealed(Connection& connection);
  bool seal_some(Connection& connection);
  Bytes unsealed(Connection& connection);
  bool unseal(Connection& connection, Bytes input);
  void on_tls_failed(Connection& connection);
  void say_end(Connection& connection);

  // WebSocket (worker_websocket.cpp).
  bool begin_upgrade(Connection& connection);
  bool take_upgrade(Connection& connection, Bytes& rest);
  bool take_messages(Connection& connection, Bytes rest);
  bool carry_on(Connection& connection, Bytes rest);
  bool take_message(Connection& connection, const ws::Frame& frame, Bytes payload);
  void send_pong(Connection& connection, Bytes payload);

  // HTTP/2 (worker_http2.cpp).
  Http2Connection& http2_of(const Connection& connection) const noexcept {
    return http2_->connections[connection.index];
  }
  void begin_stream(Connection& connection, const InFlight& request);
  void upload(Connection& connection);
  void flush_frames(Connection& connection);
  bool take_frames(Connection& connection, Bytes rest);
  bool take_frame(Connection& connection, const http2::ClientStep& step);
  bool end_frames(Connection& connection);
  void end_exchange(Connection& connection, Exchange& exchange);
  void end_stream(Connection& connection, Exchange& exchange);
  void lose_stream(Connection& connection, Exchange& exchange, Failure failure);
  void look_after_streams(Connection& connection);

  const LoadPlan& plan_;
  const Target& target_;
  const std::uint32_t index_;
  Doorbell& outer_doorbell_;
  Doorbell doorbell_;
  Descriptor epoll_;
  Schedule schedule_;
  std::unique_ptr<char[]> scratch_;
  std::vector<epoll_event> events_;
  std::vector<Connection> connections_;
  std::vector<InFlight> in_flight_;   // `pipeline` places for each connection
  std::unique_ptr<Http2Side> http2_;  // null: HTTP/1.1
  std::unique_ptr<TlsSide> tls_;      // null: without TLS
  RingQueue to_open_;
  RingQueue ready_ring_;  // open loop: connections with room
  std::vector<std::uint32_t> again_;
  std::vector<std::uint32_t> hungry_;  // closed loop: connections whose replies were read
  std::vector<std::uint32_t> again_now_;
  HeadMemo memo_;
  std::string upgrade_problem_;
  std::string problem_;

  Statistics statistics_[2];
  Statistics* now_ = &statistics_[0];
  OwnStatistics own_;
  std::int64_t now_ns_ = 0;
  std::int64_t turn_ns_ = 0;
  std::int64_t begin_ns_ = INT64_MAX;  // begin of the warm-up
  std::int64_t window_begin_ns_ = INT64_MAX;
  std::int64_t window_end_ns_ = INT64_MAX;
  std::int64_t drain_end_ns_ = INT64_MAX;
  std::int64_t opening_end_ns_ = 0;
  std::int64_t sweep_at_ns_ = 0;
  std::int64_t room_since_ns_ = 0;  // open loop: since when a connection has had room
  std::int64_t cpu_begin_ns_ = 0;
  std::int64_t run_delay_begin_ns_ = 0;
  bool is_window_noted_ = false;
  std::uint64_t budget_;
  std::uint32_t sweep_next_ = 0;
  std::uint32_t connecting_ = 0;
  std::uint32_t open_ = 0;
  std::uint32_t wanted_ = 0;  // the number of connections_ that are in use, from the first on
  std::uint32_t all_in_flight_ = 0;
  std::uint32_t unsettled_ = 0;  // connections that neither opened nor failed yet
  std::uint32_t next_request_ = 0;
  Phase phase_ = Phase::opening;

  std::atomic<bool> ready_{false};
  std::atomic<bool> done_{false};
  std::atomic<bool> abandon_{false};
  std::atomic<std::int64_t> start_ns_{0};
  std::atomic<std::uint32_t> flips_asked_{0};
  std::atomic<std::uint32_t> flips_done_{0};
  std::atomic<std::uint32_t> open_gauge_{0};
  std::atomic<std::uint32_t> in_flight_gauge_{0};
};

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
