#include "katana/http/handlers/dispatcher.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/text/format.hpp"
#include "katana/base/text/nearest_name.hpp"
#include "katana/http/handlers/framework_problems.hpp"
#include "katana/http/handlers/middleware_run.hpp"

namespace katana {
namespace {

void answer(session::Exchange& exchange, const Reply& reply) noexcept {
  exchange.respond(
      {.status = reply.status(), .content_type = reply.content_type(), .fields = reply.fields()},
      reply.content(), reply.content_stays());
}

constexpr std::size_t near_routes_max = 3;
constexpr std::size_t path_shown_max = 200;

// A reply to HEAD is that to GET without its content (RFC 9110 §9.3.2).
Bytes shown_method(const RequestView& request) noexcept {
  if (request.method() == http::Method::head) return http::name_of(http::Method::get);
  return request.head().method_text().substr(0, 40);
}

// Returns a segment of a pattern with its parameter replaced by a value from a segment of a path:
// "v2" for "v{major}" and "x2". Both begin with the slash.
std::string filled_segment(Bytes pattern, Bytes segment) {
  const std::size_t open = pattern.find('{');
  const std::size_t close = pattern.find('}');
  if (open == Bytes::npos || close == Bytes::npos || segment.empty()) return std::string(pattern);
  const Bytes behind = pattern.substr(close + 1);
  segment.remove_prefix(std::min(open, segment.size()));
  segment.remove_suffix(std::min(behind.size(), segment.size()));
  return std::string(pattern.substr(0, open)).append(segment).append(behind);
}

// Returns `pattern` with its parameters replaced by the segments of `path`.
std::string filled(Bytes pattern, Bytes path) {
  std::string made;
  while (!pattern.empty()) {
    const std::size_t end = std::min(pattern.find('/', 1), pattern.size());
    const Bytes segment = path.substr(0, path.find('/', 1));
    path.remove_prefix(segment.size());
    made += filled_segment(pattern.substr(0, end), segment);
    pattern.remove_prefix(end);
  }
  return made;
}

// Returns the patterns that a mistyped path may have meant, the nearest first.
std::vector<Bytes> near_routes(const RouteTable& table, Bytes path) {
  const std::size_t away_max = std::max<std::size_t>(path.size() / 3, 1);
  std::vector<std::pair<std::size_t, Bytes>> found;
  for (std::uint32_t route = 0; route < table.route_count(); ++route) {
    const Bytes pattern = table.pattern(route);
    const std::size_t away = edit_distance(path, filled(pattern, path));
    if (away <= away_max) found.emplace_back(away, pattern);
  }
  std::ranges::sort(found);
  const auto same = std::ranges::unique(found);  // one pattern may have several methods
  found.erase(same.begin(), same.end());
  std::vector<Bytes> nearest;
  for (const auto& [away, pattern] : found | std::views::take(near_routes_max)) {
    nearest.push_back(pattern);
  }
  return nearest;
}

// For development: shows the existing routes to the client.
Reply no_route_but(const RequestView& request, const RouteTable& table) {
  const std::vector<Bytes> nearest = near_routes(table, request.path());
  if (nearest.empty()) return detail::no_route(request);
  return problem(problem_types::no_route,
                 fmt::format("No route matches {} {}. Did you mean {}?", shown_method(request),
                             request.path().substr(0, path_shown_max), fmt::join(nearest, " or ")));
}

bool is_served_scheme(Bytes scheme) noexcept {
  return http::equals_ignoring_case(scheme, "http") || http::equals_ignoring_case(scheme, "https");
}

}  // namespace

// Without the heap: scanners cause this reply.
Reply detail::no_route(const RequestView& request) {
  const Bytes target = request.head().target();  // as sent: decoded bytes may be no text
  const Bytes path = target.substr(0, target.find('?'));
  std::array<char, 320> text;
  const auto end =
      fmt::format_to_n(text.data(), text.size(), "No route matches {} {}{}.", shown_method(request),
                       path.substr(0, path_shown_max), path.size() > path_shown_max ? "…" : "");
  return problem(problem_types::no_route, Bytes(text.data(), end.size));
}

inline void Dispatcher::serve_handler(session::Exchange& exchange, const detail::Route& route,
                                      const RequestView& request) {
  const detail::Handler& handler = *route.handler;
  if (route.decoding != nullptr && handler.content_wanted != detail::ContentWanted::no) {
    serve_decoded(exchange, route, request);
    return;
  }
  if (exchange.content_pending() && handler.content_wanted == detail::ContentWanted::whole) {
    exchange.collect_content(route.content_bytes_max);
    return;
  }
  handler.serve(exchange, route, request);
}

inline void Dispatcher::serve_route(session::Exchange& exchange, Moment moment,
                                    const detail::Route& route, const RequestView& request) {
  exchange.set_route(route.mark);
  const SiteScope site(&route.mark.name);
  try {
    if (!route.middleware.empty()) {
      if (route.has_functions) {
        serve_behind_functions(exchange, moment, route, request);
        return;
      }
      if (moment == Moment::head && run_before(exchange, route, request)) return;
    }
    serve_handler(exchange, route, request);
  } catch (...) {
    detail::send_failure(exchange, route, &request);
  }
}

inline void Dispatcher::serve(session::Exchange& exchange, const Incoming& incoming, Bytes path,
                              Bytes query) {
  const http::Head& head = incoming.head;
  const auto literal = service_.table.match_literal(head.method(), path, parameters_);
  const RequestView request(head, path, query, parameters_, incoming.content, &exchange);
  if (literal.step == RouteTable::LiteralStep::found) {
    serve_route(exchange, incoming.moment, service_.route(literal.route), request);
  } else {
    serve_otherwise(exchange, incoming.moment, request, literal.step);
  }
}

void Dispatcher::serve_otherwise(session::Exchange& exchange, Moment moment,
                                 const RequestView& request, RouteTable::LiteralStep step) {
  const RouteMatch match =
      service_.table.match_otherwise(request.method(), request.path(), parameters_, step);
  if (match.kind == MatchKind::found) [[likely]] {
    serve_route(exchange, moment, service_.route(match.route), request);
  } else {
    answer_unrouted(exchange, match.kind, match.allowed, request);
  }
}

inline void Dispatcher::serve_plain(session::Exchange& exchange,
                                    const Incoming& incoming) noexcept {
  try {
    serve(exchange, incoming, incoming.head.target(), {});
  } catch (...) {
    detail::send_failure(exchange);
  }
}

void Dispatcher::on_request(session::Exchange& exchange, const http::Head& head) noexcept {
  if (head.target_is_plain()) [[likely]] {
    serve_plain(exchange, {head, {}, Moment::head});
  } else {
    dispatch(exchange, {head, {}, Moment::head});
  }
}

void Dispatcher::serve_path(session::Exchange& exchange, const Incoming& incoming, Bytes path,
                            Bytes query) {
  serve(exchange, incoming, path, query);
}

void Dispatcher::serve_target(session::Exchange& exchange, const Incoming& incoming,
                              const std::optional<http::Target>& target) {
  if (!target) {
    answer(exchange, problem(problem_types::malformed_request,
                             "The request target is in none of the forms that its method "
                             "allows (RFC 9112 §3.2)."));
  } else if (target->form == http::TargetForm::asterisk) {
    answer(exchange, Reply(204).with("Allow", "GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH"));
  } else if (target->form == http::TargetForm::authority) {
    answer(exchange, problem(problem_types::not_implemented,
                             "This server is no proxy: CONNECT is not implemented."));
  } else if (!target->scheme.empty() && !is_served_scheme(target->scheme)) {
    answer(exchange,
           problem(problem_types::misdirected, "Only http and https targets are served here."));
  } else if (http::equals_ignoring_case(target->scheme, "https") &&
             !session::https_problem(exchange.arrival()).empty()) {
    answer(exchange,
           problem(problem_types::misdirected, session::https_problem(exchange.arrival())));
  } else if (http::is_normal_path(target->path)) {
    serve_path(exchange, incoming, target->path, target->query);
  } else if (const auto size = http::normalize_path(
                 target->path, std::span(path_.get(), http::head_bytes_capacity))) {
    serve_path(exchange, incoming, {path_.get(), *size}, target->query);
  } else {
    answer(exchange, problem(problem_types::malformed_request,
                             "The path of the request target is malformed: a bad "
                             "percent-encoding or a character that must be encoded."));
  }
}

void Dispatcher::dispatch(session::Exchange& exchange, const Incoming& incoming) noexcept {
  if (incoming.head.target_is_plain()) {
    serve_plain(exchange, incoming);
    return;
  }
  try {
    const http::Head& head = incoming.head;
    serve_target(exchange, incoming, http::split_target(head.target(), head.method()));
  } catch (...) {
    detail::send_failure(exchange);
  }
}

// An unknown coding is refused at the head, before the body is read.
void Dispatcher::serve_decoded(session::Exchange& exchange, const detail::Route& route,
                               const RequestView& request) {
  const detail::Handler& handler = *route.handler;
  auto decoder =
      detail::ContentDecoder::make(request.head(), *route.decoding, route.content_bytes_max);
  if (!decoder) {
    detail::send_reply(exchange, route, &request, std::move(decoder.error()));
    return;
  }
  const bool is_whole = handler.content_wanted == detail::ContentWanted::whole;
  if (is_whole && exchange.content_pending()) {
    exchange.collect_content(route.content_bytes_max);
    return;
  }
  if (!is_whole || *decoder == nullptr || request.content().empty()) {
    handler.serve(exchange, route, request);
    return;
  }
  auto content = (*decoder)->decode_whole(request.content(), exchange.memory());
  if (!content) {
    detail::send_reply(exchange, route, &request, std::move(content.error()));
    return;
  }
  const RequestView decoded(request.head(), request.path(), request.query(), request.parameters(),
                            content->bytes(), request.source());
  handler.serve(exchange, route, decoded);
}

void Dispatcher::serve_behind_functions(session::Exchange& exchange, Moment moment,
                                        const detail::Route& route, const RequestView& request) {
  if (moment == Moment::head) exchange.keep(std::make_unique<detail::RequestContext>());
  if (moment == Moment::resumed) exchange.hold(nullptr);
  detail::MiddlewareRun run(exchange, route, request, moment == Moment::content);
  if (!run.proceed()) return;
  if (run.has_whole_content()) {
    route.handler->serve(exchange, route, run.request());
  } else {
    serve_handler(exchange, route, request);
  }
}

bool Dispatcher::run_before(session::Exchange& exchange, const detail::Route& route,
                            const RequestView& request) {
  for (const Middleware* each : route.middleware) {
    if (std::optional<Reply> reply = detail::answer_before(*each, exchange, request)) {
      detail::send_reply(exchange, route, &request, *std::move(reply));
      return true;
    }
  }
  return false;
}

void Dispatcher::answer_unrouted(session::Exchange& exchange, MatchKind kind, MethodSet allowed,
                                 const RequestView& request) {
  if (kind != MatchKind::method_not_allowed) {
    detail::send_reply(exchange, service_.fallback, &request,
                       service_.parts->development ? no_route_but(request, service_.table)
                                                   : detail::no_route(request));
    return;
  }
  Reply reply = request.method() == http::Method::options
                    ? Reply(204)
                    : problem(problem_types::method_not_served,
                              "This path does not serve this method; Allow names those it "
                              "serves.");
  reply.add_field("Allow", allow_value(allowed));
  detail::send_reply(exchange, service_.fallback, &request, std::move(reply));
}

bool Dispatcher::refuse_by_route(session::Exchange& exchange, const http::Head& head,
                                 unsigned status, Bytes detail) {
  const auto target = http::split_target(head.target(), head.method());
  if (!target || target->form == http::TargetForm::asterisk ||
      target->form == http::TargetForm::authority) {
    return false;
  }
  Bytes path = target->path;
  if (!http::is_normal_path(path)) {
    const auto size = http::normalize_path(path, std::span(path_.get(), http::head_bytes_capacity));
    if (!size) return false;
    path = {path_.get(), *size};
  }
  const RouteMatch match = service_.table.match(head.method(), path, parameters_);
  const bool is_found = match.kind == MatchKind::found;
  const detail::Route& route = is_found ? service_.route(match.route) : service_.fallback;
  if (is_found) exchange.set_route(route.mark);
  const RequestView request(head, path, target->query, parameters_, {}, &exchange);
  detail::send_refusal(exchange, route, request, status, detail);
  return true;
}

void Dispatcher::on_refused(session::Exchange& exchange, const http::Head* head, unsigned status,
                            Bytes detail) noexcept {
  try {
    if (head != nullptr && refuse_by_route(exchange, *head, status, detail)) return;
    answer(exchange, detail::refusal_problem(status, detail));
  } catch (...) {
    exchange.report_failure(
        {.what = "a refusal cannot be answered", .exception = std::current_exception()});
    exchange.abort();
  }
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
