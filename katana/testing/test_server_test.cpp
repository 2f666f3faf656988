#include "katana/testing/test_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <coroutine>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "katana/base/values/described.hpp"
#include "katana/http/handlers/json.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/reactor/sleep.hpp"

namespace katana::testing {
namespace {

using ::testing::HasSubstr;

struct Person {
  int id = 0;
  std::string name;
};
KATANA_DESCRIBE(Person, id, name)

Result<Service> make_service() {
  Router router;
  router.get("/people/{id}", [](Path<int> id) { return Json(Person{*id, "ada"}); });
  router.post("/people", [](Json<Person> person) {
    Reply reply = Reply::text(Text(person->name));
    reply.set_status(201);
    return reply;
  });
  router.get("/field", [](const RequestView& request) {
    return Reply::text(Text(request.field("authorization").value_or("none")));
  });
  router.get("/slow", []() -> Task<Reply> {
    co_await net::sleep_for(seconds(20));
    co_return Reply::text("late");
  });
  router.get("/stuck", []() -> Task<Reply> {
    co_await net::sleep_for(seconds(3600));
    co_return Reply::text("never");
  });
  router.get("/large", [] { return Reply::text(Text(std::string(100'000, 'x'))); });
  return std::move(router).build();
}

TEST(TestServer, a_described_struct_goes_out_and_comes_back) {
  TestServer server(make_service());
  const TestReply got = server.get("/people/7");
  ASSERT_EQ(got.status(), 200u) << got;
  EXPECT_EQ(got.header("CONTENT-TYPE"), "application/json");
  const Result<Person> person = got.json<Person>();
  ASSERT_TRUE(person) << person.error().describe();
  EXPECT_EQ(person->id, 7);
  const TestReply posted = server.post_json("/people", Person{1, "bob"});
  EXPECT_EQ(posted.status(), 201u) << posted;
  EXPECT_EQ(posted.content(), "bob");
  EXPECT_EQ(server.connections(), 1u);
}

TEST(TestServer, a_refusal_is_an_ordinary_reply) {
  TestServer server(make_service());
  EXPECT_EQ(server.get("/nowhere").status(), 404u);
  const TestReply bad = server.post("/people", "{");
  EXPECT_EQ(bad.status(), 400u) << bad;
  EXPECT_FALSE(server.get("/large").json<Person>());
  const TestReply head = server.head("/large");
  EXPECT_EQ(head.status(), 200u) << head;
  EXPECT_EQ(head.header("content-length"), "100000");
  EXPECT_EQ(head.content(), "");
}

TEST(TestServer, default_fields_go_with_every_request_that_gives_none) {
  TestServer server(make_service(), {.headers = {{"Authorization", "Bearer a"}}});
  EXPECT_EQ(server.get("/field").content(), "Bearer a");
  EXPECT_EQ(server.get("/field", {{"authorization", "Bearer b"}}).content(), "Bearer b");
}

TEST(TestServer, a_request_under_way_ends_when_virtual_time_has_passed) {
  TestServer server(make_service());
  PendingReply first = server.begin_get("/slow");
  PendingReply second = server.begin_get("/slow");
  EXPECT_EQ(server.get("/people/1").status(), 200u);
  EXPECT_EQ(server.connections(), 3u);
  server.advance(seconds(19));
  EXPECT_FALSE(first.is_done());
  server.advance(seconds(2));
  EXPECT_TRUE(first.is_done());
  EXPECT_EQ(first.reply().content(), "late");
  EXPECT_EQ(second.reply().content(), "late");
}

TEST(TestServer, a_handler_that_takes_too_long_is_answered_503_at_once) {
  TestServer server(make_service());
  EXPECT_EQ(server.get("/stuck").status(), 503u);
}

TEST(TestServer, no_reply_in_time_names_the_request) {
  TestServer server(make_service(), {.reply_timeout = seconds(5)});
  const TestReply reply = server.get("/slow");
  EXPECT_EQ(reply.status(), 0u);
  EXPECT_THAT(reply.problem(), HasSubstr("GET /slow: no whole reply within 5 s"));
  EXPECT_THAT(reply.problem(), HasSubstr("nothing came"));
  EXPECT_FALSE(reply.json<Person>());
}

TEST(TestServer, a_service_that_was_not_built_says_so_for_every_request) {
  Router router;
  router.get("/a", [] { return Reply(); });
  router.get("/a", [] { return Reply(); });
  TestServer server(std::move(router).build());
  const TestReply reply = server.get("/a");
  EXPECT_EQ(reply.status(), 0u);
  EXPECT_THAT(reply.problem(), HasSubstr("GET /a: the service was not built: "));
}

TEST(TestServer, any_seed_of_faults_that_lose_nothing_gives_the_same_reply) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    TestServer server(make_service(),
                      {.faults = engine::SimFaults::random(seed).lossless(), .seed = seed});
    const TestReply reply = server.get("/large");
    EXPECT_EQ(reply.status(), 200u) << reply;
    EXPECT_EQ(reply.content().size(), 100'000u);
  }
}

TEST(TestServer, a_reset_is_told_with_what_came_and_the_seed) {
  engine::SimFaults faults = engine::SimFaults::calm();
  faults.link_reset = 1024;
  faults.reset_after_us = {150, 150};
  TestServer server(make_service(), {.faults = faults, .seed = 3});
  const TestReply reply = server.get("/slow");
  EXPECT_EQ(reply.status(), 0u);
  EXPECT_THAT(reply.problem(), HasSubstr("GET /slow: the server reset the connection"));
  EXPECT_THAT(reply.problem(), HasSubstr("(seed 3)"));
}

TEST(TestServer, content_beyond_the_limit_ends_the_request) {
  TestServer server(make_service(), {.content_bytes_max = 1000});
  const TestReply reply = server.get("/large");
  EXPECT_EQ(reply.status(), 0u);
  EXPECT_THAT(reply.problem(), HasSubstr("GET /large: the content exceeds 1000 bytes"));
  EXPECT_EQ(server.get("/people/1").status(), 200u);
}

// Works like a pool or a database: another thread works, and informs the reactor by post().
class OnThread final : private Message {
 public:
  OnThread() : Message(&OnThread::arrive) {}
  ~OnThread() {
    if (thread_.joinable()) thread_.join();
  }
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    waiting_ = waiting;
    net::Reactor* const reactor = net::Reactor::current();
    reactor->expect();
    thread_ = std::thread([this, reactor] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the test is about real time
      reactor->post(*this);
    });
  }
  void await_resume() const noexcept {}

 private:
  static void arrive(Message& message) noexcept {
    net::Reactor::current()->unexpect();
    static_cast<OnThread&>(message).waiting_.resume();
  }
  std::coroutine_handle<> waiting_;
  std::thread thread_;
};

TEST(TestServer, a_handler_that_waits_for_a_thread_is_waited_for_in_real_time) {
  Router router;
  router.get("/thread", []() -> Task<Reply> {
    co_await OnThread();
    co_return Reply::text("done");
  });
  TestServer server(std::move(router).build());
  const Instant before = server.now();
  EXPECT_EQ(server.get("/thread").content(), "done");
  EXPECT_LT(server.now(), before + seconds(1));
}

// A service as its tests use it: five routes, and their data.
class People {
 public:
  Result<Service> make_service() {
    Router router;
    Group api = router.group("/people");
    api.get("", [this] {
      std::vector<Person> all;
      for (const auto& [id, person] : people_) all.push_back(person);
      return Json(std::move(all));
    });
    api.post("", [this](Json<Person> person) {
      const int id = ++last_;
      people_[id] = Person{id, person->name};
      return Created(people_[id], "/people/" + std::to_string(id));
    });
    api.get("/{id}", [this](Path<int> id) -> Result<Json<Person>> {
      const auto found = people_.find(*id);
      if (found == people_.end()) return fail(Code::not_found, "no such person");
      return Json(found->second);
    });
    api.put("/{id}", [this](Path<int> id, Json<Person> person) -> Result<Json<Person>> {
      const auto found = people_.find(*id);
      if (found == people_.end()) return fail(Code::not_found, "no such person");
      found->second.name = person->name;
      return Json(found->second);
    });
    api.delete_("/{id}", [this](Path<int> id) {
      return people_.erase(*id) == 1 ? Reply::no_content()
                                     : problem(404, "There is no such person.");
    });
    return std::move(router).build();
  }

 private:
  std::map<int, Person> people_;
  int last_ = 0;
};

// One test: a person is made, read, listed, changed and removed. Empty: success.
std::string test_of_people(int number) {
  People people;
  TestServer server(people.make_service());
  const std::string name = "ada" + std::to_string(number);
  const TestReply made = server.post_json("/people", Person{0, name});
  if (made.status() != 201) return made.describe();
  const std::string target(made.header("location").value_or("none"));
  const TestReply read = server.get(target);
  if (!read.json<Person>() || read.json<Person>()->name != name) return read.describe();
  const TestReply list = server.get("/people");
  if (!list.json<std::vector<Person>>() || list.json<std::vector<Person>>()->size() != 1) {
    return list.describe();
  }
  const TestReply changed = server.put_json(target, Person{0, "bob"});
  if (!changed.json<Person>() || changed.json<Person>()->name != "bob") return changed.describe();
  const TestReply removed = server.delete_(target);
  if (removed.status() != 204) return removed.describe();
  const TestReply gone = server.get(target);
  return gone.status() == 404 ? "" : gone.describe();
}

// Each has its own server, as tests are written. The time is printed, not judged: the sanitizers'
// builds run it, too.
TEST(TestServer, a_thousand_tests_of_a_service_run) {
  const auto begin = std::chrono::steady_clock::now();
  for (int number = 0; number < 1000; ++number) ASSERT_EQ(test_of_people(number), "");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("1000 tests of a CRUD service in %.2f s\n", took.count());
}

TEST(TestServer, requests_under_way_end_with_their_server) {
  std::optional<PendingReply> pending;
  {
    TestServer server(make_service());
    pending = server.begin_get("/slow");
  }
  ASSERT_TRUE(pending->is_done());
  EXPECT_THAT(pending->reply().problem(), HasSubstr("the test server ended"));
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
