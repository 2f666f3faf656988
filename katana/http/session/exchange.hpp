// Exchange: one request and its reply, in any version of HTTP.
// RequestHandler: makes the replies.
//
// Owns       a request's head and body once they are detached, and the Pending work that makes its
//            reply. A share of the request's state (request_state.hpp); tasks that continue without
//            the exchange have shares as well.
// Borrows    until then, the engine's buffer, which the reactor's connections share. Head and body
//            are arguments of the RequestHandler's calls, and only valid in them.
// Thread     its reactor's.
// Allocates  nothing for a request that is answered in the handler's call; otherwise from the
//            recycler.
// Fails      a command without room, or on a broken connection, ends the exchange; the handler need
//            not check.
// Invariant  an exchange gets exactly one reply, or its connection is reset.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/failure.hpp"
#include "katana/base/system/hints.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/text/text.hpp"
#include "katana/base/values/file_part.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/session/client.hpp"
#include "katana/http/session/exchange_core.hpp"
#include "katana/http/session/pending.hpp"
#include "katana/net/engine/endpoints.hpp"
#include "katana/wire/http/head.hpp"
#include "katana/wire/http/reply_head.hpp"

namespace katana::net {
class Reactor;
struct ConnectionCounters;
struct PeerCertificate;
}  // namespace katana::net

namespace katana::session {

class RequestHandler;
class WebSocketShare;
class WebSocketReplacement;

class Exchange : public ClientSource {
 public:
  // The request is a HEAD: its reply ends with its head.
  virtual bool answers_head() const noexcept = 0;
  // True if the request has a body that has not been received completely.
  bool content_pending() const noexcept { return core_.content_pending; }
  // The size of that body, if the request states it.
  virtual std::optional<std::uint64_t> content_length() const noexcept = 0;

  // The reactor on which the handler and its tasks run.
  virtual net::Reactor& reactor() noexcept = 0;
  // The memory account of the reactor, for work of the request.
  virtual HeldMemory& memory() noexcept;
  // The address of the other side of the connection; never empty if it was accepted. Behind a proxy
  // it is the proxy; client() returns the client.
  virtual engine::PeerAddress peer() noexcept = 0;
  // A malformed field of a trusted proxy is counted each time that it is read.
  Client client(const http::Head& head) noexcept final;
  // Null without a kept state: then nothing shares the reply, and no code reads the mark.
  std::shared_ptr<PersonalMark> personal_mark() noexcept final;
  void personalise(Personal by) noexcept final;
  void note_read_fields(std::span<const std::string_view> names) final;
  RequestProgress progress() noexcept final;
  // The certificate that the client sent over TLS, with the result of its check; null: none. Valid
  // as long as the exchange.
  virtual const net::PeerCertificate* peer_certificate() { return nullptr; }
  // The listener of the connection, in the order of listen() on its reactor.
  virtual engine::Listener listener() noexcept = 0;
  // The counters of the connection, with this request.
  virtual const net::ConnectionCounters& connection_counters() noexcept = 0;

  // ---- body: one of these, in on_request(), if content_pending() ----
  // RequestHandler::on_content_collected() follows when the body is complete. A body of more than
  // `bytes_max` is refused (413).
  virtual void collect_content(std::uint64_t bytes_max) = 0;
  // Pending::on_content() follows. REQUIRES hold(). 100 (Continue) is sent at the first
  // want_content().
  virtual void stream_content(std::uint64_t bytes_max) = 0;
  virtual void want_content() noexcept = 0;
  // Without either call the body is skipped, or the connection ends after the reply.

  // ---- a decision that is made later, in a call of the RequestHandler ----
  // The head is kept, and the handler's time runs. No byte of the body is read or skipped, unless
  // the handler has asked for it. REQUIRES hold(): the held object calls resume_request() when it
  // has decided.
  virtual void defer_request() = 0;
  // RequestHandler::on_resumed() follows, in its own call.
  virtual void resume_request() noexcept = 0;

  // ---- reply ----
  // Sends a complete reply. `content_stays`: it outlives the connection, and may be referred to
  // instead of copied.
  virtual void respond(const http::ReplyHead& head, Bytes content, bool content_stays) noexcept = 0;
  // Returns false if memory for output is scarce; write a body of this size in pieces then.
  virtual bool takes_whole(std::size_t /*bytes*/) noexcept { return true; }
  // Begins a reply in pieces.
  virtual void begin_reply(const http::ReplyHead& head) noexcept = 0;
  // Returns false, and writes nothing, if the output is full; Pending::on_writable() follows. Also
  // returns false when the reply has no body (HEAD, 204, 304) or breaks off: then Pending is
  // destroyed.
  virtual bool write(Bytes content) noexcept = 0;
  // As write(), for content in a file: takes as much off the front of `part` as there is room for.
  // If the output can refer to the file, that is all of it. Otherwise the file is read in pieces; a
  // file that is shorter than expected breaks the reply off. Returns true if all of it was taken.
  virtual bool write_file(FilePart& part) noexcept;
  // For content that is expensive to make. Returns true if Pending::on_writable() follows without a
  // call, after the written bytes are sent and others had their turn. Returns false if the handler
  // is to continue writing.
  virtual bool yield() noexcept { return false; }
  virtual void end_reply() noexcept = 0;
  virtual bool reply_begun() const noexcept = 0;
  // For a reply without an end: from now on the handler may be silent for any time.
  virtual void set_patient() noexcept {}
  // The connection ends after this reply.
  virtual void close_after_reply() noexcept = 0;
  // The reply cannot be completed: breaks the connection. The client then sees no wrong reply.
  virtual void abort() noexcept = 0;

