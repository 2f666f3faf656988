// The engine contract: the only thing that the reactor knows of the kernel.
//
// An engine moves bytes between the kernel and a Sink. It knows neither the meaning of the bytes
// nor their consumer. Four facts cross this line, the same for every protocol and every engine:
// bytes arrived, bytes accepted, time passed, closed. The contract is completion-shaped: readiness
// is a completion that happens to finish at once.
//
// An engine is a class template over its Sink and has these members (concept Engine below):
//
//   Engine(const Options&, Sink&, …)
//   Result<void> start()              takes its kernel resources. An Error names the missing one.
//   Result<Listener> listen(const ListenOptions&)
//   uint16_t port(Listener) const
//   int socket(Listener) const        its descriptor; -1: it has none
//   Result<Link> connect(const ConnectOptions&)
//                                     returns a link at once, before the server answers. Until
//                                     the answer the link takes no byte, and a send() is pending.
//                                     The answer is reported by on_sent() or on_closed(link).
//   int detach(Link)                  only within its on_accepted(), before any other use of the
//                                     link. The link is gone. Its socket belongs to the caller,
//                                     for another engine of this kind.
//   Result<Link> adopt(int)           makes a link of a socket from detach(), as if accepted here,
//                                     but does not call on_accepted(). REQUIRES a free link. After
//                                     an Error the socket is closed.
//   void discard(int)                 sends a reset on a socket from detach() that no engine
//                                     adopts, and closes it
//   int failure(Link)                 the reason as an errno value, after on_closed(link) and
//                                     before close(); 0 when it is not known
//   void pause_accept()               takes no more connections; the kernel's queue holds them
//   void resume_accept()
//   void close_listeners()            no new handshake begins. Connections whose handshake is
//                                     complete are still delivered, then the listeners close.
//   void hand_over(Listener)          another process accepts from its socket: close_listeners()
//                                     leaves to it all connections that wait in the queue
//   bool accepting() const            false once the listeners are closed, and the kernel has all
//                                     output of links that are closed by now
//   Sent send(Link, span<const iovec>, size_t& accepted)
//                                     REQUIRES at least one byte. The array is borrowed for the
//                                     call, the bytes until on_sent(), on_closed(link) or close().
//
//   Sent send_file(Link, span<const iovec>, FilePart, size_t& accepted)
//                                     as send(), followed by the part of the file. The bytes
//                                     before it may be none; the part has at least one byte. The
//                                     file is read before the call returns, and only as far as it
//                                     is accepted. An engine may take a part of it even if there
//                                     is room for more: one link then does not keep the turn.
//                                     `completed` then says how much, and no on_sent follows.
//                                     `failed` also when the file ends before the part does.
//
//   void pause_receive(Link)          no on_bytes and no on_closed(input) until resumed. See Closed
//                                     for a link that breaks meanwhile.
//
//   void resume_receive(Link)
//   void limit_receive(Link, size_t)  from the next receive on, one on_bytes brings at most so many
//                                     bytes; at least one
//   void shutdown_send(Link)          delivers the accepted bytes, then the end of the stream.
//                                     REQUIRES no pending send.
//   void close(Link)                  the link is gone: no event follows, nothing is borrowed
//   void reset(Link)                  as close(), and sends a reset
//   Result<void> watch(int fd, Readiness wanted, Watcher&)
//                                     on_ready() while the descriptor is ready for a wanted
//                                     operation. REQUIRES that one is wanted. A descriptor that is
//                                     watched already gets this watch instead of the earlier one.
//                                     After an Error it is not watched. `fd` is borrowed.
//   void unwatch(int fd)              no on_ready() follows, not even for an event of this turn.
//                                     REQUIRED before the descriptor is closed. The kernel may keep
//                                     the file open until the next turn().
//   void wake()                       from any thread: ends the wait of the turn() that waits now,
//                                     or else of the next one
//   void turn(Duration wait_max)      waits at most so long, calls on_turn(now) once, then delivers
//                                     the events
//   Instant now() const               read once per turn
//   Instant read_clock() const        the time at this moment; engines of virtual time have none
//   int64_t wall_clock_s() const      Unix time, read with now()
//   size_t memory_bytes() const       the most memory for bytes in transit, once started
//   size_t memory_used() const        the part of it that is in use now
//
// and calls these of its Sink:
//
//   bool on_accepted(Link, Listener, const PeerEndpoint&)
//                                     the address is the one that the kernel reported at the
//                                     accept. A socket that was reset since has none any more.
//                                     Family::none: it is not known. False: the sink refuses the
//                                     connection, and the engine closes it at once.
//
//   void on_bytes(Link, Bytes)        borrowed for the call; never empty
//   void on_sent(Link, size_t count)  the pending send is over and took `count` (0 …) bytes more
//   void on_closed(Link, Closed)      see Closed
//   void on_accept_failed(AcceptFailure)
//                                     the engine has paused accepting; resume_accept() when it may
//                                     work again
//   void on_turn(Instant now)
//
// Any member may be called from inside any Sink call. Link is index + generation (0: no link). A
// call for a link that is gone is ignored: late completions need no other check. A full table of
// links is no failure: connections wait in the kernel's queue until a link is closed.
#pragma once

