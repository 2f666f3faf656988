// Functions as middleware, the values that they pass on, injected services, and parameters of the
// program's own types. tests/simulation/middleware_test.cpp tests them on connections.
#include "katana/http/handlers/middleware.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "katana/base/registry/registry.hpp"
#include "katana/http/handlers/exchange_fixture_test.hpp"
#include "katana/http/handlers/head_fields.hpp"
#include "katana/http/handlers/json.hpp"

namespace katana {
namespace {

struct BearerFields {
  std::string authorization;
};
KATANA_DESCRIBE(BearerFields, authorization)

struct Member {
  std::string name;
};

struct Memo {
  std::string text;
};
KATANA_DESCRIBE(Memo, (text, required))

// A database of users, slow at will.
struct Members {
  Gate gate;
  bool waits = false;
  int calls = 0;
};

Task<Result<Member>> authenticate(Header<BearerFields> credentials, Inject<Members> users) {
  ++users->calls;
  if (users->waits) co_await users->gate;
  const std::string& token = credentials->authorization;
  if (token.empty()) co_return fail(Code::permission_denied, "no credentials");
  if (token == "throw") throw std::runtime_error("the database is gone");
  co_return Member{token};
}

// The account of a request: awaited, and made from a value of middleware.
struct Owner {
  std::string owner;
};
struct Limit {
  int limit = 0;
};
struct LimitQuery {
  int limit = 20;
};
KATANA_DESCRIBE(LimitQuery, limit)
struct Sketch {
  std::string text;
};

}  // namespace

template <>
struct FromRequest<Owner> {
  static Task<Result<Owner>> from(FromContext<Member> user, Inject<Members> users) {
    if (users->waits) co_await users->gate;
    co_return Owner{user->name};
  }
};
template <>
struct FromRequest<Limit> {
  static std::expected<Limit, Reply> from(Query<LimitQuery> query) {
    if (query->limit > 100) return std::unexpected(problem(400, "limit is at most 100"));
    return Limit{query->limit};
  }
};
template <>
struct FromRequest<Sketch> {
  static Task<Sketch> from(Json<Memo> note, Inject<Members> users) {
    if (users->waits) co_await users->gate;
    co_return Sketch{note->text};
  }
};

namespace {

class MiddlewareTest : public ServiceTest {
 protected:
  MiddlewareTest() {
    registry::Registry registry;
    registry.instance<Members>(users_);
    services_ = *std::move(registry).seal();
  }
  template <class AddRoutes>
  void add(AddRoutes&& add_some) {
    add_routes([&](Router& router) {
      router.services(*services_);
      add_some(router);
    });
  }
  // The reason why a router with these routes cannot be built.
  template <class AddRoutes>
  std::string mistake(AddRoutes&& add_some, bool has_services = true) {
    Router router;
    if (has_services) router.services(*services_);
    add_some(router);
    const auto built = std::move(router).build();
    return built ? "" : built.error().describe();
  }
  FakeExchange& get(std::string_view fields = "Authorization: ann\n") {
    return send("GET", "/me", fields);
  }
  void open_gate() {
    ASSERT_TRUE(users_.gate.waiting());
    users_.gate.open();
  }

