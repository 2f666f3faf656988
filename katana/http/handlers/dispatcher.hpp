// Dispatcher: brings a reactor's requests to the handlers of a Service.
//
// Owns       room for one normalised path.
// Borrows    the Service, shared with the other reactors' dispatchers. Nothing of a request that is
//            served later: its exchange keeps the head, its RequestContext the rest.
// Thread     its reactor's.
// Allocates  at construction.
// Fails      a bad target is answered with 400, an unknown path with 404, a method that the path
//            lacks with 405 and Allow. OPTIONS is answered from the routes when none serves it.
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

// 404, with the method and the path of the request. Routes that are switched off answer the same:
// clients do not learn that they exist.
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
  // The moments at which a request is dispatched.
  //   head     its head has arrived
  //   content  the body that its handler or its middleware wants is complete
  //   resumed  middleware that suspended has ended
  enum class Moment : std::uint8_t { head, content, resumed };
  // The arguments of a call of the session; borrowed for that call.
  struct Incoming {
    const http::Head& head;
    Bytes content;
    Moment moment;
  };

  void dispatch(session::Exchange& exchange, const Incoming& incoming) noexcept;
  // Serves a target that is just a normal path, as nearly all are. The code behind it is inlined
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
  // Serves a path that is not a literal pattern: one with parameters, or without a route. Not
  // inlined: the other paths then save no registers for the walk through the tree.
  [[gnu::noinline]] void serve_otherwise(session::Exchange& exchange, Moment moment,
                                         const RequestView& request, RouteTable::LiteralStep step);
  // Returns true if a middleware has answered.
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
  // A refusal passes the `after` of its route; without a path there is no route.
  KATANA_RARE bool refuse_by_route(session::Exchange& exchange, const http::Head& head,
                                   unsigned status, Bytes detail);
  KATANA_RARE void answer_unrouted(session::Exchange& exchange, MatchKind kind, MethodSet allowed,
                                   const RequestView& request);

  const detail::BuiltService& service_;
  std::unique_ptr<char[]> path_;
  // The parameters of the request being served; kept, because clearing costs more than filling.
  PathParameters parameters_;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
