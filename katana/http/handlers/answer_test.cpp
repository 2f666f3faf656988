#include "katana/http/handlers/answer.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "katana/base/system/propagate.hpp"
#include "katana/http/handlers/exchange_fixture_test.hpp"
#include "katana/http/handlers/from_request.hpp"
#include "katana/http/handlers/json.hpp"

namespace katana {
namespace {

struct Desk {
  int id = 0;
};
KATANA_DESCRIBE(Desk, id)

// As a function that several handlers call.
Answer<Desk> desk(int id) {
  if (id == 1) return fail(Code::not_found, "There is no such desk.");
  if (id == 2) return std::unexpected(problem(409, "It is taken.").with("X-Free", "3"));
  return Desk{id};
}
Task<Answer<Desk>> desk_later(int id) {
  KATANA_CO_TRY(Desk found, desk(id));
  co_return found;
}

// A parameter that may refuse the request.
struct Visitor {
  int number = 0;
};

class AnswerTest : public ServiceTest {
 protected:
  std::string get(const std::string& target) {
    FakeExchange& exchange = send("GET", target);
    return std::to_string(exchange.status) + " " + exchange.content_sent;
  }
};

}  // namespace

template <>
struct FromRequest<Visitor> {
  static Answer<Visitor> from(const RequestView& request) {
    const auto number = request.field("x-visitor");
    if (!number) return std::unexpected(problem(428, "Who is it?"));
    return Visitor{static_cast<int>(number->size())};
  }
};

namespace {

TEST_F(AnswerTest, a_value_is_the_reply_of_its_type) {
  add_routes([](Router& router) {
    router.get("/plain/{id}", [](Path<int> id) -> Answer<Json<Desk>> {
      KATANA_TRY(const Desk found, desk(*id));
      return Json(found);
    });
    router.get("/later/{id}", [](Path<int> id) -> Task<Answer<Json<Desk>>> {
      KATANA_CO_TRY(const Desk found, co_await desk_later(*id));
      co_return Json(found);
    });
  });
  for (const char* const path : {"/plain/3", "/later/3"}) EXPECT_EQ(get(path), R"(200 {"id":3})");
}

TEST_F(AnswerTest, an_error_is_its_problem_and_a_reply_arrives_as_it_was_made) {
  add_routes([](Router& router) {
    router.get("/{id}", [](Path<int> id) -> Task<Answer<Reply>> {
      KATANA_CO_TRY(const Desk found, co_await desk_later(*id));
      co_return Reply::text(format_text("{}", found.id));
    });
  });
  EXPECT_TRUE(get("/1").starts_with(R"(404 {"type":"about:blank","title":"Not Found")"));
  EXPECT_TRUE(get("/2").ends_with(R"("detail":"It is taken."})")) << get("/2");
  EXPECT_NE(exchange_->fields_sent.find("X-Free: 3"), std::string::npos);
  EXPECT_EQ(exchange_->status, 409u);
  EXPECT_EQ(get("/3"), "200 3");
}

TEST_F(AnswerTest, middleware_and_parameters_refuse_by_it) {
  add_routes([](Router& router) {
    Group group = router.group("");
    group.use([](const RequestView& request) -> Answer<Desk> {
      return desk(static_cast<int>(request.path().size()));
    });
    const auto show = [](FromContext<Desk> found) { return Json(*found); };
    group.get("/", show).get("/b", show).get("/cc", show);
    router.get("/visit", [](Visitor visitor) { return Json(Desk{visitor.number}); });
  });
  EXPECT_TRUE(get("/").starts_with("404 "));
  EXPECT_TRUE(get("/b").starts_with("409 "));
  EXPECT_EQ(get("/cc"), R"(200 {"id":3})");
  EXPECT_TRUE(get("/visit").starts_with("428 "));
}

TEST_F(AnswerTest, the_cause_of_an_error_is_kept_for_the_log) {
  const Answer<Desk> failed = fail(Code::internal, "the index is broken");
  ASSERT_NE(failed.error().reply().cause(), nullptr);
  EXPECT_EQ(failed.error().reply().status(), 500u);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
