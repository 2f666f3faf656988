#include "bookmarks.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "katana/database/sqlite/sqlite.hpp"
#include "katana/service/events/events.hpp"
#include "katana/testing/test_server.hpp"
#include "katana/thread/loop.hpp"

namespace bookmarks {
namespace {

using namespace katana;
using katana::testing::TestFields, katana::testing::TestReply;

// The service with a database of its own, and an internet in which every page is called "A <page>".
class BookmarksTest : public ::testing::Test {
 protected:
  BookmarksTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    registry::Registry registry;
    registry.singleton<database::Database>([this]() -> Result<std::unique_ptr<database::Database>> {
      auto opened = database::sqlite::open(
          {.path = folder_ / "db", .bundled = *database::bundled_migrations(migrations())});
      if (!opened) return std::unexpected(opened.error());
      return std::make_unique<database::Database>(*std::move(opened));
    });
    registry.singleton<Accounts>(own_accounts);
    registry.singleton<Titles>([this] {
      return std::make_unique<Titles>([this](std::string url) -> Task<Result<std::string>> {
        if (!online_) co_return fail(Code::unavailable, "no network");
        co_return "A <page>";
      });
    });
    registry.singleton<EventTopic>([] { return std::make_unique<EventTopic>(); });
    services_ = std::move(registry).seal().value();
    Router router;
    add_routes(*services_, router.services(*services_));
    server_.emplace(
        std::move(router).build(),
        katana::testing::TestOptions{.headers = {{"Authorization", "Bearer ann-secret"}},
                                     .thread_wait = seconds(20)});
  }
  TestReply add(const std::string& url) {
    return server_->post("/bookmarks", R"({"url":")" + url + "\"}",
                         {{"Content-Type", "application/json"}});
  }

  const std::filesystem::path folder_ = std::filesystem::temp_directory_path() / "bookmarks_test";
  bool online_ = true;
  std::unique_ptr<registry::Services> services_;
  std::optional<katana::testing::TestServer> server_;
};

TEST_F(BookmarksTest, who_has_no_token_is_refused) {
  const TestReply reply = server_->get("/bookmarks", {{"Authorization", "Bearer guess"}});
  EXPECT_EQ(reply.status(), 401) << reply.describe();
  EXPECT_EQ(reply.header("www-authenticate"), "Bearer");
}

TEST_F(BookmarksTest, a_bookmark_is_added_changed_and_removed) {
  EXPECT_EQ(add("https://a.example/").status(), 201);
  EXPECT_EQ(add("https://a.example/").status(), 409);
  EXPECT_EQ(add("short").status(), 422);
  const TestFields merge = {{"Content-Type", "application/merge-patch+json"}};
  const TestReply changed = server_->patch("/bookmarks/1", R"({"title":null})", merge);
  EXPECT_NE(changed.content().find(R"("title":null)"), std::string::npos) << changed.describe();
  const TestFields bob = {{"Authorization", "Bearer bob-secret"}};
  EXPECT_EQ(server_->get("/bookmarks", bob).content(), "[]");
  EXPECT_EQ(server_->delete_("/bookmarks/1", bob).status(), 404);
  EXPECT_EQ(server_->delete_("/bookmarks/1").status(), 204);
}

TEST_F(BookmarksTest, a_title_that_could_not_be_had_is_found_by_the_job) {
  online_ = false;
  EXPECT_NE(add("https://a.example/").content().find(R"("title":null)"), std::string::npos);
  online_ = true;
  EXPECT_TRUE(thread::Loop().run(find_titles(*services_)));
  const TestReply page = server_->get("/");
  EXPECT_NE(page.content().find(R"(<a href="https://a.example/">A &lt;page&gt;</a>)"),
            std::string::npos)
      << page.content();
}

}  // namespace
}  // namespace bookmarks
