#include "katana/http/handlers/middleware_run.hpp"

#include <exception>
#include <utility>

namespace katana::detail {

std::optional<Reply> answer_before(const Middleware& middleware, session::Exchange& exchange,
                                   const RequestView& request) {
  std::optional<Reply> reply;
  if (middleware.admit) reply = middleware.admit(request, exchange);
  if (!reply && middleware.before) reply = middleware.before(request);
  return reply;
}

MiddlewareRun::MiddlewareRun(session::Exchange& exchange, const Route& route,
                             const RequestView& request, bool content_came)
    : exchange_(exchange),
      route_(route),
      request_(request),
      context_(RequestContext::of(exchange)),
      content_came_(content_came) {
  if (context_.content()) show_content();
}

bool MiddlewareRun::proceed() {
  if (context_.thrown) std::rethrow_exception(std::exchange(context_.thrown, nullptr));
  if (context_.answer) return answer(*std::move(context_.answer));
  if (content_came_ && !decode_content()) return false;
  while (context_.next < route_.middleware.size()) {
    const Middleware& each = *route_.middleware[context_.next];
    if (each.function && each.function->wants_content && !ask_for_content()) return false;
    ++context_.next;
    if (auto reply = answer_before(each, exchange_, request())) return answer(*std::move(reply));
    if (each.function && !call(*each.function)) return false;
  }
  return true;
}

// An unknown coding is refused before the body is read.
bool MiddlewareRun::ask_for_content() {
  if (!exchange_.content_pending()) return true;
  if (route_.decoding != nullptr) {
    auto decoder =
        ContentDecoder::make(request_.head(), *route_.decoding, route_.content_bytes_max);
    if (!decoder) return answer(std::move(decoder.error()));
  }
  exchange_.collect_content(route_.content_bytes_max);
  return false;
}

bool MiddlewareRun::decode_content() {
  if (route_.decoding == nullptr || !route_.functions_want_content) return true;
  auto decoder = ContentDecoder::make(request_.head(), *route_.decoding, route_.content_bytes_max);
  if (!decoder) return answer(std::move(decoder.error()));
  if (*decoder == nullptr || request_.content().empty()) return true;
  auto content = (*decoder)->decode_whole(request_.content(), exchange_.memory());
  if (!content) return answer(std::move(content.error()));
  context_.keep_content(*std::move(content), *std::move(decoder));
  show_content();
  return true;
}

bool MiddlewareRun::call(const MiddlewareFunction& function) {
  switch (function.run({exchange_, request(), route_.services}, context_)) {
    case MiddlewareFunction::Progress::goes_on: return true;
    case MiddlewareFunction::Progress::answered: return answer(*std::move(context_.answer));
    case MiddlewareFunction::Progress::waits: break;
  }
  // The body is lent for this call.
  if (content_came_ && !context_.content()) context_.keep_content(Text(request_.content()));
  return false;
}

// Sending may destroy the object that held the reply.
bool MiddlewareRun::answer(Reply&& reply) {
  Reply sent = std::move(reply);
  send_reply(exchange_, route_, &request(), std::move(sent));
  return false;
}

void MiddlewareRun::show_content() {
  whole_.emplace(request_.head(), request_.path(), request_.query(), request_.parameters(),
                 context_.content()->bytes(), request_.source());
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
