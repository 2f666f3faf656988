#include "deskbook.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "katana/passwords.hpp"
#include "katana/testing_application.hpp"
#include "katana/testing_postgres.hpp"
#include "katana/thread.hpp"

namespace deskbook {
namespace {

using katana::testing::TestFields, katana::testing::TestReply;

struct Issued {
  std::string token;
};
KATANA_DESCRIBE(Issued, token)

// The hash of "password" takes its time: it is made once.
const std::string& password_hash() {
  static const std::string hash = [] {
    thread::Loop loop;
    const auto hasher = passwords::PasswordHasher::make({});
    return *loop.run((*hasher)->hash(SecretText("password")));
  }();
  return hash;
}

TestFields with(TestFields fields, const std::string& name, const std::string& value) {
  fields.emplace_back(name, value);
  return fields;
}

// The program with a database, three desks, and people who have tokens. It is 2026-01-01T00:00Z.
class DeskbookTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (database_.is_missing()) GTEST_SKIP() << database_.problem();
    ASSERT_EQ(database_.problem(), "");
    // The program makes the first account in a task of its start.
    for (int tries = 0; tries < 60 && administrator_.empty(); ++tries) {
      if (token_reply("admin").status() == 201) administrator_ = token_of("admin");
      app_.advance(seconds(20));
    }
    for (const char* const name : {"ann", "bob"}) {
      const std::string person = fmt::format(
          R"({{"email":"{0}@example.org","name":"<{0}>","password":"password"}})", name);
      ASSERT_EQ(app_.post("/api/people", person, administrator_).status(), 201u);
    }
    ann_ = token_of("ann");
    bob_ = token_of("bob");
    const TestReply desks =
        app_.post("/api/desks.csv", "code,floor\n3-A,3\n3-B,3\n4-A,4\n", administrator_);
    ASSERT_EQ(desks.content(), R"({"rows":3})") << desks;
  }
  ~DeskbookTest() override { std::filesystem::remove_all(photos_); }

  TestReply token_reply(const std::string& name) {
    return app_.post("/api/tokens",
                     fmt::format(R"({{"email":"{}@example.org","password":"password"}})", name));
  }
  TestFields token_of(const std::string& name) {
    const auto issued = token_reply(name).json<Issued>();
    EXPECT_TRUE(issued) << name;
    return {{"Authorization", "Token " + (issued ? issued->token : "")}};
  }
  // Books a desk for hours of the day at whose begin the test starts.
  std::string booking(int desk, int from, int until) {
    return fmt::format(R"({{"desk":{},"period":{{"starts":"2026-01-01T{:02}:00:00Z",)"
                       R"("ends":"2026-01-01T{:02}:00:00Z"}}}})",
                       desk, from, until);
  }
  TestReply book(const TestFields& who, int desk, int from, int until) {
    return app_.post("/api/bookings", booking(desk, from, until), who);
  }

  const std::string photos_ = fmt::format("{}deskbook-{}", ::testing::TempDir(), ::getpid());
  katana::testing::TemporaryPostgres database_{options().migrations};
  katana::testing::TestApplication app_{
      options(),
      configure,
      {.settings = {database_.setting(), "sessions.store=memory", "http.csrf.enabled=true",
                    "photos=" + photos_, "administrator.email=admin@example.org",
                    "administrator.password=" + password_hash()},
       .server = {.waits_for_time = database_.waits_for_time()}}};
  TestFields administrator_, ann_, bob_;
};

bool has(const TestReply& reply, const std::string& text) {
  return reply.content().find(text) != std::string::npos;
}

TEST_F(DeskbookTest, a_desk_has_one_booking_and_a_person_one_desk_at_a_time) {
  const TestReply made = book(ann_, 1, 9, 12);
  EXPECT_EQ(made.status(), 201u) << made;
  EXPECT_EQ(made.header("location"), "/api/bookings/1");
  EXPECT_TRUE(has(book(bob_, 1, 11, 13), R"("type":"/problems/desk-taken")"));
  EXPECT_TRUE(has(book(ann_, 2, 11, 13), R"("type":"/problems/second-desk")"));
  EXPECT_EQ(book(bob_, 1, 12, 13).status(), 201u);
  EXPECT_TRUE(has(book(bob_, 9, 14, 15), "There is no such desk."));
  EXPECT_EQ(app_.delete_("/api/bookings/1", bob_).status(), 403u);
  EXPECT_TRUE(has(app_.delete_("/api/bookings/1", ann_), R"("state":"cancelled")"));
  EXPECT_EQ(app_.delete_("/api/bookings/1", ann_).status(), 409u);
  EXPECT_EQ(book(ann_, 1, 9, 12).status(), 201u);
  EXPECT_TRUE(has(book(ann_, 2, 15, 15), R"("pointer":"/period")"));
}

