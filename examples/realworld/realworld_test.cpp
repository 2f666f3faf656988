#include "realworld.hpp"

#include <gtest/gtest.h>

#include "katana/testing_application.hpp"

namespace realworld {
namespace {

using katana::testing::TestFields, katana::testing::TestReply;

struct Page {
  struct Article {
    std::string slug;
  };
  std::vector<Article> articles;
};
KATANA_DESCRIBE(Page::Article, slug)
KATANA_DESCRIBE(Page, articles)
struct Registered {
  struct User {
    std::string token;
  };
  User user;
};
KATANA_DESCRIBE(Registered::User, token)
KATANA_DESCRIBE(Registered, user)

class RealWorldTest : public ::testing::Test {
 protected:
  TestFields sign_up(const std::string& name) {
    const TestReply reply = app_.post(
        "/api/users", fmt::format(R"({{"user":{{"username":"{0}","email":"{0}@example.org",)"
                                  R"("password":"password"}}}})",
                                  name));
    EXPECT_EQ(reply.status(), 201) << reply;
    const auto registered = container::read_json<Registered>(reply.content());
    return {{"Authorization", "Token " + registered.value().user.token}};
  }
  void publish(const std::string& title, const TestFields& author) {
    const TestReply reply = app_.post(
        "/api/articles",
        fmt::format(R"({{"article":{{"title":"{}","description":"d","body":"b"}}}})", title),
        author);
    EXPECT_EQ(reply.status(), 201) << reply;
    app_.advance(seconds(1));
  }
  // The slugs of a page, in their order.
  std::string slugs(const std::string& target, const TestFields& reader) {
    const TestReply reply = app_.get(target, reader);
    const auto page = container::read_json<Page>(reply.content());
    std::string all;
    for (const Page::Article& each : page.value().articles) all += each.slug + " ";
    return all;
  }

  katana::testing::TestApplication app_{options(), configure};
};

TEST_F(RealWorldTest, a_feed_has_the_articles_of_those_who_are_followed_the_newest_first) {
  const TestFields ann = sign_up("ann"), bob = sign_up("bob"), eve = sign_up("eve");
  publish("bob 1", bob);
  publish("eve 1", eve);
  publish("ann 1", ann);
  publish("bob 2", bob);
  EXPECT_EQ(slugs("/api/articles/feed", ann), "");
  EXPECT_EQ(app_.post("/api/profiles/bob/follow", "", ann).status(), 200);
  EXPECT_EQ(slugs("/api/articles/feed", ann), "bob-2 bob-1 ");
  EXPECT_EQ(app_.post("/api/profiles/eve/follow", "", ann).status(), 200);
  EXPECT_EQ(slugs("/api/articles/feed", ann), "bob-2 eve-1 bob-1 ");
  EXPECT_EQ(slugs("/api/articles/feed?limit=1&offset=1", ann), "eve-1 ");
  EXPECT_EQ(app_.delete_("/api/profiles/bob/follow", ann).status(), 200);
  EXPECT_EQ(slugs("/api/articles/feed", ann), "eve-1 ");
  EXPECT_EQ(slugs("/api/articles/feed", bob), "");
}

TEST_F(RealWorldTest, who_is_followed_and_what_is_a_favourite_depends_on_who_asks) {
  const TestFields ann = sign_up("ann"), bob = sign_up("bob");
  publish("bob 1", bob);
  app_.post("/api/profiles/bob/follow", "", ann);
  app_.post("/api/articles/bob-1/favorite", "", ann);
  const auto has = [&](const char* text, const TestFields& reader) {
    return app_.get("/api/articles/bob-1", reader).content().find(text) != std::string::npos;
  };
  for (const char* const text : {R"("following":true)", R"("favorited":true)"}) {
    EXPECT_TRUE(has(text, ann)) << text;
    EXPECT_FALSE(has(text, bob)) << text;
    EXPECT_FALSE(has(text, {})) << text;
  }
  EXPECT_TRUE(has(R"("favoritesCount":1)", {}));
}

TEST_F(RealWorldTest, a_token_ends_after_a_day) {
  const TestFields ann = sign_up("ann");
  app_.advance(seconds(24 * 3600 - 60));
  EXPECT_EQ(app_.get("/api/user", ann).status(), 200);
  app_.advance(seconds(120));
  const TestReply reply = app_.get("/api/user", ann);
  EXPECT_EQ(reply.status(), 401) << reply;
  EXPECT_TRUE(reply.content().starts_with(R"({"errors":{"body":[)")) << reply;
  EXPECT_EQ(app_.get("/api/articles").status(), 200);
}

}  // namespace
}  // namespace realworld

// SPDX-License-Identifier: Apache-2.0
