// Dispatcher: brings a reactor's requests to the handlers of a Service.
//
// Owns       room for one normalised path.
// Borrows    the Service, shared with the other reactors' dispatchers. Of a request that is served
//            later, nothing: its exchange keeps the head, its RequestContext the rest.
// Thread     its reactor's.
// Allocates  at construction.
// Fails      a bad target is 400, an unknown path 404, a method that a path lacks 405 with
//            Allow; OPTIONS is answered from the routes when none serves it.
#pragma once

#include <memory>
#include <optional>

#include "katana/base/system/hints.hpp"
#include "katana/http/handlers/built_service.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/session/exchange.hpp"
#include "katana/wire/http/head.hpp"
#include "katana/wire/http/url.hpp"

namespace katana {

namespace detail {

// 404, with the method and the path of the request. Routes that are switched off answer so as
// well: clients do not learn that they exist.
Reply no_route(const RequestView& request);

}  // namespace detail

class Dispatcher final : public session::RequestHandler {
 public:
  explicit Dispatcher(const Service& service)
      : service_(service.built()), path_(std::make_unique<char[]>(http::head_bytes_capacity)) {}

  void on_request(session::Exchange& exchange, const http::Head& head) noexcept override;
  void on_content_collected(session::Exchange& exchange, const http::Head& head,
                            Bytes content) noexcept override {
    dispatch(exchange, {head, content, Moment::content});
  }
  void on_resumed(session::Exchange& exchange, const http::Head& head) noexcept override {
    dispatch(exchange, {head, {}, Moment::resumed});
  }
  void on_refused(session::Exchange& exchange, const http::Head* head, unsigned status,
                  Bytes detail) noexcept override;

 private:
  // A request comes by at its head, again when the content that its handler or its middleware wants
  // is here, and when middleware that suspended has come to an end.
  enum class Moment : std::uint8_t { head, content, resumed };
  // What a call of the session lends.
  struct Incoming {
    const http::Head& head;
    Bytes content;
    Moment moment;
  };

  void dispatch(session::Exchange& exchange, const Incoming& incoming) noexcept;
  // A target that is a normal path and nothing else, as nearly all are: what follows is inlined
  // into on_request().
  [[gnu::always_inline]] inline void serve_plain(session::Exchange& exchange,
                                                 const Incoming& incoming) noexcept;
  [[gnu::noinline]] void serve_path(session::Exchange& exchange, const Incoming& incoming,
                                    Bytes path, Bytes query);
  KATANA_RARE void serve_target(session::Exchange& exchange, const Incoming& incoming,
                                const std::optional<http::Target>& target);
  // `path` is normalised.
  [[gnu::always_inline]] inline void serve(session::Exchange& exchange, const Incoming& incoming,
                                           Bytes path, Bytes query);
  // A path that is no literal pattern's: with parameters, or of no route. Not in line, so that
  // the others save no registers for the walk through the tree.
  [[gnu::noinline]] void serve_otherwise(session::Exchange& exchange, Moment moment,
                                         const RequestView& request, RouteTable::LiteralStep step);
  // True: a middleware has answered.
  KATANA_RARE static void serve_decoded(session::Exchange& exchange, const detail::Route& route,
                                        const RequestView& request);
  KATANA_RARE static bool run_before(session::Exchange& exchange, const detail::Route& route,
                                     const RequestView& request);
  [[gnu::always_inline]] inline void serve_route(session::Exchange& exchange, Moment moment,
                                                 const detail::Route& route,
                                                 const RequestView& request);
  [[gnu::always_inline]] inline static void serve_handler(session::Exchange& exchange,
                                                          const detail::Route& route,
                                                          const RequestView& request);
  KATANA_RARE static void serve_behind_functions(session::Exchange& exchange, Moment moment,
                                                 const detail::Route& route,
                                                 const RequestView& request);
  // A refusal passes the `after` of its route; without a path there is none.
  KATANA_RARE bool refuse_by_route(session::Exchange& exchange, const http::Head& head,
                                   unsigned status, Bytes detail);
  KATANA_RARE void answer_unrouted(session::Exchange& exchange, MatchKind kind, MethodSet allowed,
                                   const RequestView& request);

  const detail::BuiltService& service_;
  std::unique_ptr<char[]> path_;
  // For the request being served; kept, because clearing it costs more than filling it.
  PathParameters parameters_;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
