// SimKernel: the simulated kernel of one engine: the part of SimEngine that does not depend on its
// Sink.
//
// Owns       links, listeners, and the completions that have not been delivered.
// Borrows    the network; watchers until unwatch(); the bytes of send(), until on_sent() or
//            close().
// Allocates  per event; this is a test's tool.
// Thread     the network's; wake() any.
// Fails      listen() and watch() return an Error. A reactor that breaks the contract aborts
//            (SimNetwork::require).
// Invariant  no Sink call outside turn(); none for a paused, broken or closed link.
//
// A link's events on their way to the Sink. Each arrow may take its time and be reordered against
// other links. A completion that finds its link gone is late: it dies there.
//
//   bytes ──look──> receive ───────────> on_bytes     paused meanwhile: the bytes go back
//             └─ no buffer: retry
//   end, break ───> input_end, broken ─> on_closed
//   send(), lent ─> take ──> sent ─────> on_sent(n)   the bytes are read at `take`, checked at both
//   send(), short ─────────> sent ─────> on_sent(0)   once there is room
//
// sim_kernel.cpp has the reactor's calls; sim_turn.cpp has turn() and the delivery of the events.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "katana/base/values/file_part.hpp"
#include "katana/net/engine/engine.hpp"
#include "katana/net/engine/sim/sim_connection.hpp"
#include "katana/net/engine/sim/sim_network.hpp"

namespace katana::engine {

// Counts of events. A test checks with them that it met the case that it tests.
struct SimCounters {
  std::uint64_t stale_calls = 0;       // calls for a link that was gone; they had no effect
  std::uint64_t late_completions = 0;  // of links that were gone; they had no effect
  std::uint64_t held_for_pause = 0;    // bytes that were under way when their link was paused
  std::uint64_t fragments = 0;         // on_bytes() with less than there was
  std::uint64_t ring_exhausted = 0;    // deliveries that were postponed: no receive buffer was free
  std::uint64_t multishot_ends = 0;    // receives that ended though their link goes on
  std::uint64_t spurious_turns = 0;    // turns with nothing to do
  std::uint64_t sends_completed = 0;   // everything was taken at once
  std::uint64_t sends_copied = 0;      // completed though there was no room
  std::uint64_t sends_short = 0;       // a part was taken at once
  std::uint64_t sends_lent = 0;        // pending, and the bytes are read later
  std::uint64_t sends_blocked = 0;     // pending, and ended by on_sent(0)
  std::uint64_t sends_failed = 0;      // for links that were gone
  std::uint64_t files_sent = 0;        // parts, or the rest of one, taken to their end
  std::uint64_t files_short = 0;       // taken in part, with and without room for more
  std::uint64_t accept_failures = 0;   // reported by on_accept_failed()
  std::uint64_t handshakes_dropped = 0;  // queue full or listener closing; the client retries
};

class SimKernel : public SimHost, private SimEnd {
 public:
  SimKernel(const SimKernel&) = delete;
  SimKernel& operator=(const SimKernel&) = delete;

  // ---- the contract, see engine.hpp ----------------------------------------------------------

  Result<void> start();                                   // cannot fail
  Result<Listener> listen(const ListenOptions& options);  // an Error: the port is taken
  // The port of a listener in the simulated network.
  std::uint16_t port(Listener listener) const { return listeners_[listener].port; }
  int socket(Listener) const { return -1; }  // there is no descriptor
  // An address of address_text() is that of its host; every other one that of host 0.
  Result<Link> connect(const ConnectOptions& options);
  // Returns a number of the network, not a descriptor.
  int detach(Link link);
  Result<Link> adopt(int socket);
  void discard(int socket);
  int failure(Link link);
  void pause_accept() { accept_paused_ = true; }
  void resume_accept() { accept_paused_ = false; }
  void close_listeners();
  void hand_over(Listener listener) { listeners_[listener].handed_over = true; }
  bool accepting() const;
  Sent send(Link link, std::span<const iovec> gathered, std::size_t& accepted);
  Sent send_file(Link link, std::span<const iovec> before, const FilePart& part,
                 std::size_t& accepted);
  void pause_receive(Link link);
  void resume_receive(Link link);
  void limit_receive(Link link, std::size_t bytes);
  void shutdown_send(Link link);
  void close(Link link);
  void reset(Link link);
  Result<void> watch(int fd, Readiness wanted, Watcher& watcher);
  void unwatch(int fd);
  void wake() noexcept { woken_.store(true, std::memory_order_release); }
  // A turn takes some virtual time even when it does not wait: a loop of turns always makes
  // progress. Waits at most an hour.
  void turn(Duration wait_max);
  Instant now() const noexcept { return now_; }
  std::int64_t wall_clock_s() const noexcept { return wall_clock_s_; }
  std::size_t memory_bytes() const { return 0; }  // a test's tool; nothing is reserved
  std::size_t memory_used() const { return 0; }

  // ---- for tests -----------------------------------------------------------------------------

  SimNetwork& network() noexcept { return network_; }  // the network it is attached to
  // Faults and completions so far.
  const SimCounters& counters() const noexcept { return counters_; }
  // Links that the reactor has not closed.
  std::size_t links_open() const noexcept { return links_open_; }

  bool listens_on(std::uint16_t port) const override;
  void on_handshake(const std::shared_ptr<SimConnection>& connection, std::uint16_t port) override;
  void take_over(const std::shared_ptr<SimConnection>& connection, std::uint16_t port) override;
  bool has_work() const override;
  SimAddress address() const override { return address_; }