TEST_F(DeskbookTest, of_two_who_book_at_once_one_gets_the_desk) {
  auto ann = app_.begin("POST", "/api/bookings", booking(1, 9, 12),
                        with(ann_, "Content-Type", "application/json"));
  auto bob = app_.begin("POST", "/api/bookings", booking(1, 9, 12),
                        with(bob_, "Content-Type", "application/json"));
  EXPECT_EQ(ann.reply().status() + bob.reply().status(), 201u + 409u);
}

TEST_F(DeskbookTest, a_change_needs_the_version_that_it_changes) {
  const std::string version(book(ann_, 1, 9, 12).header("etag").value_or(""));
  const char* const later = R"({"period":{"starts":"2026-01-01T10:00:00Z",)"
                            R"("ends":"2026-01-01T11:00:00Z"},"note":"window"})";
  const char* const one = "/api/bookings/1";
  EXPECT_EQ(app_.patch(one, later, ann_).status(), 428u);
  const TestFields if_match = with(ann_, "If-Match", version);
  EXPECT_TRUE(has(app_.patch(one, later, if_match), R"("note":"window")"));
  EXPECT_TRUE(has(app_.patch(one, later, if_match), R"("type":"/problems/booking-changed")"));
  const TestReply shown = app_.get(one, bob_);
  EXPECT_TRUE(has(shown, R"("starts":"2026-01-01T10:00:00.000000Z")")) << shown;
  const TestFields known =
      with(bob_, "If-None-Match", std::string(shown.header("etag").value_or("")));
  EXPECT_EQ(app_.get(one, known).status(), 304u);
  EXPECT_EQ(app_.patch("/api/desks/1", R"({"floor":5})", administrator_).status(), 428u);
  EXPECT_EQ(app_.delete_("/api/desks/1", administrator_).status(), 409u);
  EXPECT_EQ(app_.delete_("/api/desks/2", administrator_).status(), 204u);
}

TEST_F(DeskbookTest, events_come_of_the_floors_that_are_asked_for_and_of_own_bookings) {
  auto of_ann = app_.events("/api/events?floor=3", ann_);
  auto of_bob = app_.events("/api/events", bob_);
  book(bob_, 3, 1, 2);
  book(ann_, 1, 1, 2);
  EXPECT_TRUE(of_ann.next()->data.find(R"("desk":"3-A")") != std::string::npos);
  EXPECT_TRUE(of_bob.next()->data.find(R"("desk":"4-A")") != std::string::npos);
  EXPECT_EQ(app_.post("/api/bookings/2/check-in", "", ann_).status(), 409u) << "too early";
  app_.advance(seconds(46 * 60));
  EXPECT_EQ(app_.post("/api/bookings/2/check-in", "", ann_).status(), 200u);
  EXPECT_EQ(of_ann.next()->name, "booked");  // her own, once more
  EXPECT_EQ(of_ann.next()->name, "checked_in");
}

TEST_F(DeskbookTest, a_desk_without_a_check_in_is_released) {
  book(ann_, 1, 1, 2);
  book(bob_, 2, 1, 2);
  app_.advance(seconds(3600));
  EXPECT_TRUE(has(app_.get("/api/bookings/1", ann_), R"("state":"booked")"));
  EXPECT_EQ(app_.post("/api/bookings/2/check-in", "", bob_).status(), 200u);
  app_.advance(seconds(17 * 60));
  EXPECT_TRUE(has(app_.get("/api/bookings/1", ann_), R"("state":"released")"));
  EXPECT_TRUE(has(app_.get("/api/bookings/2", ann_), R"("state":"checked_in")"));
  EXPECT_EQ(book(ann_, 1, 1, 2).status(), 422u) << "it has begun";
  EXPECT_EQ(book(ann_, 1, 2, 3).status(), 201u);
  const TestFields any_version = with(ann_, "If-Match", "*");
  EXPECT_EQ(app_.patch("/api/bookings/1", R"({"note":"x"})", any_version).status(), 409u);
}

TEST_F(DeskbookTest, guesses_of_a_password_are_limited_however_the_address_is_written) {
  unsigned status = 0;
  for (int guess = 0; guess < 40 && status != 429; ++guess) {
    const char* const address = guess % 2 == 0 ? "ann@example.org" : "Ann@Example.ORG";
    status = app_.post("/api/tokens",
                       fmt::format(R"({{"email":"{}","password":"guess{}"}})", address, guess))
                 .status();
  }
  EXPECT_EQ(status, 429u);
  const TestReply other =
      app_.post("/api/tokens", R"({"email":"aNN@example.org","password":"password"})");
  EXPECT_EQ(other.status(), 429u);
  EXPECT_TRUE(other.header("retry-after"));
}

