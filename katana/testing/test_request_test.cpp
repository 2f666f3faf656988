#include "katana/testing/test_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "katana/base/registry/registry.hpp"
#include "katana/base/values/described.hpp"
#include "katana/http/handlers/json.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/testing/test_call.hpp"

namespace katana::testing {
namespace {

using ::testing::HasSubstr;

struct Item {
  int id = 0;
  std::string name;
};
KATANA_DESCRIBE(Item, id, name)

struct Filter {
  int page = 1;
};
KATANA_DESCRIBE(Filter, page)

struct User {
  std::string name;
};

struct Stock {
  int count = 42;
};

std::string describe(const RequestView& request) {
  return std::string(request.method_text()) + " " + std::string(request.path()) + " " +
         std::string(request.query()) + " " + std::string(request.field("x-a").value_or("-")) +
         " " + std::string(request.content());
}

TEST(TestRequest, a_view_has_what_was_given) {
  TestRequest request("POST", "/a%62/./c?q=1&r=2");
  request.field("X-A", "value").content("body");
  EXPECT_EQ(request.mistake(), "");
  EXPECT_EQ(describe(request.view()), "POST /ab/c q=1&r=2 value body");
  EXPECT_EQ(request.view().target(), "/a%62/./c?q=1&r=2");
  request.field("Host", "example.org");
  EXPECT_EQ(request.view().authority(), "example.org");
}

TEST(TestRequest, a_pattern_gives_parameters) {
  TestRequest request("GET", "/users/7/posts/9");
  request.pattern("/users/{user}/posts/{post}");
  EXPECT_EQ(request.mistake(), "");
  EXPECT_EQ(request.view().parameters().find("user"), "7");
  EXPECT_EQ(request.view().parameters().find("post"), "9");
}

TEST(TestRequest, an_owned_request_outlives_it) {
  TestRequest original("PUT", "/x?y");
  original.pattern("/{name}").content("kept");
  const Request owned = original.request();
  original = TestRequest("GET", "/other");
  EXPECT_EQ(describe(owned.view()), "PUT /x y - kept");
  EXPECT_EQ(owned.parameters().find("name"), "x");
}

TEST(TestRequest, a_moved_request_is_the_same) {
  TestRequest request("GET", "/s");
  request.field("X-A", "1").content("short");
  EXPECT_EQ(describe(request.view()), "GET /s  1 short");
  const TestRequest moved = std::move(request);
  request = TestRequest("PUT", "/other");
  EXPECT_EQ(describe(moved.view()), "GET /s  1 short");
}

TEST(TestRequest, what_no_request_can_have_is_a_sentence) {
  EXPECT_THAT(TestRequest("GET", "no-path").mistake(), HasSubstr("the target is no path"));
  EXPECT_THAT(TestRequest("GET", "/%zz").mistake(), HasSubstr("the target is no path"));
  EXPECT_THAT(TestRequest("GET", "/").field("a b", "c").mistake(), HasSubstr("is no field"));
  EXPECT_THAT(TestRequest("GET", "/a").pattern("/b/{c}").mistake(),
              HasSubstr("does not match the pattern '/b/{c}'"));
  EXPECT_NE(TestRequest("GET", "/a").pattern("/{").mistake(), "");
  EXPECT_THAT(TestRequest("GET", "/" + std::string(70'000, 'a')).mistake(),
              HasSubstr("larger than any request's"));
}

TEST(Call, a_plain_handler_is_called_with_its_parameters) {
  const auto show = [](Path<int> id, Query<Filter> filter) {
    return Json(Item{*id, std::to_string(filter->page)});
  };
  const TestReply reply = call(show, TestRequest("GET", "/items/7?page=3"));
  ASSERT_EQ(reply.status(), 200u) << reply;
  EXPECT_EQ(reply.json<Item>()->id, 7);
  EXPECT_EQ(reply.json<Item>()->name, "3");
  EXPECT_EQ(call(show, TestRequest("GET", "/items/seven")).status(), 400u);
}

TEST(Call, a_coroutine_runs_in_virtual_time) {
  const auto slow = [](Json<Item> item) -> Task<Reply> {
    co_await net::sleep_for(seconds(20));
    co_return Reply::text(Text(item->name));
  };
  const TestReply reply = call(slow, TestRequest("POST", "/items").json(Item{1, "ada"}));
  EXPECT_EQ(reply.content(), "ada") << reply;
  EXPECT_EQ(call(slow, TestRequest("POST", "/items").content("{")).status(), 400u);
}

TEST(Call, a_stream_reads_and_writes) {
  const auto echo = [](ContentReader content, ReplyWriter reply) -> Task<void> {
    reply.begin(200, "text/plain");
    for (;;) {
      const Text piece = co_await content.read();
      if (piece.empty()) co_return;
      co_await reply.write(piece.bytes());
    }
  };
  EXPECT_EQ(call(echo, TestRequest("POST", "/").content("streamed")).content(), "streamed");
}

TEST(Call, values_and_services_are_given) {
  registry::Registry registry;
  Stock stocked;
  registry.instance<Stock>(stocked);
  const auto services = std::move(registry).seal();
  ASSERT_TRUE(services) << services.error().describe();
  const auto whoami = [](FromContext<User> user, Inject<Stock> stock) {
    return Reply::text(Text(user->name + " " + std::to_string(stock->count)));
  };
  const TestReply reply =
      call(whoami, TestRequest().with(User{"ada"}), {.services = services->get()});
  EXPECT_EQ(reply.content(), "ada 42") << reply;
}

TEST(Call, what_is_missing_is_a_sentence) {
  const auto whoami = [](FromContext<User> user) { return Reply::text(Text(user->name)); };
  const TestReply no_user = call(whoami);
  EXPECT_EQ(no_user.status(), 0u);
  EXPECT_THAT(no_user.problem(), HasSubstr("User"));
  const auto two = [](Path<int>, Path<int>) { return Reply(); };
  EXPECT_THAT(call(two, TestRequest("GET", "/1")).problem(),
              HasSubstr("the handler takes 2 Path<T> parameters and the path has 1 segments"));
  EXPECT_THAT(call(whoami, TestRequest("GET", "none")).problem(), HasSubstr("no path"));
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
