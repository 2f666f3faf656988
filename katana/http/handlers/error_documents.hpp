// ErrorForm: the form of all error documents of a service, and the HTML pages that browsers get.
//
//   router.error_documents(html_error_pages());
//   router.error_documents([](const ProblemView& problem, const RequestView&) {
//     return std::optional(json_reply(OurError{problem.status, std::string(problem.detail)}));
//   });
//
// The form gets each reply that is a problem document (RFC 9457): of a handler, its parameters,
// middleware, a limit, or an unknown path. If it returns nothing, the document stays. The status of
// its reply is that of the document, unless the form sets one of 300 or above. The reply also gets
// the fields of the document, such as WWW-Authenticate and Retry-After. The reply to a request with
// an unreadable target, or without a head, stays as it is.
//
// Owns       the form, for all reactors.
// Borrows    a ProblemView borrows the reply, for the call.
// Thread     the reactor's.
// Allocates  as the form does, only for errors.
// Fails      a form that throws is answered with 500.
// Invariant  html_error_pages() escapes its values, and its page runs and loads nothing.
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

// A problem document and its members.
struct ProblemView {
  unsigned status = 500;                          // of the reply
  Bytes type;                                     // "about:blank": the status says it all
  Bytes title;                                    // the same for every occurrence
  Bytes detail;                                   // of this occurrence
  Bytes document;                                 // the JSON, with additional members
  std::span<const ProblemFinding> findings = {};  // its member `errors`
};

// Makes the reply in place of a problem document; none: the document itself. Any callable is one.
struct ErrorForm
    : std::function<std::optional<Reply>(const ProblemView& problem, const RequestView& request)> {
  using function::function;
};

// A page for a browser (prefers_html(), accept.hpp); all other clients get the document. `contact`,
// if there is one, is a sentence for users: where to ask for help.
ErrorForm html_error_pages(std::string contact = {});

namespace detail {
Middleware error_documents(ErrorForm form);
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