 protected:
  SimKernel(const Options& options, SimNetwork& network, SimAddress address);
  ~SimKernel();

 private:
  enum class Kind : std::uint8_t { accept, receive, retry, input_end, broken, take, sent };
  struct Completion {
    Instant due;
    Kind kind;
    Link link;          // accept: index is the listener
    std::string bytes;  // receive
  };
  struct PendingSend {
    bool active = false;
    bool lent = false;    // bytes are read at `take`; else the reactor sends again after on_sent(0)
    bool queued = false;  // its completion is under way
    std::vector<iovec> parts;
    std::string copy;  // what `parts` held at send()
    std::size_t taken = 0;
  };
  // The end of a connection that this engine has opened.
  struct Outgoing final : SimEnd {
    Outgoing(SimKernel& owner, Link to) : kernel(owner), link(to) {}
    void on_stream(SimConnection&) override { kernel.touch(link); }
    SimKernel& kernel;
    Link link;
  };
  struct Slot {
    std::uint32_t generation = 1;
    std::shared_ptr<SimConnection> connection;  // null: free
    SimSide side = SimSide::server;             // ours; `peer` for an outgoing connection
    std::unique_ptr<Outgoing> outgoing;
    bool paused = false;
    bool gone = false;         // broken and read to the end: no event follows
    bool input_ended = false;  // delivered
    bool send_shut = false;
    bool touched = false;         // in touched_
    bool receive_queued = false;  // a completion of the receiving side is under way
    bool break_drawn = false;
    bool break_noticed = false;   // a paused link shows its break
    bool break_told = false;      // and was reported; the rest is read when it is resumed
    std::size_t taken_bytes = 0;  // in a receive completion
    std::size_t receive_max = SIZE_MAX;
    PendingSend send;
  };
  struct ListenState {
    ListenOptions options;
    std::uint16_t port;
    std::deque<std::shared_ptr<SimConnection>> handshaking;
    std::deque<std::shared_ptr<SimConnection>> ready;
    bool closed = false;
    bool handed_over = false;
  };
  struct Watched {
    int fd;
    Readiness wanted;
    Watcher* watcher;
    std::uint64_t number;  // of the watch; another one of the same descriptor has another
  };

  virtual bool sink_accepted(Link link, Listener listener, const PeerEndpoint& peer) = 0;
  virtual void sink_bytes(Link link, Bytes bytes) = 0;
  virtual void sink_sent(Link link, std::size_t count) = 0;
  virtual void sink_closed(Link link, Closed closed) = 0;
  virtual void sink_accept_failed(AcceptFailure failure) = 0;
  virtual void sink_turn(Instant now) = 0;

  void on_stream(SimConnection& connection) override;

  // Links.
  Slot* find(Link link);
  Slot* slot_to_send(Link link, std::size_t total);
  Sent fail_send(Slot& slot, std::size_t total);
  Sent break_off(Link link, Slot& slot, std::size_t total);
  Slot* find_or_count(Link link);
  bool has_free_slot() const { return !free_.empty() || slots_.size() < options_.links_max; }
  Link add_link(const std::shared_ptr<SimConnection>& connection, SimSide side);
  static std::size_t room(const Slot& slot);
  void remove_link(Link link, Slot& slot);
  void touch(Link link);

  // Turns.
  void wait(Duration wait_max, bool spurious);
  void deliver_ready();
  bool deliver_round();
  std::vector<Completion> take_due();

  // From state to completions.
  void look(Link link, Slot& slot);
  void look_at_send(Link link, Slot& slot);
  void look_at_input(Link link, Slot& slot);
  void queue_receive(Link link, Slot& slot);
  void queue_input(Kind kind, Link link, Slot& slot);
  void queue(Kind kind, Link link, Duration delay, std::string bytes = {});
  Duration draw_lateness();
  std::size_t draw_fragment(const Slot& slot, std::size_t available);

  // From completions to the Sink.
  void deliver(Completion& completion);
  void deliver_bytes(Link link, Slot& slot, const std::string& bytes);
  void deliver_closed(Link link, Slot& slot, Closed closed);
  void take_lent(Link link, Slot& slot);
  void deliver_sent(Link link, Slot& slot);
  void check_lent(const Slot& slot) const;
  static std::string copy_of(std::span<const iovec> parts, std::size_t skip, std::size_t count);
  void lend(Slot& slot, std::span<const iovec> gathered, std::size_t skip);

  // Accepting.
  bool can_accept(const ListenState& listener) const;
  void leave(ListenState& listener);
  void enqueue(const std::shared_ptr<SimConnection>& connection, std::uint16_t port);
  void accept_from(Listener listener);
  bool accept_one(Listener listener);
  void promote(SimConnection& connection);
  bool can_finish_listeners() const;
  void finish_listeners();

  Options options_;
  SimNetwork& network_;
  const SimAddress address_;
  SimCounters counters_;
  Instant now_;
  std::int64_t wall_clock_s_;
  bool started_ = false;
  bool in_turn_ = false;
  std::atomic<bool> woken_ = false;

  std::deque<Slot> slots_;  // a deque, because a Slot must stay where it is while links are added
  std::vector<std::uint32_t> free_;
  std::size_t links_open_ = 0;
  std::vector<Link> touched_;
  std::vector<Completion> completions_;
  Instant first_due_ = never;

  std::deque<ListenState> listeners_;
  bool accept_paused_ = false;
  Instant closing_at_ = never;
  std::uint32_t accept_failures_left_ = 0;

  std::vector<Watched> watched_;
  std::uint64_t watch_number_ = 0;
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