  // ---- another protocol, in on_request() ----
  // The state that the WebSocket sessions of this reactor share; null: this connection cannot
  // become one.
  virtual WebSocketShare* websockets() noexcept { return nullptr; }
  // True if a stream becomes the WebSocket connection, with a 200 as its reply (RFC 8441).
  virtual bool upgrades_stream() const noexcept { return false; }
  // Answers with `head`, a 101 or a 200, and passes the connection, or the stream, to
  // `replacement`. Returns false, and writes nothing, if the request asks for no upgrade, has a
  // body, or is the last of its connection.
  virtual bool upgrade(const http::ReplyHead& head,
                       std::unique_ptr<WebSocketReplacement> replacement) noexcept;

  // Keeps `pending` until the reply is complete or the exchange is cancelled.
  void hold(std::unique_ptr<Pending> pending) noexcept { core_.pending = std::move(pending); }

  // Keeps `state` until the reply is complete or the exchange is cancelled, and the work that it
  // began has ended. REQUIRES that nothing is kept.
  void keep(std::unique_ptr<RequestState> state) noexcept {
    core_.state = RequestShare(state.release());
  }
  // Null: nothing is kept.
  RequestState* kept() const noexcept { return core_.state.get(); }

  // ---- work that continues when the exchange has ended ----
  // Starts a task of the reactor. The request counts in all limits that admitted it until the task
  // has ended, even if its client has left. Fails as TaskScope::spawn() does.
  [[nodiscard]] Result<void> spawn(Task<Result<void>> task, std::string name);
  // Returns a share with the same effect for its owner.
  RequestShare share();
  // The charge for memory that such work keeps.
  HeldCharge work_charge() noexcept { return HeldCharge(memory(), Holder::work); }

  // The deadline of a handler that begins now: its route's timeout, or the usual one. It stays the
  // same when its client has ended its side.
  Instant handler_due() noexcept;

  // A trusted proxy's statement about the client was malformed; counted.
  virtual void note_forwarding_malformed() noexcept {}
  // The handler threw or failed; counted.
  virtual void note_failure() noexcept = 0;
  // The same, and the observer gets the failure, with the route and the request's id. A warning is
  // not counted. It runs in the thread's activity of this exchange.
  KATANA_RARE void report_failure(Failure failure) noexcept;

  // Sets the route that serves the request, as the dispatcher found it. Null: none.
  void set_route(const RouteMark& route) noexcept {
    core_.route = &route;
    if (core_.context != nullptr) core_.context->site = &route.name;
  }
  const RouteMark* route() const noexcept { return core_.route; }
  // The object that the observer made when the exchange began; null: none.
  ExchangeContext* context() const noexcept { return core_.context.get(); }

 protected:
  // The timeout of its route, or the usual one.
  virtual Duration handler_time() const noexcept = 0;
  // Refuses a request without a begun reply: the pending work ends, and the reply is that of its
  // route, or else of `handler`.
  void refuse_by(RequestHandler& handler, unsigned status, Bytes detail) noexcept;
  // Gets the failures; null: none.
  virtual FailureObserver* failure_observer() noexcept { return nullptr; }
  Exchange() = default;
  ~Exchange() = default;

  // The reply may be silent from now on; tells `observer` once, null: none.
  void note_patient(ExchangeObserver* observer) noexcept;

  [[no_unique_address]] ExchangeCore core_;  // derived classes use its last bytes
};

// The reason why an exchange ended without its handler's reply.
enum class Cancelled : std::uint8_t { peer_left, handler_timeout };

// One per reactor. Calls must not throw.
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;
  // The head has arrived. Answer now, ask for the body, or hold() an object that will answer. The
  // head is borrowed, as is the body below: copy the parts that are needed after the call.
  virtual void on_request(Exchange& exchange, const http::Head& head) noexcept = 0;
  // The body that collect_content() asked for is complete.
  virtual void on_content_collected(Exchange& exchange, const http::Head& head,
                                    Bytes content) noexcept = 0;
  // As on_request(), after defer_request() and resume_request(): the held object is still there.
  virtual void on_resumed(Exchange& exchange, const http::Head& head) noexcept = 0;
  // The protocol refuses the request, or its handler took too long: answer with this status, as the
  // route of `head` answers. Null: the head is unknown, or no longer kept.
  virtual void on_refused(Exchange& exchange, const http::Head* head, unsigned status,
                          Bytes detail) noexcept = 0;
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
