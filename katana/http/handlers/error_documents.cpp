#include "katana/http/handlers/error_documents.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "katana/base/values/described.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/http/handlers/accept.hpp"
#include "katana/http/handlers/html.hpp"
#include "katana/http/handlers/middleware.hpp"
#include "katana/http/handlers/reply_fields.hpp"
#include "katana/wire/http/status.hpp"

namespace katana {

KATANA_DESCRIBE(ProblemFinding, (pointer, defaulted), (detail, defaulted))

namespace detail {

struct ProblemMembers {
  std::string type = "about:blank";
  std::string title;
  std::string detail;
};
KATANA_DESCRIBE(ProblemMembers, type, title, detail)

struct FindingList {
  std::vector<ProblemFinding> errors;
};
KATANA_DESCRIBE(FindingList, errors)

namespace {

// A problem of a program may have a member `errors` in another form, which stays in the document.
std::vector<ProblemFinding> findings_of(Bytes document) {
  if (!document.contains("\"errors\"")) return {};
  auto read = container::read_json<FindingList>(document);
  return read ? std::move(read->errors) : std::vector<ProblemFinding>();
}

bool is_problem(const Reply& reply) noexcept {
  return reply.status() >= 400 && !reply.invalid() && !reply.is_streamed() &&
         !PreparedReply::is_head(reply) && reply.content_type() == "application/problem+json";
}

// Puts the reply of the form in place of the problem.
void put_in_place(Reply& reply, Reply&& shown) {
  if (shown.status() < 300) shown.set_status(reply.status());
  for_each_line(reply.fields(), [&](Bytes name, Bytes, Bytes line) {
    if (is_single_field(name) && find_field(shown.fields(), name)) return;
    PreparedReply::append_fields(shown, line);
  });
  if (reply.closes()) shown.close();
  if (const Error* const cause = reply.cause()) {
    if (!shown.invalid() && shown.cause() == nullptr) {
      PreparedReply::set_cause(shown, *cause);
      (void)PreparedReply::begin_report(shown);  // already reported for the problem
    }
  }
  reply = std::move(shown);
}

}  // namespace

Middleware error_documents(ErrorForm form) {
  Middleware middleware;
  middleware.after = [form = std::move(form)](const RequestView& request, Reply& reply) {
    if (!is_problem(reply)) return;
    const Bytes document = reply.content();
    const auto read = container::read_json<ProblemMembers>(document);
    const ProblemMembers members = read ? *read : ProblemMembers();
    const std::vector<ProblemFinding> findings = findings_of(document);
    std::optional<Reply> shown = form({.status = reply.status(),
                                       .type = members.type,
                                       .title = members.title,
                                       .detail = members.detail,
                                       .document = document,
                                       .findings = findings},
                                      request);
    if (shown) put_in_place(reply, *std::move(shown));
    // The form may depend on Accept: caches then distinguish such replies.
    add_vary(reply, "Accept");
  };
  return middleware;
}

}  // namespace detail

namespace {

Html error_page_of(const ProblemView& problem, Bytes contact) {
  const Bytes reason = http::reason_phrase(problem.status);
  const Bytes title = problem.title.empty() ? reason : problem.title;
  Html page = Html::raw(
      "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\">"
      "<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;"
      "margin:4rem auto;max-width:40rem;padding:0 1rem}footer{opacity:.7}</style>");
  page += html("<title>{}</title><h1>{}</h1><p>{}</p>", title, title, problem.detail);
  if (!contact.empty()) page += html("<p>{}</p>", contact);
  page += html("<footer>{} {}</footer>", problem.status, reason);
  return page;
}

}  // namespace

ErrorForm html_error_pages(std::string contact) {
  return [contact = std::move(contact)](const ProblemView& problem,
                                        const RequestView& request) -> std::optional<Reply> {
    if (!prefers_html(request.field("accept"))) return std::nullopt;
    Reply reply = error_page_of(problem, contact);
    reply.set_status(problem.status);
    reply.add_field("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'");
    reply.add_field("Cache-Control", "no-store");
    return reply;
  };
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
