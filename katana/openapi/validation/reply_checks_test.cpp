#include "katana/openapi/validation/reply_checks.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/failure.hpp"
#include "katana/http/middleware/compression.hpp"
#include "katana/openapi/document/openapi.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::openapi {
namespace {

struct Item {
  std::string name;
  int count = 0;
};
KATANA_DESCRIBE(Item, (name, required, rules::length(1, 20)),
                (count, rules::defaulted, rules::range(0, 10)))

class Reports final : public FailureObserver {
 public:
  void on_failure(const Failure& failure) noexcept override {
    all.push_back(describe(failure));
    severities.push_back(failure.severity);
  }
  std::vector<std::string> all;
  std::vector<Severity> severities;
};

class ReplyChecksTest : public ::testing::Test {
 protected:
  // Handlers answer what the tests say, whatever the document says.
  testing::TestServer server(ReplyChecks checks, bool compresses = false) {
    Router router;
    check_replies(router, checks);
    if (compresses) router.use(compression());
    Document document({.title = "Items", .version = "1"});
    Routes routes = document.describe(router.group("/items"));
    const auto answer = [this](Path<std::string>) {
      Reply reply = Reply(status_, "application/json", answer_).with("X-Items", "1");
      if (!coding_.empty()) reply.add_field("Content-Encoding", coding_);
      return reply;
    };
    routes.get(
        "/{id}", answer,
        {.id = "getItem",
         .replies = {json_reply<std::vector<Item>>(200, "They.", {{"X-Items", "How many."}})}});
    routes.put("/{id}", [](Path<std::string>, Json<Item> item) { return Json(item.value); });
    router.get("/bare", [] { return Reply::json("1"); });
    document.keep(router);
    return server(std::move(router));
  }
  testing::TestServer server(Router router) {
    testing::TestOptions test;
    test.check_contract = false;
    test.http.failures = &failures_;
    return testing::TestServer(std::move(router).build(), test);
  }
  unsigned status_ = 200;
  std::string answer_ = "[]";
  std::string coding_;  // of the handler's own
  Reports failures_;
};

TEST_F(ReplyChecksTest, what_obeys_or_is_not_described_is_not_reported) {
  auto served = server(ReplyChecks::report);
  answer_ = R"([{"name":"a","count":1}])";
  EXPECT_EQ(served.get("/items/7").status(), 200u);
  EXPECT_EQ(served.put("/items/7", R"({"name":"a"})").status(), 200u);
  EXPECT_EQ(served.put("/items/7", R"({"name":""})").status(), 422u);
  EXPECT_EQ(served.put("/items/7", "{").status(), 400u);
  EXPECT_EQ(served.get("/bare").status(), 200u);
  EXPECT_EQ(served.get("/nowhere").status(), 404u);
  EXPECT_TRUE(failures_.all.empty()) << failures_.all[0];
}

TEST_F(ReplyChecksTest, each_place_is_reported_once_with_operation_status_pointer_and_remedy) {
  auto served = server(ReplyChecks::report);
  answer_ = R"([{"name":"a"},{"name":"b","count":11}])";
  const auto reply = served.get("/items/7");
  EXPECT_EQ(reply.status(), 200u);
  EXPECT_EQ(reply.content(), answer_);
  ASSERT_EQ(failures_.all.size(), 1u);
  EXPECT_EQ(failures_.all[0],
            "GET /items/{id}: a reply departs from its description: status 200, content "
            "/1/count: must be at most 10; correct the handler, or responses/200 of the operation "
            "'getItem' (GET /items/{id})");
  EXPECT_EQ(failures_.severities[0], Severity::warning);
  // The same place of another element, and of another request.
  answer_ = R"([{"name":"a","count":-1}])";
  EXPECT_EQ(served.get("/items/8").status(), 200u);
  EXPECT_EQ(failures_.all.size(), 1u);
  // Another place: that alone.
  answer_ = R"([{"name":"","count":11}])";
  EXPECT_EQ(served.get("/items/8").status(), 200u);
  ASSERT_EQ(failures_.all.size(), 2u);
  EXPECT_TRUE(failures_.all[1].contains("content /0/name: must have")) << failures_.all[1];
  EXPECT_FALSE(failures_.all[1].contains("count")) << failures_.all[1];
}

TEST_F(ReplyChecksTest, a_status_that_is_not_described_is_reported_with_what_to_add) {
  Router router;
  check_replies(router, ReplyChecks::report);
  router.get("/x", [this] { return Reply(status_, "text/plain", answer_); });
  router.document([]() -> Result<ServiceDocument> {
    return ServiceDocument{.text = R"({"openapi":"3.1.0","info":{"title":"t","version":"1"},)"
                                   R"("paths":{"/x":{"get":{"operationId":"getX",)"
                                   R"("responses":{"204":{"description":"ok"}}}}}})"};
  });
  testing::TestServer served = server(std::move(router));
  for (const unsigned status : {304u, 400u, 413u, 422u, 429u, 503u}) {
    status_ = status;
    EXPECT_EQ(served.get("/x").status(), status);
  }
  EXPECT_TRUE(failures_.all.empty()) << failures_.all[0];
  status_ = 409;
  EXPECT_EQ(served.get("/x").status(), 409u);
  ASSERT_EQ(failures_.all.size(), 1u);
  EXPECT_EQ(failures_.all[0],
            "GET /x: a reply departs from its description: status: 409 is not among those that are "
            "described: 204; add it to the replies of the operation 'getX' (GET /x)");
}

TEST_F(ReplyChecksTest, what_default_says_is_not_meant_for_304) {
  auto served = server(ReplyChecks::report);
  status_ = 304;
  EXPECT_EQ(served.get("/items/7").status(), 304u);
  EXPECT_TRUE(failures_.all.empty()) << failures_.all[0];
  status_ = 409;
  EXPECT_EQ(served.get("/items/7").status(), 409u);
  ASSERT_EQ(failures_.all.size(), 1u);
  EXPECT_TRUE(failures_.all[0].contains("responses/default of the operation 'getItem'"))
      << failures_.all[0];
}

TEST_F(ReplyChecksTest, content_is_looked_at_before_it_is_compressed) {
  auto served = server(ReplyChecks::report, true);
  answer_ = fmt::format(R"([{{"name":"{}"}}])", std::string(2000, 'a'));
  const auto reply = served.get("/items/7", {{"Accept-Encoding", "gzip"}});
  EXPECT_EQ(reply.header("content-encoding"), "gzip");
  ASSERT_EQ(failures_.all.size(), 1u);
  EXPECT_TRUE(failures_.all[0].contains("content /0/name: must have at most 20"));
}

TEST_F(ReplyChecksTest, content_that_its_handler_has_coded_is_not_looked_at) {
  coding_ = "br";
  auto served = server(ReplyChecks::report);
  answer_ = "no array, and no JSON either";
  EXPECT_EQ(served.get("/items/7").status(), 200u);
  EXPECT_TRUE(failures_.all.empty()) << failures_.all[0];
}

TEST_F(ReplyChecksTest, a_reply_to_head_is_judged_by_its_head) {
  auto served = server(ReplyChecks::report);
  answer_ = "{}";
  EXPECT_EQ(served.head("/items/7").status(), 200u);
  EXPECT_TRUE(failures_.all.empty()) << failures_.all[0];
}

TEST_F(ReplyChecksTest, what_departs_is_500_where_that_is_chosen_and_every_one_is_reported) {
  auto served = server(ReplyChecks::refuse);
  EXPECT_EQ(served.get("/items/7").status(), 200u);
  answer_ = "{}";
  for (const std::size_t count : {1u, 2u}) {
    const auto reply = served.get("/items/7");
    EXPECT_EQ(reply.status(), 500u);
    EXPECT_FALSE(reply.content().contains("expected")) << reply;
    EXPECT_EQ(failures_.all.size(), count);
  }
  EXPECT_TRUE(failures_.all[0].contains("content: expected an array, got an object"))
      << failures_.all[0];
}

TEST_F(ReplyChecksTest, nobody_looks_where_they_are_off) {
  auto served = server(ReplyChecks::off);
  answer_ = "{}";
  EXPECT_EQ(served.get("/items/7").status(), 200u);
  EXPECT_TRUE(failures_.all.empty());
}

TEST_F(ReplyChecksTest, a_document_that_is_no_description_is_reported_once) {
  Router router;
  check_replies(router, ReplyChecks::report);
  router.get("/x", [] { return Reply(200); });
  router.document(
      []() -> Result<ServiceDocument> { return ServiceDocument{.name = "broken", .text = "{}"}; });
  testing::TestServer served = server(std::move(router));
  EXPECT_EQ(served.get("/x").status(), 200u);
  EXPECT_EQ(served.get("/x").status(), 200u);
  ASSERT_EQ(failures_.all.size(), 1u);
  EXPECT_TRUE(failures_.all[0].contains("by the document 'broken'")) << failures_.all[0];
}

// The last place is reported as the last, and no place is forgotten.
TEST(ReportedPlaces, no_more_than_so_many_are_kept) {
  model::Problems problems;
  const auto contract = Contract::compile(read_description_text("x.yaml", R"(openapi: 3.1.0
info: {title: t, version: "1"}
paths: {/x: {get: {responses: {'200': {description: ok}}}}}
)",
                                                                problems));
  ASSERT_TRUE(contract);
  const ContractOperation& operation = contract->operations()[0];
  detail::ReportedPlaces places;
  const auto is_new = [&](std::size_t number, bool& is_last) {
    Violations found;
    found.add(Part::content, {}, fmt::format("/n{}", number), "is wrong");
    is_last = false;
    return !places.take_new(operation, 200, found, is_last).empty();
  };
  bool is_last = false;
  for (std::size_t number = 0; number < detail::ReportedPlaces::places_max; ++number) {
    EXPECT_TRUE(is_new(number, is_last)) << number;
    EXPECT_EQ(is_last, number + 1 == detail::ReportedPlaces::places_max) << number;
    EXPECT_FALSE(is_new(number, is_last)) << number;
  }
  EXPECT_FALSE(is_new(detail::ReportedPlaces::places_max, is_last));
  EXPECT_FALSE(is_last);
}

}  // namespace
}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