TEST_F(DeskbookTest, a_file_of_desks_is_taken_whole_or_not_at_all) {
  EXPECT_TRUE(has(app_.get("/api/desks?floor=3", ann_), R"("code":"3-B")"));
  const TestReply wrong =
      app_.post("/api/desks.csv", "code,floor\n5-A,5\nfive,5\n", administrator_);
  EXPECT_TRUE(has(wrong, "row 3: /code")) << wrong;
  EXPECT_FALSE(has(app_.get("/api/desks", ann_), "5-A"));
  const char* const file = "floor,code,description\r\n4,3-B,\"by the \"\"door\"\"\"\r\n";
  EXPECT_EQ(app_.post("/api/desks.csv", file, administrator_).status(), 200u);
  EXPECT_FALSE(has(app_.get("/api/desks?floor=3", ann_), R"("code":"3-B")"));
  EXPECT_EQ(app_.get("/api/desks.csv", administrator_).content(),
            "code,floor,description\r\n3-A,3,\r\n3-B,4,\"by the \"\"door\"\"\"\r\n4-A,4,\r\n");
  EXPECT_EQ(app_.get("/api/desks.csv", ann_).status(), 403u);
}

TEST_F(DeskbookTest, bookings_are_exported_as_csv) {
  book(bob_, 3, 13, 14);
  book(ann_, 1, 9, 12);
  const TestReply all = app_.get("/api/bookings.csv?from=2026-01-01T00:00:00Z", administrator_);
  EXPECT_TRUE(has(all, "\r\n2,3-A,3,2,<ann>,2026-01-01T09:00:00.000000Z,")) << all;
  EXPECT_LT(all.content().find("3-A"), all.content().find("4-A"));
  EXPECT_FALSE(has(app_.get("/api/bookings.csv?from=2026-01-01T12:30:00Z", administrator_), "3-A"));
}

TEST_F(DeskbookTest, a_photograph_is_kept_as_a_file) {
  const TestFields jpeg = with(administrator_, "Content-Type", "image/jpeg");
  EXPECT_EQ(app_.put("/api/desks/1/photo", "\xff\xd8 pixels", jpeg).status(), 204u);
  const TestReply photo = app_.get("/api/desks/1/photo", ann_);
  EXPECT_EQ(photo.content(), "\xff\xd8 pixels");
  EXPECT_EQ(photo.header("content-type"), "image/jpeg");
  EXPECT_EQ(app_.put("/api/desks/1/photo", std::string(5'000'001, 'x'), jpeg).status(), 413u);
  EXPECT_EQ(app_.put("/api/desks/9/photo", "x", jpeg).status(), 404u);
  EXPECT_EQ(app_.get("/api/desks/2/photo", ann_).status(), 404u);
}

TEST_F(DeskbookTest, a_browser_signs_in_and_comes_back_to_its_page) {
  const TestFields browser = {{"Accept", "text/html"}};
  const TestFields form = with(browser, "Content-Type", "application/x-www-form-urlencoded");
  EXPECT_EQ(app_.get("/", browser).header("location"), "/login?return_to=/");
  EXPECT_TRUE(has(app_.get("/login?return_to=/%3Fa%22b", browser), "value=\"/?a&quot;b\""));
  const TestReply wrong = app_.post("/login", "email=ann%40example.org&password=guess", form);
  EXPECT_EQ(wrong.status(), 401u);
  EXPECT_TRUE(has(wrong, "<!doctype html>")) << wrong;
  const char* const right = "email=ann%40example.org&password=password&return_to=//evil.example";
  EXPECT_EQ(app_.post("/login", right, with(form, "Sec-Fetch-Site", "cross-site")).status(), 403u);
  const TestReply login = app_.post("/login", right, form);
  EXPECT_EQ(login.header("location"), "/") << login;
  std::string cookie(login.header("set-cookie").value_or(""));
  cookie.resize(std::min(cookie.find(';'), cookie.size()));
  const TestFields session = with(with(browser, "Cookie", cookie), "Sec-Fetch-Site", "same-origin");
  book(ann_, 1, 9, 12);
  const TestReply page = app_.get("/", session);
  EXPECT_TRUE(has(page, "<h1>Desks of &lt;ann&gt;</h1>")) << page;
  EXPECT_TRUE(has(page, "<td>3-A")) << page;
  EXPECT_TRUE(has(app_.get("/api/bookings", session), R"("desk":"3-A")"));
  EXPECT_EQ(app_.post("/logout", "", session).status(), 303u);
  EXPECT_EQ(app_.get("/api/bookings", session).status(), 401u);
}

}  // namespace
}  // namespace deskbook

// SPDX-License-Identifier: Apache-2.0
