#include "katana/http/handlers/preconditions.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

#include "katana/base/values/timestamp.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/testing/test_request.hpp"
#include "katana/testing/test_server.hpp"

namespace katana {
namespace {

using std::chrono::sys_seconds;

// Sun, 06 Nov 1994 08:49:37 GMT
const sys_seconds modified_at_first{std::chrono::seconds(784'111'777)};

ResourceVersion seventh() { return ResourceVersion(7).modified_at(modified_at_first); }

// "/note" is at version 7; "/none" does not exist, "/strict" requires a condition.
class PreconditionsTest : public ::testing::Test {
 protected:
  static Result<Service> service() {
    Router router;
    const auto serve = [](Preconditions conditions) {
      if (auto refusal = conditions.refusal(seventh())) return *std::move(refusal);
      return Reply::text("note").with_version(seventh());
    };
    router.get("/note", serve);
    router.put("/note", serve);
    router.put("/none", [](Preconditions conditions) {
      if (auto refusal = conditions.refusal_of_missing()) return *std::move(refusal);
      return Reply(201);
    });
    router.put("/strict", [](RequiredPreconditions conditions) {
      if (auto refusal = conditions.refusal(seventh())) return *std::move(refusal);
      return Reply(204);
    });
    return std::move(router).build();
  }
  unsigned get(const testing::TestFields& fields) { return server_.get("/note", fields).status(); }
  unsigned put(const std::string& path, const testing::TestFields& fields) {
    return server_.put(path, "", fields).status();
  }

  testing::TestServer server_{service()};
};

TEST_F(PreconditionsTest, a_reply_with_a_version_has_a_strong_tag_and_its_date) {
  const testing::TestReply reply = server_.get("/note");
  EXPECT_EQ(reply.status(), 200u);
  EXPECT_EQ(reply.header("ETag"), "\"7\"");
  EXPECT_EQ(reply.header("Last-Modified"), "Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST_F(PreconditionsTest, a_read_of_the_version_that_the_client_has_is_304_with_its_tag) {
  for (const char* const tag : {"\"7\"", "W/\"7\"", "\"6\", \"7\"", "\"7+gzip\""}) {
    const testing::TestReply reply = server_.get("/note", {{"If-None-Match", tag}});
    EXPECT_EQ(reply.status(), 304u) << tag;
    EXPECT_TRUE(std::string(tag).ends_with(*reply.header("ETag"))) << tag;
  }
  EXPECT_EQ(server_.get("/note", {{"If-None-Match", "W/\"7\""}}).header("ETag"), "\"7\"");
  EXPECT_EQ(server_.get("/note", {{"If-None-Match", "*"}}).header("ETag"), "\"7\"");
  EXPECT_EQ(get({{"If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"}}), 304u);
  EXPECT_EQ(get({{"If-Modified-Since", "Sun, 06 Nov 1994 08:49:36 GMT"}}), 200u);
  EXPECT_EQ(get({{"If-None-Match", "\"7+other\""}}), 200u);
  EXPECT_EQ(get({{"If-None-Match", "7"}}), 200u);
}

TEST_F(PreconditionsTest, a_change_needs_a_strong_tag_of_the_present_version) {
  for (const char* const tag : {"\"7\"", "*", "\"6\", \"7\"", "\"7+br\""}) {
    EXPECT_EQ(put("/note", {{"If-Match", tag}}), 200u) << tag;
  }
  for (const char* const tag : {"\"6\"", "W/\"7\"", "7", "", "W/\"7+gzip\"", "\"7+GZIP\""}) {
    EXPECT_EQ(put("/note", {{"If-Match", tag}}), 412u) << tag;
  }
  EXPECT_EQ(put("/note", {{"If-Match", "\"6\""}, {"If-Match", "\"7\""}}), 200u);
  EXPECT_EQ(put("/note", {}), 200u);
}

TEST_F(PreconditionsTest, a_change_is_refused_since_a_date_and_where_nothing_was_expected) {
  const std::string earlier = "Sun, 06 Nov 1994 08:49:36 GMT";
  EXPECT_EQ(put("/note", {{"If-Unmodified-Since", earlier}}), 412u);
  EXPECT_EQ(put("/note", {{"If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"}}), 200u);
  EXPECT_EQ(put("/note", {{"If-Match", "\"7\""}, {"If-Unmodified-Since", earlier}}), 200u);
  EXPECT_EQ(put("/note", {{"If-Unmodified-Since", "no date"}}), 200u);
  EXPECT_EQ(put("/note", {{"If-None-Match", "*"}}), 412u);
  EXPECT_EQ(put("/note", {{"If-Modified-Since", "Sun, 06 Nov 2094 08:49:36 GMT"}}), 200u);
}

TEST_F(PreconditionsTest, the_refusal_of_a_change_names_the_present_version) {
  const testing::TestReply reply = server_.put("/note", "", {{"If-Match", "\"6\""}});
  EXPECT_EQ(reply.status(), 412u);
  EXPECT_EQ(reply.header("ETag"), "\"7\"");
  EXPECT_EQ(reply.header("Content-Type"), "application/problem+json");
}

TEST_F(PreconditionsTest, what_is_missing_is_made_unless_the_client_expects_it) {
  EXPECT_EQ(put("/none", {{"If-None-Match", "*"}}), 201u);
  EXPECT_EQ(put("/none", {}), 201u);
  EXPECT_EQ(put("/none", {{"If-Match", "*"}}), 412u);
  EXPECT_EQ(put("/none", {{"If-Match", "\"7\""}}), 412u);
}

TEST_F(PreconditionsTest, a_required_condition_that_is_missing_is_428) {
  EXPECT_EQ(put("/strict", {}), 428u);
  EXPECT_EQ(put("/strict", {{"If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"}}), 428u);
  EXPECT_EQ(put("/strict", {{"If-Match", "\"7\""}}), 204u);
  EXPECT_EQ(put("/strict", {{"If-Match", "\"8\""}}), 412u);
}

TEST_F(PreconditionsTest, what_they_hold_is_counted) {
  const std::string tags(500, 'x');
  testing::TestRequest request("PUT", "/note");
  request.field("If-Match", tags);
  EXPECT_GE(katana_heap_bytes(Preconditions(request.view())), tags.size());
  EXPECT_EQ(katana_heap_bytes(Preconditions()), 0u);
}

TEST(ResourceVersion, has_a_tag_that_no_text_can_leave) {
  const auto tag = [](const ResourceVersion& version) { return std::string(version.entity_tag()); };
  EXPECT_EQ(tag(-3), "\"-3\"");
  EXPECT_EQ(tag("a\"b\r\nc+gzip%\xc3"), "\"a%22b%0D%0Ac%2Bgzip%25%C3\"");
  EXPECT_EQ(tag(""), "\"\"");
  EXPECT_EQ(tag(modified_at_first), "\"1994-11-06T08:49:37Z\"");
  EXPECT_NE(tag("a b"), tag("a%20b"));
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
