#include "katana/http/handlers/router.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "katana/http/handlers/exchange_fixture_test.hpp"

namespace katana {
namespace {

Reply fine() { return Reply::text("fine"); }

class RouterTest : public ServiceTest {
 protected:
  // Answers with the routes that the router has at this time.
  FakeExchange& serve(std::string_view method, std::string_view target) {
    if (!service_) {
      auto built = std::move(router).build();
      EXPECT_TRUE(built) << (built ? "" : built.error().describe());
      service_.emplace(*std::move(built));
      dispatcher_.emplace(*service_);
    }
    return send(method, target);
  }
  // A middleware that writes its name before and after.
  Middleware notes(std::string name) {
    return {.before = [this, name](const RequestView&) -> std::optional<Reply> {
              log.push_back(name + " before");
              return std::nullopt;
            },
            .after = [this, name](const RequestView&, Reply&) { log.push_back(name + " after"); }};
  }
  std::string error_of_build() {
    const auto built = std::move(router).build();
    return built ? "" : built.error().describe();
  }

  Router router;
  std::vector<std::string> log;
};

// ---- methods, groups, prefixes ----

TEST_F(RouterTest, each_method_has_a_route_of_its_own) {
  const auto named = [](Literal name) { return [name] { return Reply::text(name); }; };
  router.get("/x", named("get")).post("/x", named("post")).put("/x", named("put"));
  router.patch("/x", named("patch")).delete_("/x", named("delete")).any("/x", named("any"));
  router.route(http::Method::options, "/x", named("options"));
  EXPECT_EQ(serve("GET", "/x").content_sent, "get");
  EXPECT_EQ(serve("HEAD", "/x").content_sent, "get");
  EXPECT_EQ(serve("POST", "/x").content_sent, "post");
  EXPECT_EQ(serve("PUT", "/x").content_sent, "put");
  EXPECT_EQ(serve("PATCH", "/x").content_sent, "patch");
  EXPECT_EQ(serve("DELETE", "/x").content_sent, "delete");
  EXPECT_EQ(serve("OPTIONS", "/x").content_sent, "options");
  EXPECT_EQ(serve("TRACE", "/x").content_sent, "any");
  EXPECT_EQ(serve("BREW", "/x").content_sent, "any");
}

TEST_F(RouterTest, groups_put_their_prefixes_in_front_however_deep) {
  Group api = router.group("/api");
  Group users = api.group("/users");
  users.get("", fine).get("/{id}",
                          [](Path<int> id) { return Reply::text(format_text("{}", *id)); });
  api.get("/status", fine);
  router.get("/status", [] { return Reply::text("outer"); });
  EXPECT_EQ(serve("GET", "/api/users").content_sent, "fine");
  EXPECT_EQ(serve("GET", "/api/users/7").content_sent, "7");
  EXPECT_EQ(serve("GET", "/api/status").content_sent, "fine");
  EXPECT_EQ(serve("GET", "/status").content_sent, "outer");
  EXPECT_EQ(serve("GET", "/users/7").status, 404u);
}

TEST_F(RouterTest, a_prefix_may_have_parameters) {
  router.group("/of/{owner}").get("/{name}", [](Path<std::string> owner, Path<std::string> name) {
    return Reply::text(format_text("{}/{}", *owner, *name));
  });
  EXPECT_EQ(serve("GET", "/of/me/it").content_sent, "me/it");
}

// ---- middleware ----

TEST_F(RouterTest, middleware_runs_from_the_outermost_in_and_back_out) {
  router.use(notes("outer"));
  Group api = router.group("/api");
  api.use(notes("middle")).use(notes("inner"));
  api.get("/x", [this] {
    log.push_back("handler");
    return Reply::text("x");
  });
  serve("GET", "/api/x");
  EXPECT_EQ(log,
            (std::vector<std::string>{"outer before", "middle before", "inner before", "handler",
                                      "inner after", "middle after", "outer after"}));
}

TEST_F(RouterTest, middleware_is_for_the_routes_added_after_it_and_for_its_group_alone) {
  router.get("/before", fine);
  Group api = router.group("/api");
  api.use(notes("api"));
  api.get("/x", fine);
  router.use(notes("late"));
  router.get("/after", fine);
  serve("GET", "/before");
  EXPECT_TRUE(log.empty());
  serve("GET", "/api/x");
  EXPECT_EQ(log, (std::vector<std::string>{"api before", "api after"}));
  log.clear();
  serve("GET", "/after");
  EXPECT_EQ(log, (std::vector<std::string>{"late before", "late after"}));
}

TEST_F(RouterTest,
       before_is_called_once_with_the_head_and_no_content_is_collected_when_it_answers) {
  int calls = 0;
  bool open = false;
  router.use({.before = [&](const RequestView& request) -> std::optional<Reply> {
    ++calls;
    EXPECT_EQ(request.content(), "");
    if (open) return std::nullopt;
    return problem(401, "Who are you?");
  }});
  router.post("/x",
              [](const RequestView& request) { return Reply::text(Text(request.content())); });
  const Service service = *std::move(router).build();
  Dispatcher dispatcher(service);
  FakeExchange refused("POST", "/x");
  refused.awaiting_content(5).serve(dispatcher);
  EXPECT_EQ(refused.status, 401u);
  EXPECT_FALSE(refused.collect_max.has_value());
  open = true;
  FakeExchange served("POST", "/x");
  served.awaiting_content(5).serve(dispatcher);
  EXPECT_TRUE(served.collect_max.has_value());
  served.collected("hello");
  EXPECT_EQ(served.content_sent, "hello");
  EXPECT_EQ(calls, 2);
}

TEST_F(RouterTest, before_may_answer_instead_of_the_handler_and_every_after_sees_it) {
  bool called = false;
  router.use(notes("outer"));
  router.use({.before = [](const RequestView& request) -> std::optional<Reply> {
    if (request.field("x-token")) return std::nullopt;
    return problem(401, "Who are you?");
  }});
  router.use(notes("inner"));
  router.get("/x", [&] {
    called = true;
    return Reply::text("secret");
  });
  serve("GET", "/x");
  EXPECT_EQ(exchange_->status, 401u);
  EXPECT_FALSE(called);
  EXPECT_EQ(log, (std::vector<std::string>{"outer before", "inner after", "outer after"}));
}

TEST_F(RouterTest, after_may_change_the_reply) {
  router.use({.after = [](const RequestView& request, Reply& reply) {
    reply.add_field("X-Path", request.path());
    if (reply.status() == 200) reply.set_status(203);
  }});
  router.get("/x", fine);
  serve("GET", "/x");
  EXPECT_EQ(exchange_->status, 203u);
  EXPECT_EQ(exchange_->fields_sent, "X-Path: /x\r\n");
  EXPECT_EQ(exchange_->content_sent, "fine");
}

TEST_F(RouterTest, after_sees_404_405_and_options_if_it_is_the_whole_routers) {
  router.use({.after = [](const RequestView&, Reply& reply) { reply.add_field("X-Seen", "1"); }});
  router.group("/api").use(notes("api")).get("/x", fine);
  EXPECT_EQ(serve("GET", "/nowhere").fields_sent, "X-Seen: 1\r\n");
  EXPECT_EQ(exchange_->status, 404u);
  EXPECT_EQ(serve("POST", "/api/x").fields_sent, "Allow: GET, HEAD, OPTIONS\r\nX-Seen: 1\r\n");
  EXPECT_EQ(exchange_->status, 405u);
  EXPECT_EQ(serve("OPTIONS", "/api/x").fields_sent, "Allow: GET, HEAD, OPTIONS\r\nX-Seen: 1\r\n");
  EXPECT_EQ(exchange_->status, 204u);
  EXPECT_TRUE(log.empty());
}

TEST_F(RouterTest, after_sees_the_reply_of_a_coroutine_that_suspended_and_its_request) {
  Gate gate;
  router.use({.after = [](const RequestView& request, Reply& reply) {
    reply.add_field("X-Seen", *request.field("host"));
  }});
  router.get("/x/{y}", [&](Path<int>) -> Task<Reply> {
    co_await gate;
    co_return Reply::text("late");
  });
  auto built = std::move(router).build();
  ASSERT_TRUE(built);
  Dispatcher dispatcher(*built);
  FakeExchange exchange("GET", "/x/1", "Host: example\n");
  exchange.serve(dispatcher);
  gate.open();
  EXPECT_EQ(exchange.content_sent, "late");
  EXPECT_EQ(exchange.fields_sent, "X-Seen: example\r\n");
}

TEST_F(RouterTest, after_sees_the_500_of_every_form_of_handler_that_failed) {
  Gate gate;
  router.use({.after = [](const RequestView&, Reply& reply) { reply.add_field("X-Seen", "1"); }});
  router.get("/plain", []() -> Reply { throw std::runtime_error("x"); });
  router.get("/task", []() -> Task<Reply> {
    throw std::runtime_error("x");
    co_return Reply();
  });
  router.get("/late", [&]() -> Task<Reply> {
    co_await gate;
    throw std::runtime_error("x");
  });
  for (const char* const target : {"/plain", "/task", "/late"}) {
    serve("GET", target);
    if (gate.waiting()) gate.open();
    EXPECT_EQ(exchange_->status, 500u) << target;
    EXPECT_EQ(exchange_->fields_sent, "X-Seen: 1\r\n") << target;
    EXPECT_EQ(exchange_->failures, 1) << target;
  }
}

TEST_F(RouterTest, middleware_that_throws_is_answered_with_500_and_counted) {
  router.group("/before")
      .use({.before = [](const RequestView&) -> std::optional<Reply> {
        throw std::runtime_error("x");
      }})
      .get("/x", fine);
  router.group("/after")
      .use({.after = [](const RequestView&, Reply&) { throw std::runtime_error("x"); }})
      .get("/x", fine);
  for (const char* const target : {"/before/x", "/after/x"}) {
    serve("GET", target);
    EXPECT_EQ(exchange_->status, 500u) << target;
    EXPECT_EQ(exchange_->failures, 1) << target;
    EXPECT_EQ(exchange_->fields_sent, "");
  }
}

TEST_F(RouterTest, a_reply_that_middleware_made_invalid_is_answered_with_500) {
  router.use({.after = [](const RequestView&, Reply& reply) { reply.add_field("X", "a\nb"); }});
  router.get("/x", fine);
  EXPECT_EQ(serve("GET", "/x").status, 500u);
  EXPECT_EQ(exchange_->failures, 1);
}

// ---- failures ----

TEST_F(RouterTest, a_failure_is_reported_with_its_route_what_failed_and_the_cause) {
  Gate gate;
  router.get("/plain", []() -> Reply { throw std::runtime_error("no disk"); });
  router.get("/task", [&]() -> Task<Reply> {
    co_await gate;
    throw std::out_of_range("row 7");
    co_return Reply();
  });
  router.get("/error", []() -> Result<Reply> {
    return std::unexpected(Error(Code::internal, "no such table: users").within("load"));
  });
  router.get("/busy", []() -> Result<Reply> { return fail(Code::unavailable, "try later"); });
  router.get("/field", [] { return Reply(200).with("X-Note", "a\nb"); });
  router.get("/status", [] { return Reply(42); });
  router.get("/silent", [&](ReplyWriter) -> Task<void> { co_await gate; });
  router.group("/after")
      .use({.after = [](const RequestView&, Reply&) { throw std::runtime_error("x"); }})
      .get("", fine);
  router.get("/stream", [] {
    return Reply::stream("text/plain", http::unknown_length,
                         [](ContentSink&) -> bool { throw std::runtime_error("gone"); });
  });
  const std::vector<std::pair<const char*, const char*>> expected = {
      {"/plain", "GET /plain: the handler threw: std::runtime_error: no disk"},
      {"/task", "GET /task: the handler threw: std::out_of_range: row 7"},
      {"/error", "GET /error: the handler returned an error: load: no such table: users"},
      {"/busy", "GET /busy: the handler returned an error: try later"},
      {"/field",
       "GET /field: the reply's field 'X-Note' is invalid: its value has a line end, a control "
       "character, or a space at an end"},
      {"/status", "GET /status: the status of the reply is 42: give one from 200 to 599"},
      {"/silent", "GET /silent: the handler ended without a reply"},
      {"/after", "GET /after: middleware threw in `after`: std::runtime_error: x"},
      {"/stream", "GET /stream: the source of a streamed reply threw: std::runtime_error: gone"}};
  for (const auto& [target, line] : expected) {
    serve("GET", target);
    if (gate.waiting()) gate.open();
    ASSERT_EQ(exchange_->failed.lines.size(), 1u) << target;
    EXPECT_EQ(exchange_->failed.lines.front(), line);
    const bool is_refused = std::string_view(target) == "/busy";
    EXPECT_EQ(exchange_->failed.severity, is_refused ? Severity::warning : Severity::error);
    EXPECT_EQ(exchange_->failures, is_refused ? 0 : 1) << target;
  }
}

TEST_F(RouterTest, what_the_client_did_wrong_is_no_failure) {
  router.get("/none", []() -> Result<Reply> { return fail(Code::not_found, "no user 7"); });
  EXPECT_EQ(serve("GET", "/none").status, 404u);
  EXPECT_TRUE(exchange_->failed.lines.empty());
}

TEST_F(RouterTest, causes_are_shown_to_clients_only_where_that_is_asked_for) {
  const auto handler = []() -> Result<Reply> {
    return std::unexpected(Error(Code::already_exists, "users.email").within("a key is taken"));
  };
  router.get("/x", handler);
  EXPECT_EQ(serve("GET", "/x").status, 409u);
  EXPECT_EQ(exchange_->content_sent.find("users.email"), std::string::npos);
  Router open;
  open.development().get("/x", handler);
  const auto built = std::move(open).build();
  ASSERT_TRUE(built);
  Dispatcher dispatcher(*built);
  FakeExchange exchange("GET", "/x");
  exchange.serve(dispatcher);
  EXPECT_EQ(exchange.status, 409u);
  EXPECT_NE(exchange.content_sent.find("a key is taken: users.email"), std::string::npos);
}

// ---- mistakes ----

TEST(Router, a_subprotocol_that_cannot_be_said_is_a_mistake_of_its_route) {
  Router router;
  const WebSocketCallbacks callbacks;
  router.websocket("/empty", callbacks, {.subprotocols = {"chat", ""}});
  router.websocket("/spaced", callbacks, {.subprotocols = {"two words"}});
  router.websocket("/long", callbacks, {.subprotocols = {std::string(65, 'x')}});
  router.websocket("/fine", callbacks, {.subprotocols = {"chat.v2", std::string(64, 'x')}});
  const auto service = std::move(router).build();
  ASSERT_FALSE(service);
  const std::string text = service.error().describe();
  for (const char* const each :
       {"3 mistakes", "route 'GET /empty': '' cannot be a subprotocol: give 1 to 64 bytes",
        "route 'GET /spaced': 'two words' cannot be", "route 'GET /long': 'xxx"}) {
    EXPECT_NE(text.find(each), std::string::npos) << each << "\n" << text;
  }
}

TEST_F(RouterTest, every_mistake_is_told_at_once_and_names_its_route_and_the_remedy) {
  router.get("no-slash", fine);
  router.get("/users/{id}", [] { return Reply(); });
  router.get("/users/{user}/documents/{id}", [](Path<int>) { return Reply(); });
  router.get("/more", [](Path<int>) { return Reply(); });
  router.files("/static", "/nowhere/at/all");
  const std::string error = error_of_build();
  for (const char* const part :
       {"5 mistakes", "no-slash", "route 'GET /users/{id}'", "{id} is not taken", "as in {_id}",
        "route 'GET /users/{user}/documents/{id}': its handler takes 1", "route 'GET /more'",
        "files at '/static'"}) {
    EXPECT_NE(error.find(part), std::string::npos) << part << "\n" << error;
  }
}

TEST_F(RouterTest, parameters_are_left_out_by_a_mark_or_by_asking_the_request) {
  router.get("/a/{_x}/{_y}", fine);
  router.get("/b/{x}/{_slug}", [](Path<int> x) { return Reply::text(format_text("{}", *x)); });
  router.get("/c/{x}", [](const RequestView& request) {
    return Reply::text(Text(request.parameters()[0].value));
  });
  EXPECT_EQ(serve("GET", "/a/1/2").content_sent, "fine");
  EXPECT_EQ(serve("GET", "/b/1/2").content_sent, "1");
  EXPECT_EQ(serve("GET", "/c/3").content_sent, "3");
}

TEST_F(RouterTest, more_path_parameters_than_the_pattern_names_are_an_error_that_names_the_route) {
  router.get("/fine/{a}", [](Path<int>) { return Reply(); });
  router.get("/users/{id}", [](Path<int>, Path<int>) { return Reply(); });
  const std::string error = error_of_build();
  EXPECT_NE(error.find("/users/{id}"), std::string::npos) << error;
  EXPECT_NE(error.find("takes 2 Path parameters"), std::string::npos) << error;
}

TEST_F(RouterTest, a_route_given_twice_is_an_error_even_under_other_names) {
  router.get("/users/{id}", fine);
  router.group("/users").get("/{name}", fine);
  const std::string error = error_of_build();
  EXPECT_NE(error.find("/users/{name}"), std::string::npos) << error;
}

TEST_F(RouterTest, malformed_patterns_are_errors_and_all_of_them_are_told) {
  router.get("no-slash", fine);
  router.get("/{unclosed", fine);
  const std::string error = error_of_build();
  EXPECT_NE(error.find("no-slash"), std::string::npos) << error;
  EXPECT_NE(error.find("unclosed"), std::string::npos) << error;
}

TEST_F(RouterTest, a_router_without_routes_serves_404) {
  EXPECT_EQ(serve("GET", "/").status, 404u);
}

TEST_F(RouterTest, what_a_group_adds_after_the_service_was_built_changes_nothing) {
  Group late = router.group("/late");
  router.get("/x", fine);
  serve("GET", "/x");
  late.get("/y", fine);
  late.use(notes("late")).get("/x", fine);
  EXPECT_EQ(serve("GET", "/late/y").status, 404u);
  EXPECT_EQ(serve("GET", "/x").content_sent, "fine");
  EXPECT_TRUE(log.empty());
}

TEST_F(RouterTest, a_service_outlives_its_router_and_moves) {
  std::optional<Service> kept;
  {
    Router local;
    local.use(notes("kept"));
    local.get("/x", [text = std::string("captured")] { return Reply::text(Text(text)); });
    auto built = std::move(local).build();
    ASSERT_TRUE(built);
    kept.emplace(*std::move(built));
  }
  Dispatcher dispatcher(*kept);
  FakeExchange exchange("GET", "/x");
  exchange.serve(dispatcher);
  EXPECT_EQ(exchange.content_sent, "captured");
  EXPECT_EQ(log.size(), 2u);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