  Members users_;
  std::unique_ptr<registry::Services> services_;
};

Reply greet(FromContext<Member> user) { return Reply::text(format_text("hello {}", user->name)); }

TEST_F(MiddlewareTest, a_handler_takes_what_a_coroutine_found) {
  add([](Router& router) { router.use(authenticate).get("/me", greet); });
  EXPECT_EQ(get().content_sent, "hello ann");
  EXPECT_FALSE(exchange_->holds());
}

TEST_F(MiddlewareTest, it_may_wait_and_the_handler_is_called_then) {
  add([](Router& router) { router.use(authenticate).get("/me", greet); });
  users_.waits = true;
  EXPECT_FALSE(get().completed);
  EXPECT_GT(exchange_->pending_bytes() + exchange_->kept()->held_bytes(), 0u);
  open_gate();
  EXPECT_EQ(exchange_->content_sent, "hello ann");
  EXPECT_EQ(users_.calls, 1);
}

TEST_F(MiddlewareTest, an_error_answers_instead_of_the_handler) {
  for (const bool waits : {false, true}) {
    users_.waits = waits;
    add([&](Router& router) {
      router.use({.after = [](const RequestView&, Reply& reply) { reply.add_field("X-A", "1"); }});
      router.use(authenticate).get("/me", [&](FromContext<Member>) {
        ADD_FAILURE() << "the handler was called";
        return Reply(200);
      });
    });
    get("");
    if (waits) open_gate();
    EXPECT_EQ(exchange_->status, 403u);
    EXPECT_NE(exchange_->content_sent.find("no credentials"), std::string::npos);
    EXPECT_NE(exchange_->fields_sent.find("X-A: 1"), std::string::npos);
  }
}

TEST_F(MiddlewareTest, an_exception_is_answered_with_500_and_reported) {
  for (const bool waits : {false, true}) {
    users_.waits = waits;
    add([](Router& router) { router.use(authenticate).get("/me", greet); });
    get("Authorization: throw\n");
    if (waits) open_gate();
    EXPECT_EQ(exchange_->status, 500u);
    EXPECT_EQ(exchange_->failures, 1);
    ASSERT_EQ(exchange_->failed.lines.size(), 1u);
    EXPECT_NE(exchange_->failed.lines[0].find("the database is gone"), std::string::npos);
  }
}

TEST_F(MiddlewareTest, the_cause_of_a_failure_is_recorded_once_whatever_an_after_sends_instead) {
  for (const bool replaces : {false, true}) {
    add([&](Router& router) {
      router.use({.after = [replaces](const RequestView&, Reply& reply) {
        if (replaces) reply = Reply(500, "text/plain", Literal("Sorry."));
      }});
      router.get("/me", []() -> Result<Reply> { return fail(Code::internal, "the disk is full"); });
    });
    get();
    EXPECT_EQ(exchange_->status, 500u);
    ASSERT_EQ(exchange_->failed.lines.size(), 1u);
    EXPECT_NE(exchange_->failed.lines[0].find("the disk is full"), std::string::npos);
  }
}

TEST_F(MiddlewareTest, what_is_wrong_with_a_reply_is_recorded_when_an_after_replaces_it) {
  add([](Router& router) {
    router.use({.after = [](const RequestView&, Reply& reply) { reply = Reply(204); }});
    router.get("/me", [] { return Reply(200).with("X-A", "two\r\nlines"); });
  });
  get();
  EXPECT_EQ(exchange_->status, 204u);
  ASSERT_EQ(exchange_->failed.lines.size(), 1u);
  EXPECT_NE(exchange_->failed.lines[0].find("X-A"), std::string::npos);
}

TEST_F(MiddlewareTest, a_coroutine_is_destroyed_when_its_request_is_cancelled) {
  add([&](Router& router) {
    router
        .use([&, counted = Counted(alive_)](Inject<Members> users) -> Task<void> {
          const Counted local(alive_);
          co_await users->gate;
        })
        .get("/me", [] { return Reply(200); });
  });
  const int before = alive_;
  get();
  EXPECT_EQ(alive_, before + 1);
  exchange_->cancel();
  EXPECT_EQ(alive_, before);
  EXPECT_FALSE(users_.gate.waiting());
}

TEST_F(MiddlewareTest, functions_run_in_the_order_of_use_outermost_first) {
  std::string order;
  add([&](Router& router) {
    router.use([&] { order += "a"; });
    router.use({.before = [&](const RequestView&) -> std::optional<Reply> {
      order += "b";
      return std::nullopt;
    }});
    Group inner = router.group("");
    inner.use([&]() -> Task<void> {
      order += "c";
      co_return;
    });
    inner.use([&](const RequestView& request) { order += request.path(); });
    inner.get("/me", [&] {
      order += "!";
      return Reply(204);
    });
  });
  EXPECT_EQ(get().status, 204u);
  EXPECT_EQ(order, "abc/me!");
}

TEST_F(MiddlewareTest, each_form_of_result_goes_on_or_answers) {
  bool refuses = false;
  add([&](Router& router) {
    router.use([&]() -> std::optional<Reply> {
      if (refuses) return Reply(418);
      return std::nullopt;
    });
    router.use([]() -> Result<void> { return {}; });
    router.use([]() -> std::expected<void, Reply> { return {}; });
    router.use([]() -> std::expected<int, Reply> { return 7; });
    router.use([]() -> Task<Result<void>> { co_return Result<void>(); });
    router.use([](FromContext<int> seven) { return Member{std::to_string(*seven)}; });
    router.get("/me", greet);
  });
  EXPECT_EQ(get().content_sent, "hello 7");
  refuses = true;
  EXPECT_EQ(get().status, 418u);
}

TEST_F(MiddlewareTest, the_value_that_came_last_counts) {
  add([](Router& router) {
    router.use([] { return Member{"outer"}; });
    router.use([](FromContext<Member> user) { return Member{user->name + " inner"}; });
    router.get("/me", greet);
  });
  EXPECT_EQ(get().content_sent, "hello outer inner");
}

TEST_F(MiddlewareTest, a_value_outlives_the_request_with_whoever_took_it) {
  std::optional<FromContext<Member>> taken;
  add([&](Router& router) {
    router.use(authenticate).get("/me", [&](FromContext<Member> user) {
      taken = user;
      return Reply(204);
    });
  });
  get();
  exchange_.reset();
  EXPECT_EQ((*taken)->name, "ann");
}

// ---- content ----

TEST_F(MiddlewareTest, content_is_asked_for_behind_a_coroutine_that_waits) {
  add([](Router& router) {
    router.use(authenticate).post("/me", [](FromContext<Member> user, Json<Memo> note) {
      return Reply::text(format_text("{}: {}", user->name, note->text));
    });
  });
  users_.waits = true;
  exchange_ = std::make_unique<FakeExchange>(
      "POST", "/me", "Authorization: ann\nContent-Type: application/json\n");
  exchange_->awaiting_content(20).serve(dispatcher());
  EXPECT_FALSE(exchange_->collect_max.has_value());
  open_gate();
  ASSERT_TRUE(exchange_->collect_max.has_value());
  exchange_->collected(R"({"text": "milk"})");
  EXPECT_EQ(exchange_->content_sent, "ann: milk");
  EXPECT_EQ(users_.calls, 1);
}

TEST_F(MiddlewareTest, a_function_may_take_the_content_and_the_handler_has_it_too) {
  for (const bool waits : {false, true}) {
    users_.waits = waits;
    add([](Router& router) {
      router.use([](Json<Memo> note, Inject<Members> users) -> Task<Result<void>> {
        if (users->waits) co_await users->gate;
        if (note->text == "spam") co_return fail(Code::permission_denied, "spam");
        co_return Result<void>();
      });
      router.post("/me",
                  [](const RequestView& request) { return Reply::text(Text(request.content())); });
    });
    const auto post = [&](std::string content) {
      exchange_ = std::make_unique<FakeExchange>("POST", "/me", "Content-Type: application/json\n");
      exchange_->awaiting_content().serve(dispatcher());
      exchange_->collected(std::move(content));
      if (waits) open_gate();
    };
    post(R"({"text": "milk"})");
    EXPECT_EQ(exchange_->content_sent, R"({"text": "milk"})");
    post(R"({"text": "spam"})");
    EXPECT_EQ(exchange_->status, 403u);
    exchange_ = std::make_unique<FakeExchange>("POST", "/me", "Content-Type: application/json\n");
    exchange_->awaiting_content().serve(dispatcher());
    exchange_->collected("[]");
    EXPECT_EQ(exchange_->status, 422u);
  }
}

TEST_F(MiddlewareTest, a_streaming_handler_reads_behind_a_coroutine_that_waits) {
  add([](Router& router) {
    router.use(authenticate)
        .post("/me",
              [](FromContext<Member> user, ContentReader content, ReplyWriter reply) -> Task<void> {
                reply.begin(200, "text/plain");
                co_await reply.write(user->name);
                for (;;) {
                  const Text piece = co_await content.read();
                  if (piece.empty()) co_return;
                  co_await reply.write(piece.bytes());
                }
              });
  });
  users_.waits = true;
  exchange_ = std::make_unique<FakeExchange>("POST", "/me", "Authorization: ann\n");
  exchange_->awaiting_content().serve(dispatcher());
  EXPECT_FALSE(exchange_->stream_max.has_value());
  open_gate();
  EXPECT_TRUE(exchange_->stream_max.has_value());
  exchange_->streamed(" milk", true);
  EXPECT_EQ(exchange_->content_sent, "ann milk");
}

// ---- parameters of the program's own ----

TEST_F(MiddlewareTest, a_type_with_from_request_is_a_parameter) {
  add([](Router& router) {
    router.get("/me", [](Limit page) { return Reply::text(format_text("{}", page.limit)); });
  });
  EXPECT_EQ(get().content_sent, "20");
  EXPECT_EQ(send("GET", "/me?limit=7").content_sent, "7");
  EXPECT_EQ(send("GET", "/me?limit=101").status, 400u);
  EXPECT_NE(exchange_->content_sent.find("limit is at most 100"), std::string::npos);
  EXPECT_EQ(send("GET", "/me?limit=x").status, 400u);
}

TEST_F(MiddlewareTest, one_that_awaits_serves_all_three_forms_of_handlers) {
  for (const bool waits : {false, true}) {
    users_.waits = waits;
    add([](Router& router) {
      router.use([](Header<BearerFields> of) { return Member{of->authorization}; });
      router.get("/me", [](Owner account, Limit page) {
        return Reply::text(format_text("{} {}", account.owner, page.limit));
      });
      router.put("/me", [](Owner account) -> Task<Reply> {
        co_return Reply::text(format_text("{}", account.owner));
      });
      router.post("/me", [](Owner account, ReplyWriter reply) -> Task<void> {
        reply.begin(200, "text/plain");
        co_await reply.write(account.owner);
      });
    });
    for (const std::string_view method : {"GET", "PUT", "POST"}) {
      send(method, "/me", "Authorization: ann\n");
      if (waits) open_gate();
      EXPECT_EQ(exchange_->content_sent, method == "GET" ? "ann 20" : "ann") << method;
    }
  }
}

TEST_F(MiddlewareTest, one_that_takes_content_has_it_collected) {
  add([](Router& router) {
    router.post("/me", [](Sketch draft) { return Reply::text(format_text("{}", draft.text)); });
  });
  for (const bool waits : {false, true}) {
    users_.waits = waits;
    exchange_ = std::make_unique<FakeExchange>("POST", "/me", "Content-Type: application/json\n");
    exchange_->awaiting_content().serve(dispatcher());
    exchange_->collected(R"({"text": "milk"})");
    if (waits) open_gate();
    EXPECT_EQ(exchange_->content_sent, "milk");
  }
}

// ---- mistakes ----

TEST_F(MiddlewareTest, a_value_that_nothing_provides_is_a_mistake_of_the_route) {
  const std::string found = mistake([](Router& router) { router.get("/me", greet); });
  EXPECT_NE(found.find("route 'GET /me': its handler takes FromContext<"), std::string::npos);
  EXPECT_NE(found.find("Member>, which no middleware in front of it provides"), std::string::npos);
  // The same holds for a middleware, and a provider behind it does not help.
  EXPECT_NE(mistake([](Router& router) {
              router.use([](FromContext<Member>) {}).use([] { return Member{}; });
              router.get("/me", greet);
            }).find("a middleware of it takes FromContext<"),
            std::string::npos);
}

TEST_F(MiddlewareTest, a_service_that_is_not_registered_is_a_mistake_of_the_route) {
  const auto takes = [](Router& router) {
    router.get("/me", [](Inject<Members>) { return Reply(200); });
    router.get("/you", [](Inject<std::string>) { return Reply(200); });
  };
  const std::string found = mistake(takes);
  EXPECT_EQ(found.find("/me"), std::string::npos) << found;
  EXPECT_NE(found.find("route 'GET /you': its handler takes Inject<"), std::string::npos);
  EXPECT_NE(found.find("which is not registered as a singleton"), std::string::npos);
  EXPECT_NE(mistake(takes, false).find("the router has no services: call Router::services()"),
            std::string::npos);
}

TEST_F(MiddlewareTest, content_is_read_as_a_whole_or_in_pieces) {
  EXPECT_NE(mistake([](Router& router) {
              router.use([](Json<Memo>) {});
              router.post("/me", [](ContentReader, ReplyWriter) -> Task<void> { co_return; });
            }).find("reads the content as a whole, and its handler in pieces"),
            std::string::npos);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
