#include "katana/http/handlers/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "katana/testing/test_server.hpp"

namespace katana {
namespace {

using ::testing::HasSubstr;

struct NewUser {
  std::string name;
  std::string email;
  std::optional<int> age;
};
KATANA_DESCRIBE(NewUser, (name, length(1, 80)), (email, format::email), (age, range(0, 150)))

struct User {
  std::int64_t id = 0;
  std::string name;
};
KATANA_DESCRIBE(User, id, name)

Result<Created<User>> add_user(Json<NewUser> user) {
  if (user->name == "root") return fail(Code::already_exists, "There is a root already.");
  return Created{User{.id = 7, .name = std::move(user->name)}, "/users/7"};
}

// Without a Content-Type if `type` is empty.
template <class F>
testing::TestReply answer(F handler, std::string_view content,
                          std::string_view type = "application/json") {
  Router router;
  router.post("/users", std::move(handler));
  testing::TestServer server(std::move(router).build());
  testing::TestFields fields = {{"Content-Length", std::to_string(content.size())}};
  if (!type.empty()) fields.emplace_back("Content-Type", type);
  testing::PendingReply pending = server.begin_pieces("POST", "/users", fields);
  pending.send_some(content);
  pending.finish();
  return pending.reply();
}
testing::TestReply post(std::string_view content, std::string_view type = "application/json") {
  return answer(add_user, content, type);
}

constexpr std::string_view good = R"({"name":"Ada","email":"ada@example.org"})";

TEST(Json, content_is_read_and_what_was_created_is_answered) {
  const testing::TestReply created = post(good);
  EXPECT_EQ(created.status(), 201u);
  EXPECT_EQ(created.content(), R"({"id":7,"name":"Ada"})");
  EXPECT_EQ(created.header("content-type"), "application/json");
  EXPECT_EQ(created.header("location"), "/users/7");
}

TEST(Json, an_error_of_the_handler_is_a_problem) {
  EXPECT_EQ(post(R"({"name":"root","email":"r@b"})").status(), 409u);
}

TEST(Json, types_that_are_json_are_taken) {
  for (const auto* type :
       {"application/json", "Application/JSON", "application/json; charset=utf-8",
        "application/merge-patch+json", " application/json "}) {
    EXPECT_EQ(post(good, type).status(), 201u) << type;
  }
}

TEST(Json, other_types_are_refused_with_415_and_what_is_taken) {
  for (const auto* type : {"text/plain", "application/jsonp", "application/x-www-form-urlencoded",
                           "json", "+json", "text/json"}) {
    const testing::TestReply refused = post(good, type);
    EXPECT_EQ(refused.status(), 415u) << type;
    EXPECT_THAT(std::string(refused.header("accept").value_or("none")),
                HasSubstr("application/json"));
    EXPECT_EQ(refused.header("accept-encoding"), std::nullopt) << "it is not about codings";
    EXPECT_THAT(refused.content(), HasSubstr(type));
  }
  EXPECT_EQ(answer(add_user, good, "").status(), 415u);
}

TEST(Json, malformed_content_is_refused_with_400_and_its_place) {
  const testing::TestReply refused = post(R"({"name":"Ada",})");
  EXPECT_EQ(refused.status(), 400u);
  EXPECT_EQ(refused.header("content-type"), "application/problem+json");
  EXPECT_THAT(refused.content(), HasSubstr("malformed JSON: "));
  EXPECT_EQ(post("").status(), 400u);
}

TEST(Json, content_that_does_not_fit_is_refused_with_422_and_every_fault) {
  const testing::TestReply refused = post(R"({"name":"","email":"x","age":-1})");
  EXPECT_EQ(refused.status(), 422u);
  EXPECT_EQ(refused.header("content-type"), "application/problem+json");
  EXPECT_EQ(
      refused.content(),
      R"({"type":"urn:katana:problem:validation","title":"Unprocessable Content","status":422,)"
      R"("detail":"The content does not fit.","errors":[)"
      R"({"pointer":"/name","detail":"expected 1 to 80 characters, got 0"},)"
      R"({"pointer":"/email","detail":"expected an e-mail address, got 'x'"},)"
      R"({"pointer":"/age","detail":"expected 0 to 150, got -1"}]})");
}

TEST(Json, faults_beyond_the_limit_are_counted) {
  std::string many = "[";
  for (int count = 0; count < 20; ++count) many += "true,";
  const testing::TestReply refused =
      answer([](Json<std::vector<int>>) { return Reply(); }, many + "1]");
  EXPECT_EQ(refused.status(), 422u);
  EXPECT_THAT(refused.content(), HasSubstr("4 more faults are left out"));
}

TEST(Json, replies_may_have_another_status) {
  const auto accepted = [](Json<NewUser>) { return Json{User{.id = 1, .name = "x"}, 202}; };
  const testing::TestReply answered = answer(accepted, good);
  EXPECT_EQ(answered.status(), 202u);
  EXPECT_EQ(answered.content(), R"({"id":1,"name":"x"})");
}

TEST(Json, coroutines_take_and_return_it) {
  const auto add = [](Json<NewUser> user) -> Task<Result<Json<User>>> {
    co_return Json{User{.id = 2, .name = user->name}};
  };
  const testing::TestReply answered = answer(add, good);
  EXPECT_EQ(answered.status(), 200u);
  EXPECT_EQ(answered.content(), R"({"id":2,"name":"Ada"})");
}

TEST(Json, a_location_that_could_begin_another_line_is_not_sent) {
  const auto add = [](Json<NewUser>) { return Created{1, "/x\r\nSet-Cookie: a=b"}; };
  const testing::TestReply answered = answer(add, good);
  EXPECT_EQ(answered.status(), 500u);
}

TEST(Json, values_of_any_shape_are_taken) {
  const auto echo = [](Json<container::Value> value) { return value; };
  EXPECT_EQ(answer(echo, R"({"b":[1,2.0],"a":null})").content(), R"({"b":[1,2.0],"a":null})");
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
