// Exchange: one request and its reply, whatever the version of HTTP that carries them.
// RequestHandler: who answers.
//
// Owns       a request's head and content once they are detached, and the Pending work that
//            makes its reply. A share of the request's state (request_state.hpp), which it has
//            with the tasks that go on without it.
// Borrows    until then, the engine's buffer, which the reactor's connections share. Head and
//            content are lent to the RequestHandler's calls as arguments, and an exchange gives
//            no access to them afterwards.
// Thread     its reactor's.
// Allocates  nothing for a request that is answered in the handler's call; else from the
//            recycler.
// Fails      a command that finds no room or a broken connection ends the exchange; the handler
//            need not look.
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
  // The request has content that has not been received.
  bool content_pending() const noexcept { return core_.content_pending; }
  // Of content_pending(): its size, when the request says it.
  virtual std::optional<std::uint64_t> content_length() const noexcept = 0;

  // On which the handler runs, and where its tasks belong.
  virtual net::Reactor& reactor() noexcept = 0;
  // Where what is done for the request may be charged: the reactor's.
  virtual HeldMemory& memory() noexcept;
  // The address that connected; never empty if it was accepted. Behind a proxy that is the proxy:
  // client() is the client.
  virtual engine::PeerAddress peer() noexcept = 0;
  // A malformed field of a trusted proxy is counted each time that it is read.
  Client client(const http::Head& head) noexcept final;
  // Without a kept state nothing shares the reply, and a mark would say nothing to anybody.
  std::shared_ptr<PersonalMark> personal_mark() noexcept final;
  void personalise(Personal by) noexcept final;
  void note_read_fields(std::span<const std::string_view> names) final;
  // What the client has shown over TLS and what was verified; null: nothing. For as long as the
  // exchange.
  virtual const net::PeerCertificate* peer_certificate() { return nullptr; }
  // Of its reactor, which the connection came from, in the order of listen().
  virtual engine::Listener listener() noexcept = 0;
  // Of the connection, this request included.
  virtual const net::ConnectionCounters& connection_counters() noexcept = 0;

  // ---- content: one of these, in on_request(), if content_pending() ----
  // RequestHandler::on_content_collected() follows when all of it is here. More than `bytes_max` is
  // refused (413).
  virtual void collect_content(std::uint64_t bytes_max) = 0;
  // Pending::on_content() follows. REQUIRES hold(). 100 (Continue) is sent at the first
  // want_content().
  virtual void stream_content(std::uint64_t bytes_max) = 0;
  virtual void want_content() noexcept = 0;
  // Neither: the content is read past, or the connection ends after the reply.

  // ---- a decision that is made later, in a call of the RequestHandler ----
  // The head is kept, content that was not asked for is neither read nor read past, and the
  // handler's time runs. REQUIRES hold(): what is held calls resume_request() when it knows more.
  virtual void defer_request() = 0;
  // RequestHandler::on_resumed() follows, in its own call.
  virtual void resume_request() noexcept = 0;

  // ---- reply ----
  // A whole reply. `content_stays`: it outlives the connection, and may be referred to instead of
  // copied.
  virtual void respond(const http::ReplyHead& head, Bytes content, bool content_stays) noexcept = 0;
  // False: memory for output is scarce, and content of this size should be written in pieces.
  virtual bool takes_whole(std::size_t /*bytes*/) noexcept { return true; }
  // A reply in pieces.
  virtual void begin_reply(const http::ReplyHead& head) noexcept = 0;
  // False: the output is full, nothing was written, and Pending::on_writable() follows. Also false
  // when the reply has no content (HEAD, 204, 304) or breaks off: then Pending is destroyed.
  virtual bool write(Bytes content) noexcept = 0;
  // As write(), for content that is in a file: takes as much off the front of `part` as there is
  // room for, which is all of it where the file itself can be referred to. True: all of it is
  // taken. Where it cannot it is read in pieces; a file that turns out to be shorter breaks the
  // reply off.
  virtual bool write_file(FilePart& part) noexcept;
  // For content that costs much to make: true when Pending::on_writable() follows without a call,
  // after what was written is sent and others had their turn; false: go on writing.
  virtual bool yield() noexcept { return false; }
  virtual void end_reply() noexcept = 0;
  virtual bool reply_begun() const noexcept = 0;
  // For a reply that goes on for as long as its handler has something to say: from here on no time
  // runs for the handler while it is silent.
  virtual void set_patient() noexcept {}
  // The connection ends after this reply.
  virtual void close_after_reply() noexcept = 0;
  // Nothing sensible can be sent any more: the client sees a broken connection instead of a wrong
  // reply.
  virtual void abort() noexcept = 0;

  // ---- another protocol, in on_request() ----
  // What the WebSocket sessions of this reactor share; null: this connection cannot become one.
  virtual WebSocketShare* websockets() noexcept { return nullptr; }
  // It is a stream of its connection that becomes one: its answer is a 200 (RFC 8441).
  virtual bool upgrades_stream() const noexcept { return false; }
  // Answers with `head`, a 101 or a 200, and hands the connection, or the stream, to `replacement`.
  // False: that is impossible, because the request asks for no upgrade, has content, or is the last
  // of its connection; nothing was written.
  virtual bool upgrade(const http::ReplyHead& head,
                       std::unique_ptr<WebSocketReplacement> replacement) noexcept;

  // Keeps `pending` until the reply is complete or the exchange is cancelled.
  void hold(std::unique_ptr<Pending> pending) noexcept { core_.pending = std::move(pending); }

  // Until the reply is complete or the exchange is cancelled, and the work that it began has ended,
  // whatever is held. REQUIRES that nothing is kept.
  void keep(std::unique_ptr<RequestState> state) noexcept {
    core_.state = RequestShare(state.release());
  }
  // Null: nothing is kept.
  RequestState* kept() const noexcept { return core_.state.get(); }

  // ---- work that goes on when the exchange has ended ----
  // A task of the reactor. The request counts in all limits that admitted it until the task has
  // ended, whatever becomes of its client and its connection. Fails as TaskScope::spawn() does.
  [[nodiscard]] Result<void> spawn(Task<Result<void>> task, std::string name);
  // The same for its owner.
  RequestShare share();
  // For what such work keeps.
  HeldCharge work_charge() noexcept { return HeldCharge(memory(), Holder::work); }

  // When a handler that begins now has to have answered: its route's timeout, or the usual one.
  // That its client has ended its side changes nothing.
  Instant handler_due() noexcept;

  // What a trusted proxy said of the client was malformed; counted.
  virtual void note_forwarding_malformed() noexcept {}
  // The handler threw or failed; counted.
  virtual void note_failure() noexcept = 0;
  // The same, and the observer is told what it was, with the route and the request's id. A warning
  // is not counted. On the thread's activity of this exchange.
  KATANA_RARE void report_failure(Failure failure) noexcept;

  // The dispatcher says which route serves it. Null: none does.
  void set_route(const RouteMark& route) noexcept {
    core_.route = &route;
    if (core_.context != nullptr) core_.context->site = &route.name;
  }
  const RouteMark* route() const noexcept { return core_.route; }
  // What the observer made when the exchange began; null: nothing.
  ExchangeContext* context() const noexcept { return core_.context.get(); }

 protected:
  // Of its route, or else the usual one.
  virtual Duration handler_time() const noexcept = 0;
  // Instead of a handler's reply, which was not begun: what is pending ends, and the reply is that
  // of its route, or else of `handler`.
  void refuse_by(RequestHandler& handler, unsigned status, Bytes detail) noexcept;
  // Told of failures; null: none.
  virtual FailureObserver* failure_observer() noexcept { return nullptr; }
  Exchange() = default;
  ~Exchange() = default;

  // The reply may be silent from here on; tells `observer` once, null: none.
  void note_patient(ExchangeObserver* observer) noexcept;

  [[no_unique_address]] ExchangeCore core_;  // its last word is shared with what derives
};

// Why an exchange ended without its handler's reply.
enum class Cancelled : std::uint8_t { peer_left, handler_timeout };

// One per reactor. Calls must not throw.
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;
  // The head is here. Answer now, or ask for content, or hold() something that will answer. The
  // head is borrowed, as is the content below: copy the parts that are needed after the call.
  virtual void on_request(Exchange& exchange, const http::Head& head) noexcept = 0;
  // All of the content that collect_content() asked for is here.
  virtual void on_content_collected(Exchange& exchange, const http::Head& head,
                                    Bytes content) noexcept = 0;
  // As on_request(), after defer_request() and resume_request(): what was held is still there.
  virtual void on_resumed(Exchange& exchange, const http::Head& head) noexcept = 0;
  // The protocol refuses the request, or its handler took too long: answer with this status, as the
  // route of `head` answers. Null: the head is not known, or no more.
  virtual void on_refused(Exchange& exchange, const http::Head* head, unsigned status,
                          Bytes detail) noexcept = 0;
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