#include <sys/uio.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/file_part.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/net/engine/endpoints.hpp"

namespace katana::engine {

// Index into tables of Options::links_max entries. The generation tells a link from earlier ones at
// its index.
struct Link {
  std::uint32_t index = 0;       // below Options::links_max
  std::uint32_t generation = 0;  // at least 1 for a link that exists
  bool operator==(const Link&) const = default;
};

// The outcome of a send() or send_file().
//   completed  Every byte is taken, by the kernel or by an engine that copied it; `accepted` is
//              their count. No on_sent follows.
//   pending    The kernel took `accepted` bytes so far. on_sent() follows, and no send() may be
//              called before it. On a broken connection the bytes that arrived earlier follow, and
//              then on_closed(link) instead of on_sent().
//   failed     The link is gone, or on_closed(link) has been called, or the file ended too soon.
//              The reactor closes the link. No event follows.
enum class Sent : std::uint8_t { completed, pending, failed };

// Why on_closed() was called. In both cases the reactor has to close the link.
//   input  The other side sends no more; it may still receive.
//   link   The connection is gone in both directions (reset or error). Bytes that arrived before
//          come first. For a paused link on_closed(link) is called at once. The reactor then closes
//          it, or resumes it for those bytes; on_closed(link) is called again after them. No other
//          event follows.
enum class Closed : std::uint8_t { input, link };

// Why accepting stopped without a call of pause_accept().
//   descriptors  the process or the machine has no file descriptor left
//   memory       the kernel has no memory for a socket
enum class AcceptFailure : std::uint8_t { descriptors, memory };

// Operations that a descriptor allows without waiting. The end of the other side and an error are
// reported as `read`, and the failure of both directions also as `write`.
struct Readiness {
  bool read = false;   // there is input, or its end
  bool write = false;  // there is room for output
  bool operator==(const Readiness&) const = default;
};

// Receives a call when a watched descriptor is ready. Borrowed from watch() to unwatch().
class Watcher {
 public:
  // Called on the engine's thread, within turn(). `ready` has only what is wanted, and is never
  // empty. It is reported again in each turn while it holds: input need not be read to its end.
  // The function may call watch() and unwatch(), and destroy the watcher after unwatch().
  virtual void on_ready(Readiness ready) noexcept = 0;

 protected:
  ~Watcher() = default;
};

// The members of a sink; see above. All calls are made within turn().
template <class S>
concept Sink =
    requires(S sink, Link link, Listener listener, Bytes bytes, std::size_t count, Closed closed,
             AcceptFailure failure, Instant now, const PeerEndpoint& peer) {
      { sink.on_accepted(link, listener, peer) } -> std::same_as<bool>;
      sink.on_bytes(link, bytes);
      sink.on_sent(link, count);
      sink.on_closed(link, closed);
      sink.on_accept_failed(failure);
      sink.on_turn(now);
    };

// The members of an engine; see above.
template <class E>
concept Engine =
    requires(E engine, const E same, Link link, std::span<const iovec> gathered,
             std::size_t& accepted, const ListenOptions& listen, const ConnectOptions& connect,
             int fd, Readiness wanted, Watcher& watcher, Duration wait_max, const FilePart& part) {
      { engine.start() } -> std::same_as<Result<void>>;
      { engine.listen(listen) } -> std::same_as<Result<Listener>>;
      { same.port(Listener{}) } -> std::same_as<std::uint16_t>;
      { same.socket(Listener{}) } -> std::same_as<int>;
      { engine.connect(connect) } -> std::same_as<Result<Link>>;
      { engine.detach(link) } -> std::same_as<int>;
      { engine.adopt(fd) } -> std::same_as<Result<Link>>;
      engine.discard(fd);
      { engine.failure(link) } -> std::same_as<int>;
      { same.accepting() } -> std::same_as<bool>;
      engine.pause_accept();
      engine.resume_accept();
      engine.close_listeners();
      engine.hand_over(Listener{});
      { engine.send(link, gathered, accepted) } -> std::same_as<Sent>;
      { engine.send_file(link, gathered, part, accepted) } -> std::same_as<Sent>;
      engine.pause_receive(link);
      engine.resume_receive(link);
      engine.limit_receive(link, accepted);
      engine.shutdown_send(link);
      engine.close(link);
      engine.reset(link);
      { engine.watch(fd, wanted, watcher) } -> std::same_as<Result<void>>;
      engine.unwatch(fd);
      engine.wake();
      engine.turn(wait_max);
      { same.now() } -> std::same_as<Instant>;
      { same.wall_clock_s() } -> std::same_as<std::int64_t>;
      { same.memory_bytes() } -> std::same_as<std::size_t>;
      { same.memory_used() } -> std::same_as<std::size_t>;
    };

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
