// MiddlewareRun: runs the middleware of one request up to the handler, from the point where it last
// stopped.
//
// Borrows    everything, for one call of the dispatcher. Lasting state is in the RequestContext.
// Thread     its reactor's.
// Allocates  a copy of the body when a function suspends after it was read.
// Fails      exceptions of a function leave proceed().
#pragma once

#include <optional>

#include "katana/http/handlers/handler.hpp"
#include "katana/http/handlers/middleware.hpp"
#include "katana/http/handlers/request.hpp"
#include "katana/http/handlers/request_context.hpp"
#include "katana/http/session/exchange.hpp"

namespace katana::detail {

// Returns the reply of `admit` or `before`, if they answer instead of the handler.
std::optional<Reply> answer_before(const Middleware& middleware, session::Exchange& exchange,
                                   const RequestView& request);

class MiddlewareRun {
 public:
  // `content_came`: `request` has the complete body that was asked for.
  MiddlewareRun(session::Exchange& exchange, const Route& route, const RequestView& request,
                bool content_came);
  // Returns true if the handler is next, false if the request is answered or waits.
  bool proceed();
  // A function has read the body, and request() has it in the form for the handler.
  bool has_whole_content() const noexcept { return whole_.has_value(); }
  const RequestView& request() const noexcept { return whole_ ? *whole_ : request_; }

 private:
  // Each returns false if the request is answered or waits.
  bool ask_for_content();
  bool decode_content();
  bool call(const MiddlewareFunction& function);
  bool answer(Reply&& reply);
  void show_content();

  session::Exchange& exchange_;
  const Route& route_;
  const RequestView& request_;
  RequestContext& context_;
  std::optional<RequestView> whole_;
  const bool content_came_;
};

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
