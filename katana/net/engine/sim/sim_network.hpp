// SimNetwork: the clock, the dice and the wire that simulated engines and their clients share.
//
// Owns       virtual time, the queue of future events, the seed's generator, and a trace.
// Borrows    the hosts (engines) that attach to it. It must outlive hosts and clients.
// Allocates  per event; this is a test's tool.
// Thread     one, for the network and everything on it.
// Fails      never; a reactor that breaks the contract aborts, with seed, faults and trace on
//            stderr.
// Invariant  time never runs backwards; the same seed with the same calls gives the same trace.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/values/instant.hpp"
#include "katana/base/values/random.hpp"
#include "katana/net/engine/engine.hpp"
#include "katana/net/engine/sim/sim_faults.hpp"
#include "katana/net/engine/sim/sim_topology.hpp"

namespace katana::engine {

class SimConnection;

// The server's side of the wire: an engine, as the network sees it.
class SimHost {
 public:
  // Whether a client can connect to this port here.
  virtual bool listens_on(std::uint16_t port) const = 0;
  // A client connects; the host answers later by SimConnection.
  virtual void on_handshake(const std::shared_ptr<SimConnection>& connection,
                            std::uint16_t port) = 0;
  // Takes a connection from the queue of a listener that another host has left to this one.
  virtual void take_over(const std::shared_ptr<SimConnection>& connection, std::uint16_t port) = 0;
  // Whether work waits for the next turn, however little time passes.
  virtual bool has_work() const = 0;
  // Where it listens: a port of one host is not that of another.
  virtual SimAddress address() const { return 0; }

 protected:
  ~SimHost() = default;
};

class SimNetwork {
 public:
  using Action = std::function<void()>;  // the action of an event
  // Names an event for cancel(). Events of one moment run in the order in which they were made.
  struct EventKey {
    Instant at;                // virtual time
    std::uint64_t number = 0;  // order among events of one moment
    auto operator<=>(const EventKey&) const = default;
  };

  explicit SimNetwork(std::uint64_t seed) : SimNetwork(seed, SimFaults::random(seed)) {}
  SimNetwork(std::uint64_t seed, const SimFaults& faults, std::size_t trace_lines_max = 400);
  SimNetwork(const SimNetwork&) = delete;
  SimNetwork& operator=(const SimNetwork&) = delete;

  std::uint64_t seed() const noexcept { return seed_; }         // to run the same simulation again
  const SimFaults& faults() const noexcept { return faults_; }  // in force now
  // From now on; events under way stay as they were drawn.
  void set_faults(const SimFaults& faults) { faults_ = faults; }
  Random& random() noexcept { return random_; }
  std::uint32_t draw(SimRange range) noexcept {
    return static_cast<std::uint32_t>(random_.between(range.min, range.max));
  }
  bool chance(std::uint32_t per_1024) noexcept { return random_.chance(per_1024); }

  // ---- time ----------------------------------------------------------------------------------

  Instant now() const noexcept { return now_; }  // virtual time; moves by run_next() alone
  // Unix time: 2026-01-01T00:00:00Z at the first moment of the simulation.
  std::int64_t wall_clock_s() const noexcept;
  // The same by the clock of a host; see SimTopology::set_clock_skew().
  std::int64_t wall_clock_s(SimAddress host) const;

  // Runs at the end of `delay`.
  EventKey after(Duration delay, Action action) { return at(now_ + delay, std::move(action)); }
  EventKey at(Instant when, Action action);  // runs at `when`, or next if that has passed
  // As after(), for a wait on purpose, such as that of a server before it answers. quiescent() does
  // not wait for it.
  EventKey timer(Duration delay, Action action);
  // Ignored when the event has run.
  void cancel(EventKey key) {
    events_.erase(key);
    timers_.erase(key);
  }
  // Runs the next event at or before `until` and returns true; otherwise moves time on to `until`.
  bool run_next(Instant until);
  // Everything up to `until`, in order.
  void run_until(Instant until) {
    while (run_next(until)) {
    }
  }
  // No event is queued but timers, and no host has work: nothing will happen before the next timer.
  // Bytes are at rest while they wait for a paused link or for a client that does not read.
  bool quiescent() const;
  // Some host has work for its next turn, however little time passes.
  bool has_work() const;

  // ---- hosts and descriptors -----------------------------------------------------------------

