// A service with sessions, and a browser that keeps its cookie.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "katana/http/handlers/router.hpp"
#include "katana/identity/sessions/memory_store.hpp"
#include "katana/identity/sessions/sessions.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::sessions {

struct Notes {
  std::vector<std::string> texts;
};
KATANA_DESCRIBE(Notes, texts)

inline Reply answer(const Result<void>& done) {
  return done ? Reply::text("done") : problem(done.error());
}

inline Task<Reply> add_note(Path<std::string> text, FromContext<UserSession> session) {
  Result<std::optional<Notes>> notes = co_await session->get<Notes>();
  if (!notes) co_return problem(notes.error());
  Notes changed = notes->value_or(Notes{});
  changed.texts.push_back(*text);
  const Result<void> kept = co_await session->set(changed);
  co_return answer(kept);
}
inline Task<Reply> show_notes(FromContext<UserSession> session) {
  Result<std::optional<Notes>> notes = co_await session->get<Notes>();
  if (!notes) co_return problem(notes.error());
  std::string text;
  if (*notes) {
    for (const std::string& each : (*notes)->texts) text += each + ";";
  }
  co_return Reply::text(Text(text));
}
inline Task<Reply> log_in(Path<std::string> user, FromContext<UserSession> session) {
  auth::PrincipalFacts facts;
  facts.id = *user;
  facts.issuer = "test";
  facts.roles = {"reader"};
  const Result<void> kept = co_await session->log_in(facts);
  co_return answer(kept);
}
// A user without roles.
inline Task<Reply> log_in_as_guest(FromContext<UserSession> session) {
  auth::PrincipalFacts facts;
  facts.id = "guest";
  facts.issuer = "test";
  const Result<void> kept = co_await session->log_in(facts);
  co_return answer(kept);
}
inline Task<Reply> renew(FromContext<UserSession> session) {
  const Result<void> renewed = co_await session->renew();
  co_return answer(renewed);
}
inline Task<Reply> log_out(FromContext<UserSession> session) {
  const Result<void> ended = co_await session->end();
  co_return answer(ended);
}
inline Task<Reply> end_others(FromContext<UserSession> session) {
  const Result<std::int64_t> ended = co_await session->end_others();
  if (!ended) co_return problem(ended.error());
  co_return Reply::text(format_text("{}", *ended));
}

inline Result<Service> service_with(const Result<Sessions>& sessions) {
  if (!sessions) return std::unexpected(sessions.error());
  Router router;
  router.use(sessions->middleware());
  router.get("/untouched", [] { return Reply::text("untouched"); });
  router.post("/notes/{text}", add_note).get("/notes", show_notes);
  router.post("/login/{user}", log_in).post("/logout", log_out).post("/end_others", end_others);
  router.post("/guest", log_in_as_guest).post("/renew", renew);
  Group account = router.group("/account");
  account.use(sessions->require_login());
  account.get("", [](FromContext<auth::Principal> who) {
    return Reply::text(format_text("{} by {} {}", who->id(), name_of(who->method()),
                                   who->has_role("reader") ? "reads" : "does not read"));
  });
  return std::move(router).build();
}

class Browser {
 public:
  explicit Browser(testing::TestServer& server) : server_(server) {}

  testing::TestReply send(std::string_view method, std::string_view target) {
    testing::TestFields fields;
    if (!cookie_.empty()) fields.emplace_back("Cookie", cookie_);
    testing::TestReply reply = server_.send(method, target, {}, fields);
    if (const auto set = reply.header("Set-Cookie")) {
      cookie_ = set->substr(0, set->find(';'));
      if (set->find("Max-Age=0") != std::string_view::npos) cookie_.clear();
    }
    return reply;
  }
  testing::TestReply get(std::string_view target) { return send("GET", target); }
  testing::TestReply post(std::string_view target) { return send("POST", target); }
  std::string& cookie() noexcept { return cookie_; }

 private:
  testing::TestServer& server_;
  std::string cookie_;
};

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
