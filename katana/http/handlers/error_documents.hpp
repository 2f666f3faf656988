// ErrorForm: the form of all error documents of a service, and the HTML pages that browsers get.
//
//   router.error_documents(html_error_pages());
//   router.error_documents([](const ProblemView& problem, const RequestView&) {
//     return std::optional(json_reply(OurError{problem.status, std::string(problem.detail)}));
//   });
//
// The form sees each reply that is a problem document (RFC 9457), whatever made it: a handler, its
// parameters, middleware, a limit, an unknown path. Where it returns nothing the document stays.
// Its reply keeps the status unless it has one of 300 or above, and gets the fields of the other,
// such as WWW-Authenticate and Retry-After. The reply to a request whose target cannot be read, and
// that to one without a head, stay as they are.
//
// Owns       the form, for all reactors.
// Borrows    a ProblemView the reply, for the call.
// Thread     the reactor's.
// Allocates  as the form does, for errors alone.
// Fails      a form that throws is answered with 500.
// Invariant  html_error_pages() escapes what it shows, and its page runs and loads nothing.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "katana/base/system/function.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/http/handlers/reply.hpp"
#include "katana/http/handlers/request.hpp"

namespace katana {

struct Middleware;

// A fault in one part of a request.
struct ProblemFinding {
  std::string pointer;  // RFC 6901, of the body: "/user/email"; of a parameter its name, or nothing
  std::string detail;
};

// A problem document, and what it says.
struct ProblemView {
  unsigned status = 500;                          // of the reply
  Bytes type;                                     // "about:blank": the status says it all
  Bytes title;                                    // the same for every occurrence
  Bytes detail;                                   // of this occurrence
  Bytes document;                                 // the JSON, with its own members
  std::span<const ProblemFinding> findings = {};  // its member `errors`
};

// The reply in place of a problem document; none: the document itself. Any callable is one.
struct ErrorForm
    : std::function<std::optional<Reply>(const ProblemView& problem, const RequestView& request)> {
  using function::function;
};

// A page for a browser (prefers_html(), accept.hpp); everybody else gets the document. `contact`,
// if there is one, is a sentence for users: where to ask for help.
ErrorForm html_error_pages(std::string contact = {});

namespace detail {
Middleware error_documents(ErrorForm form);
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
