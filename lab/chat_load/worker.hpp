// Worker: one thread of chat load: its share of the connections, and the messages that they send
// and receive.
//
// The conductor (main.cpp) sets the phases. Every worker connects, and the receivers are probed
// until each has seen a message. Then all workers begin at the same instant, and end.
//
// Owns       its connections and figures.
// Borrows    the plan and the stage, until it is destroyed.
// Thread     run() is the thread; statistics() may be read when it has ended.
// Allocates  when made; buffers as they are needed.
// Fails      errors of a connection are counted, and the others go on.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lab/chat_load/ledger.hpp"
#include "lab/chat_load/plan.hpp"
#include "lab/chat_load/stamp.hpp"
#include "lab/load/histogram.hpp"

struct addrinfo;

namespace katana::chat_load {

// For each sender: the messages that it began, and the last that all staying receivers have had.
struct SenderEnd {
  std::uint64_t begun = 0;
  std::uint32_t heard = 0;
  bool broken = false;

  // The number of messages that every receiver that stayed should receive.
  std::uint64_t promised() const noexcept { return broken ? heard : begun; }
};

enum class Phase : std::uint8_t { connecting, probing, running, ended };

// The state that the threads share.
struct Stage {
  std::atomic<Phase> phase = Phase::connecting;
  std::atomic<std::int64_t> begin_ns = 0;
  std::atomic<std::uint32_t> settled = 0;         // connections that are open, or have failed
  std::atomic<std::uint32_t> failed = 0;          // the part of them that failed
  std::atomic<std::uint32_t> probes_seen = 0;     // receivers that are in
  std::atomic<std::uint32_t> done_sending = 0;    // threads
  std::atomic<std::uint64_t> sent = 0;            // of the threads that have ended
  std::atomic<std::uint32_t> done_receiving = 0;  // threads
  std::atomic<bool> interrupted = false;          // sending ends now, as if its time were over
};

struct Statistics {
  std::uint64_t connected = 0;
  std::uint64_t connect_failures = 0;
  std::uint64_t broken = 0;  // connections that ended before we did
  std::uint64_t sent = 0;    // messages that the kernel took whole
  std::uint64_t sent_bytes = 0;
  std::uint64_t unsent = 0;  // messages that were due and could not be sent in time
  std::uint64_t received_bytes = 0;
  std::uint64_t expected = 0;      // deliveries
  std::uint64_t told_dropped = 0;  // the part of them that the server said it dropped
  std::uint64_t told_lost = 0;     // and the part that it said was lost between servers
  std::uint64_t refused = 0;       // lines in which the server refuses one of ours
  std::uint64_t unknown_lines = 0;
  std::uint64_t delivered = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t out_of_order = 0;
  // The figures of receivers that stayed to the end. Every message of the others is promised to
  // each receiver. The exception is a message that was lost with its sender's server, if no such
  // receiver had any of it.
  std::uint64_t stayed = 0;
  std::uint64_t promised = 0;
  std::uint64_t kept = 0;              // the delivered part of it
  std::uint64_t told = 0;              // and told as dropped or lost
  std::uint64_t lost_with_server = 0;  // messages, once each; see above
  std::int64_t cpu_ns = 0;             // while it sent
  std::int64_t wall_ns = 0;            // the same
  std::int64_t delivering_ns = 0;      // from the begin to the last delivery
  load::Histogram latency;             // from the moment that a message was due
  load::Histogram send_lag;            // from that to the moment that the kernel had it
};

class Worker {
 public:
  // The connections `first`, `first` + step, …; an address for each target.
  Worker(const ChatPlan& plan, const std::vector<const addrinfo*>& addresses, Stage& stage,
         std::uint32_t first, std::uint32_t step);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void run();
  const Statistics& statistics() const noexcept { return statistics_; }
  // When all have ended: adds the facts that this thread knows of senders, and then the deliveries
  // that were promised to its receivers.
  void add_ends(std::vector<SenderEnd>& ends) const;
  void settle_accounts(const std::vector<SenderEnd>& ends);

 private:
  struct Connection {
    int fd = -1;
    std::uint32_t number = 0;
    std::uint32_t receiver = 0;  // in the ledger
    bool connecting = false;
    bool receives = false;
    bool sends = false;
    bool receiver_in = false;        // it has heard a probe of every server
    std::uint64_t probes_seen = 0;   // by target
    bool blocked = false;            // the kernel takes no more of its output
    std::uint64_t due = 0;           // messages that it should have sent by now
    std::uint64_t written = 0;       // messages in `output`, and before
    std::uint64_t output_bytes = 0;  // the bytes that the kernel took of all written ones
    std::string output;
    std::size_t output_at = 0;
    std::uint64_t told = 0;
    std::uint32_t history_left = 0;  // lines of the room's history that are to come
    std::string line;                // the beginning of one that has not ended
  };

  void connect_some();
  void fail_connect(Connection& connection);
  void on_connected(Connection& connection);
  void on_event(Connection& connection, std::uint32_t events);
  void close(Connection& connection);
  void watch(Connection& connection, bool output);
  void wait(std::int64_t until_ns);
  void probe(std::int64_t now);
  void begin();
  std::int64_t send_due(std::int64_t now);
  void fill(Connection& connection);
  void flush(Connection& connection);
  void note_sent(Connection& connection, std::size_t bytes, std::int64_t now);
  void end_sending();
  bool is_settled(std::int64_t now) const;
  void settle();
  void receive(Connection& connection);
  void read_lines(Connection& connection, std::string_view bytes, std::int64_t now);
  void read_line(Connection& connection, std::string_view line, std::int64_t now);
  void read_notice(Connection& connection, std::string_view line);

  const ChatPlan& plan_;
  const std::vector<const addrinfo*> addresses_;
  Stage& stage_;
  const std::uint32_t step_;
  int epoll_ = -1;
  std::vector<Connection> connections_;
  std::size_t next_connect_ = 0;
  std::uint32_t connecting_ = 0;
  std::uint32_t receivers_ = 0;
  std::unique_ptr<Ledger> ledger_;
  std::unique_ptr<char[]> input_;
  Statistics statistics_;
  std::int64_t next_probe_ns_ = 0;
  std::int64_t begin_ns_ = 0;
  std::int64_t cpu_began_ns_ = 0;
  std::uint64_t next_due_ = 0;  // index into the schedule of this thread's senders
  std::uint32_t senders_ = 0;
  std::int64_t sending_ended_ns_ = 0;
  std::int64_t last_delivery_ns_ = 0;
  bool done_sending_ = false;
  bool done_receiving_ = false;
};

}  // namespace katana::chat_load

// SPDX-License-Identifier: Apache-2.0
