// The engine contract: the only thing that the reactor knows of the kernel.
//
// An engine moves bytes between the kernel and a Sink. It knows neither what the bytes mean nor who
// consumes them. Four facts cross this line, the same for every protocol and every engine: bytes
// arrived, bytes accepted, time passed, closed. The contract is completion-shaped: readiness is a
// completion that happens to finish at once.
//
// An engine is a class template over its Sink and has these members (concept Engine below):
//
//   Engine(const Options&, Sink&, …)
//   Result<void> start()              takes its kernel resources; an Error says which one is
//   missing
//   Result<Listener> listen(const ListenOptions&)
//   uint16_t port(Listener) const
//   int socket(Listener) const        its descriptor; -1: it has none
//   Result<Link> connect(const ConnectOptions&)
//                                     a link at once, whose server has to answer: until then it
//                                     takes no byte, and a send() is pending. Whether the server
//                                     answers is told as ever: by on_sent(), or on_closed(link)
//   int detach(Link)                  within its on_accepted(), before anything else is done with
//                                     it: the link is gone, and its socket the caller's, for
//                                     another engine of this kind
//   Result<Link> adopt(int)           a link of what detach() gave, as if accepted here, but
//                                     on_accepted() is not called. REQUIRES a free link. An Error:
//                                     the socket is closed
//   void discard(int)                 what detach() gave, and nobody adopts: sends a reset
//   int failure(Link)                 once on_closed(link) is called, and before close(): why, as
//                                     errno has it; 0 when it is not known
//   void pause_accept()               takes no more connections; the kernel's queue holds them
//   void resume_accept()
//   void close_listeners()            no new handshake begins; those that completed are still
//                                     delivered, then the listeners close
//   void hand_over(Listener)          another process accepts from its socket: close_listeners()
//                                     leaves it to that, with all that waits in its queue
//   bool accepting() const            false once they have, and what was accepted for sending on
//                                     links that are closed by now is with the kernel
//   Sent send(Link, span<const iovec>, size_t& accepted)
//                                     the array is borrowed for the call, the bytes until
//                                     on_sent(), on_closed(link) or close(). At least one byte
//   Sent send_file(Link, span<const iovec>, FilePart, size_t& accepted)
//                                     as send(), and behind those bytes, which may be none, the
//                                     part of the file, which is at least one byte. It is read
//                                     before the call returns, and only as far as it is accepted;
//                                     it may be taken in part even if there is room for more, so
//                                     that one link does not keep the turn. `completed` then says
//                                     how much, and no on_sent follows. `failed` also when the
//                                     file ends before the part does
//   void pause_receive(Link)          no on_bytes and no on_closed(input) until resumed; see Closed
//                                     for a link that breaks meanwhile
//   void resume_receive(Link)
//   void limit_receive(Link, size_t)  from the next receive on, one on_bytes brings at most so many
//                                     bytes; at least one
//   void shutdown_send(Link)          what was accepted is delivered, followed by the end of
//                                     the stream. REQUIRES no pending send
//   void close(Link)                  the link is gone: no event follows, nothing is borrowed
//   void reset(Link)                  as close(), and sends a reset
//   Result<void> watch(int fd, Watcher&)
//                                     on_ready() while fd is readable; `fd` is borrowed
//   void unwatch(int fd)
//   void wake()                       from any thread: a turn() that waits, or else the next one,
//                                     waits no longer
//   void turn(Duration wait_max)      waits at most so long, calls on_turn(now) once, then delivers
//                                     what happened
//   Instant now() const               read once per turn
//   Instant read_clock() const        the time at this moment; engines of virtual time have none
//   int64_t wall_clock_s() const      Unix time, read with now()
//   size_t memory_bytes() const       the most that it has for bytes on their way, once started
//   size_t memory_used() const        of that, what it has now
//
// and calls these of its Sink:
//
//   bool on_accepted(Link, Listener, const PeerEndpoint&)
//                                     who connected, as the kernel said it when it was accepted: a
//                                     socket that was reset since cannot be asked any more.
//                                     Family::none: it could not be told. False: refused, the
//                                     engine closes it at once
//   void on_bytes(Link, Bytes)        borrowed for the call; never empty
//   void on_sent(Link, size_t count)  the pending send is over and took `count` (0 …) bytes more
//   void on_closed(Link, Closed)      see Closed
//   void on_accept_failed(AcceptFailure)
//                                     the engine has paused accepting; resume_accept() when it may
//                                     work again
//   void on_turn(Instant now)
//
// Any member may be called from inside any Sink call. Link is index + generation (0: no link): a
// call for a link that is gone is ignored, so a late completion dies in one place. A full table of
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

// What became of a send() or send_file().
//   completed  every byte is taken, by the kernel or by an engine that copied it; `accepted` is
//              their count. No on_sent follows.
//   pending    the kernel took `accepted` bytes so far; on_sent() follows, and no send() may be
//              called before it. Where the connection turns out to be broken, what arrived before
//              follows, and then on_closed(link) instead of on_sent().
//   failed     the link is gone, or was told to be, or the file ended too soon; the reactor closes
//              the link. No event follows.
enum class Sent : std::uint8_t { completed, pending, failed };

// Why on_closed() was called. In both cases the reactor has to close the link.
//   input  the other side sends no more; it may still receive.
//   link   the connection is gone in both directions (reset or error). Bytes that arrived before
//          come first. A paused link is told at once: the reactor closes it, or resumes it for
//          those bytes, and is told again behind them. No other event follows.
enum class Closed : std::uint8_t { input, link };

// Why accepting stopped without a call of pause_accept().
//   descriptors  the process or the machine has no file descriptor left
//   memory       the kernel has no memory for a socket
enum class AcceptFailure : std::uint8_t { descriptors, memory };

// Told when a watched descriptor can be read. Borrowed from watch() to unwatch().
class Watcher {
 public:
  // On the engine's thread, within turn(). Unread input is reported again.
  virtual void on_ready() noexcept = 0;

 protected:
  ~Watcher() = default;
};

// What an engine calls; see above. All calls are made within turn().
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
             int fd, Watcher& watcher, Duration wait_max, const FilePart& part) {
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
      { engine.watch(fd, watcher) } -> std::same_as<Result<void>>;
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
