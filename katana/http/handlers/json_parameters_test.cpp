// Parameters whose text is JSON: container::AsJson<T> in a path, a query, fields and cookies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "katana/data/container/as_json.hpp"
#include "katana/http/handlers/head_fields.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/testing/test_server.hpp"

namespace katana {
namespace {

using container::AsJson;
using ::testing::HasSubstr;

struct Filter {
  std::string colour;
  std::optional<int> limit;
};
KATANA_DESCRIBE(Filter, colour, (limit, range(1, 9)))

struct FilterQuery {
  std::optional<AsJson<Filter>> filter;
  AsJson<std::vector<int>> ids;
};
KATANA_DESCRIBE(FilterQuery, filter, (ids, required))

struct FilterFields {
  std::optional<AsJson<Filter>> x_filter;
};
KATANA_DESCRIBE(FilterFields, x_filter)

struct FilterCookies {
  std::optional<AsJson<Filter>> filter;
};
KATANA_DESCRIBE(FilterCookies, filter)

std::string shown(const std::optional<AsJson<Filter>>& filter) {
  return filter ? container::to_json(**filter) : "none";
}

Service service() {
  Router router;
  router.get("/query", [](Query<FilterQuery> query) {
    return Reply::text(shown(query->filter) + container::to_json(*query->ids));
  });
  router.get("/path/{ids}", [](Path<AsJson<std::vector<int>>> ids) {
    return Reply::text(std::to_string((*ids)->size()));
  });
  router.get("/fields", [](Header<FilterFields> fields, Cookie<FilterCookies> cookies) {
    return Reply::text(shown(fields->x_filter) + shown(cookies->filter));
  });
  return *std::move(router).build();
}

class JsonParameters : public ::testing::Test {
 protected:
  testing::TestServer server_{service()};
};

TEST_F(JsonParameters, are_read_from_queries_and_paths) {
  EXPECT_EQ(server_.get("/query?ids=%5B1,2%5D&filter=%7B%22colour%22%3A%22red%22%7D").content(),
            R"({"colour":"red","limit":null}[1,2])");
  EXPECT_EQ(server_.get("/query?ids=[]").content(), "none[]");
  EXPECT_EQ(server_.get("/path/%5B1%2C2%5D").content(), "2");
}

TEST_F(JsonParameters, are_read_from_header_fields_and_cookies) {
  constexpr const char* json = R"({"colour":"red","limit":2})";
  EXPECT_EQ(server_.get("/fields", {{"X-Filter", json}}).content(), std::string(json) + "none");
  EXPECT_EQ(server_.get("/fields", {{"Cookie", "filter=" + std::string(json)}}).content(),
            "none" + std::string(json));
  EXPECT_EQ(server_
                .get("/fields",
                     {{"Cookie", "filter=%7B%22colour%22%3A%22red%22%2C%22limit%22%3A2%7D; b=1"}})
                .content(),
            "none" + std::string(json));
}

TEST_F(JsonParameters, that_do_not_fit_are_refused_by_name_and_place) {
  const auto refused = [this](const char* target) {
    const auto reply = server_.get(target);
    EXPECT_EQ(reply.status(), 400u) << target;
    return std::string(reply.content());
  };
  EXPECT_THAT(refused("/query?ids=1"), HasSubstr("query parameter 'ids': expected array"));
  EXPECT_THAT(refused("/query?ids=%5B"), HasSubstr("query parameter 'ids': malformed JSON"));
  EXPECT_THAT(refused("/query?filter=%7B%7D"), HasSubstr("query parameter 'filter': /colour: "));
  EXPECT_THAT(refused("/query?ids=[]&filter=%7B%22colour%22:%22a%22,%22limit%22:10%7D"),
              HasSubstr("query parameter 'filter': /limit: expected 1 to 9, got 10"));
  EXPECT_THAT(refused("/query"), HasSubstr("query parameter 'ids': is missing"));
  EXPECT_THAT(refused("/path/a"), HasSubstr("path parameter 'ids': malformed JSON"));
  const auto fields = server_.get("/fields", {{"X-Filter", "[]"}});
  EXPECT_THAT(std::string(fields.content()), HasSubstr("header field 'x_filter': "));
  const auto cookies = server_.get("/fields", {{"Cookie", "filter=%7B"}});
  EXPECT_THAT(std::string(cookies.content()), HasSubstr("cookie 'filter': malformed JSON"));
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
