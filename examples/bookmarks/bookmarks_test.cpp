#include "bookmarks.hpp"

#include <gtest/gtest.h>

#include "katana/http/events/events.hpp"
#include "katana/identity/jose/jwk.hpp"
#include "katana/identity/jose/jwt.hpp"
#include "katana/testing/application/test_application.hpp"

namespace bookmarks {
namespace {

using namespace katana;
using katana::testing::TestFields, katana::testing::TestReply;

// Signs what an issuer would, until the year 2100.
jose::SigningKey issuer_key() {
  return *jose::read_private_jwk(
      R"({"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"})",
      {jose::Algorithm::eddsa});
}
std::string token_of(std::string id) {
  return "Bearer " +
         *jose::sign_jwt(issuer_key(), {.issuer = "https://id.example",
                                        .subject = std::move(id),
                                        .expires_at = Timestamp(std::chrono::seconds(4102444800))});
}

// With its own database, and an internet that has an issuer of tokens and one page.
class BookmarksTest : public ::testing::Test {
 protected:
  TestReply add(const std::string& url) {
    return app_.post("/bookmarks", R"({"url":")" + url + "\"}");
  }

  katana::testing::TestApplication app_{
      options(),
      configure,
      {.settings = {"auth.bearer.issuer=https://id.example",
                    "auth.bearer.jwks_url=https://id.example/jwks"},
       .headers = {{"Authorization", token_of("ann")}}}};
  katana::testing::FakeUpstream& issuer_ = app_.upstream("https://id.example", [](Router& router) {
    router.get("/jwks", [] {
      return Reply::json(Text(R"({"keys":[)" + issuer_key().verification_key().jwk() + "]}"));
    });
  });
  katana::testing::FakeUpstream& web_ = app_.upstream("https://a.example", [](Router& router) {
    router.get("/", [] { return Reply::text("<title>A <page></title>"); });
  });
};

TEST_F(BookmarksTest, who_has_no_token_is_refused) {
  const TestReply reply = app_.get("/bookmarks", {{"Authorization", "Bearer guess"}});
  EXPECT_EQ(reply.status(), 401) << reply;
  EXPECT_EQ(reply.header("www-authenticate"), R"(Bearer error="invalid_token")");
}

TEST_F(BookmarksTest, a_bookmark_is_added_changed_and_removed) {
  const katana::testing::EventCapture changes(app_.service<EventTopic>());
  EXPECT_EQ(add("https://a.example/").status(), 201);
  EXPECT_EQ(add("https://a.example/").status(), 409);
  EXPECT_EQ(add("short").status(), 422);
  EXPECT_EQ(changes.events().size(), 1);
  const TestFields merge = {{"Content-Type", "application/merge-patch+json"}};
  const TestReply changed = app_.patch("/bookmarks/1", R"({"title":null})", merge);
  EXPECT_NE(changed.content().find(R"("title":null)"), std::string::npos) << changed;
  const TestFields bob = {{"Authorization", token_of("bob")}};
  EXPECT_EQ(app_.get("/bookmarks", bob).content(), "[]");
  EXPECT_EQ(app_.delete_("/bookmarks/1", bob).status(), 404);
  EXPECT_EQ(app_.delete_("/bookmarks/1").status(), 204);
}

TEST_F(BookmarksTest, a_title_that_could_not_be_had_is_found_by_the_job) {
  web_.go_down();
  EXPECT_NE(add("https://a.example/").content().find(R"("title":null)"), std::string::npos);
  web_.come_back();
  app_.advance(seconds(600));
  const TestReply page = app_.get("/");
  EXPECT_NE(page.content().find(R"(<a href="https://a.example/">A &lt;page&gt;</a>)"),
            std::string::npos)
      << page;
}

}  // namespace
}  // namespace bookmarks

// SPDX-License-Identifier: Apache-2.0