  void attach(SimHost& host) { hosts_.push_back(&host); }
  void detach(SimHost& host) { std::erase(hosts_, &host); }
  // Whether an engine of that host listens on the port.
  bool listens_on(std::uint16_t port, SimAddress address = 0) const;
  // The hosts with numbers, and the paths between them.
  SimTopology& topology() noexcept { return topology_; }
  const SimTopology& topology() const noexcept { return topology_; }
  // Returns a port without a listener, on any host.
  std::uint16_t free_port();
  // Hands a handshake to one of the hosts that listen there; without one it is refused.
  void handshake(const std::shared_ptr<SimConnection>& connection, std::uint16_t port);
  // The same for a connection that waits for accept() in a listener that its host leaves.
  void hand_over(const std::shared_ptr<SimConnection>& connection, std::uint16_t port);
  // Returns a number for a connection between two engines, whose end belongs to neither.
  int detach(std::shared_ptr<SimConnection> connection);
  std::shared_ptr<SimConnection> attach(int number);
  std::uint64_t next_connection_number() noexcept { return ++connection_number_; }

  // The open ends of connections, which would be descriptors of a process. An end is in the set
  // from its accept or connect until its close. Ordered by connection, then by side.
  using Descriptors = std::set<std::pair<std::uint64_t, bool>>;
  // Open ends now; a test looks here for a leak. The reference follows later changes.
  const Descriptors& descriptors() const noexcept { return descriptors_; }
  // The end enters the set when an engine accepts or begins it; a second call changes nothing.
  void open_descriptor(std::uint64_t connection, bool is_server) {
    descriptors_.emplace(connection, is_server);
  }
  // The end leaves the set when it closes or resets; an end that is not open changes nothing.
  void close_descriptor(std::uint64_t connection, bool is_server) {
    descriptors_.erase({connection, is_server});
  }

  // The engine that watches `fd` for it calls its watcher once, in its next turn.
  void make_ready(int fd, Readiness ready = {.read = true});
  // Returns a number that no descriptor of the process has. `ask`, called with it, says what it is
  // ready for.
  int add_descriptor(std::function<Readiness(int fd)> ask);
  void forget_descriptor(int fd) { simulated_.erase(fd); }  // before its object goes
  // Sets the function that asks what a real descriptor (a socket, an eventfd) is ready for, as
  // poll(2) does without a timeout. The simulation itself makes no system call.
  void ask_ready_with(std::function<Readiness(int fd, Readiness wanted)> ask) {
    ask_ready_ = std::move(ask);
  }
  // The part of `wanted` that the descriptor is ready for.
  Readiness ready_for(int fd, Readiness wanted) const;
  // Takes back what make_ready() said.
  void clear_ready(int fd, Readiness told);

  // ---- trace ---------------------------------------------------------------------------------

  // `what` must be a literal. `subject` is the number of a connection, 0 for none.
  void note(const char* what, std::uint64_t subject, std::uint64_t value);
  // The last notes, one per line: virtual microseconds, connection, what, value.
  std::string trace() const;
  // Depends on every note since the start: equal digests mean equal runs.
  std::uint64_t trace_digest() const noexcept { return trace_digest_; }
  // Seed, faults and trace, for a report of a failure.
  std::string explain() const;
  // Aborts with explain() unless `holds`. For obligations of a reactor towards its engine.
  void require(bool holds, const char* obligation) const;

 private:
  SimHost* host_for(SimConnection& connection, std::uint16_t port);

  struct Note {
    Instant at;
    const char* what;
    std::uint64_t subject;
    std::uint64_t value;
  };

  std::uint64_t seed_;
  SimFaults faults_;
  Random random_;

  Instant now_;
  std::map<EventKey, Action> events_;
  std::set<EventKey> timers_;  // those of events_ that are timers
  std::uint64_t event_number_ = 0;

  SimTopology topology_;
  std::vector<SimHost*> hosts_;
  std::map<int, Readiness> ready_fds_;
  std::function<Readiness(int fd, Readiness wanted)> ask_ready_;
  std::map<int, std::function<Readiness(int fd)>> simulated_;
  int simulated_number_ = 0;
  std::uint16_t last_port_ = 40'000;
  std::uint64_t connection_number_ = 0;
  Descriptors descriptors_;
  std::map<int, std::shared_ptr<SimConnection>> detached_;
  int detached_number_ = 0;

  std::vector<Note> notes_;  // a ring once it holds trace_lines_max_
  std::size_t trace_lines_max_;
  std::size_t note_next_ = 0;
  std::uint64_t trace_digest_ = 0xcbf29ce484222325;
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
