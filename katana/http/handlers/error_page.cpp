#include "katana/http/handlers/error_page.hpp"

#include <fmt/format.h>

#include "katana/http/handlers/accept.hpp"
#include "katana/http/handlers/framework_problems.hpp"
#include "katana/http/handlers/html.hpp"
#include "katana/http/session/exchange_context.hpp"
#include "katana/wire/http/status.hpp"

namespace katana::detail {
namespace {

Html row(Bytes name, Bytes value) {
  if (value.empty()) return {};
  return html("<tr><th>{}</th><td>{}</td></tr>", name, value);
}

Html page_of(session::Exchange& exchange, const RequestView& request, unsigned status,
             const std::string& cause) {
  const session::RouteMark* const route = exchange.route();
  const session::ExchangeContext* const context = exchange.context();
  Html rows = row("Request", fmt::format("{} {}", request.method_text(), request.target()));
  if (route != nullptr) rows += row("Route", route->name);
  if (context != nullptr) rows += row("Request id", context->name);
  if (context != nullptr) rows += row("Trace", context->trace);
  const std::string title = fmt::format("{} {}", status, http::reason_phrase(status));
  Html page = Html::raw(
      "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\">"
      "<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;"
      "margin:2rem auto;max-width:50rem;padding:0 1rem}h1{color:light-dark(#a00,#f77)}"
      "pre{white-space:pre-wrap;overflow-wrap:anywhere;padding:1rem;border-radius:.5rem;"
      "background:light-dark(#f2f2f2,#222)}th{text-align:left;padding-right:2rem;"
      "vertical-align:top}td{overflow-wrap:anywhere}footer{opacity:.7}</style>");
  page += html(
      "<title>{}</title><h1>{}</h1><pre>{}</pre><table>{}</table>"
      "<footer>Shown because the program runs in development. The record of the failure is in the "
      "log.</footer>",
      title, title, cause, rows);
  return page;
}

}  // namespace

Reply error_page(session::Exchange& exchange, const RequestView* request, unsigned status,
                 const std::string& cause) {
  // A browser names HTML; */* alone is curl or a client of an API.
  const auto accept = request != nullptr ? request->field("accept") : std::nullopt;
  if (!accept || accept->find("text/html") == Bytes::npos || !accepts(accept, "text/html")) {
    return error_problem(status, cause);
  }
  Reply reply = page_of(exchange, *request, status, cause);
  reply.set_status(status);
  reply.add_field("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'");
  reply.add_field("Cache-Control", "no-store");
  return reply;
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
