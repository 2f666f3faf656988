// The pages of live state of a whole program with planted faults: each is found by the pages alone.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "katana/app/application.hpp"
#include "katana/app/live_documents.hpp"
#include "katana/app/pools.hpp"
#include "katana/base/coroutine/synchronization.hpp"
#include "katana/base/memory/walked_list.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/http/server/client_test.hpp"
#include "katana/http/server/requests_in_flight.hpp"
#include "katana/net/reactor/sleep.hpp"

namespace katana::app {

struct RequestsDocument {
  std::int64_t matched = 0;
  std::vector<std::int64_t> silent_reactors = {};
  std::vector<std::int64_t> unlisted_reactors = {};
  std::vector<RequestEntry> requests = {};
};
KATANA_DESCRIBE(RequestsDocument, matched, silent_reactors, unlisted_reactors, requests)

struct ConnectionsDocument {
  std::int64_t matched = 0;
  std::vector<ConnectionEntry> connections = {};
};
KATANA_DESCRIBE(ConnectionsDocument, matched, connections)

struct ClosedDocument {
  std::int64_t closed = 0;
  std::vector<std::int64_t> silent_reactors = {};
};
KATANA_DESCRIBE(ClosedDocument, closed, silent_reactors)

namespace {

using server::Client;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// A chain of three, the last of which waits for ever.
Task<void> ask_supplier(AsyncEvent& never_set) { co_await never_set.wait(); }
Task<int> find_price(AsyncEvent& never_set) {
  co_await ask_supplier(never_set);
  co_return 1;
}

// Waits for the condition, which becomes true in time even on a busy machine.
template <class Condition>
void wait_until(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    std::this_thread::yield();
  }
}

// The content of a reply without its chunks' frames.
std::string content_of(const std::string& reply) {
  const std::size_t head = reply.find("\r\n\r\n");
  if (head == std::string::npos) return {};
  const std::string rest = reply.substr(head + 4);
  if (reply.substr(0, head).find("ransfer-Encoding: chunked") == std::string::npos) return rest;
  std::string content;
  for (std::size_t at = 0; at < rest.size();) {
    const std::size_t size = std::stoul(rest.substr(at), nullptr, 16);
    if (size == 0) break;
    at = rest.find("\r\n", at) + 2;
    content += rest.substr(at, size);
    at += size + 2;
  }
  return content;
}

template <class T>
T read(const std::string& reply) {
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 200 "));
  T value;
  container::Findings findings;
  EXPECT_TRUE(container::read_json(content_of(reply), value, findings)) << reply;
  return value;
}

class LivePagesTest : public testing::Test {
 protected:
  LivePagesTest() {
    std::string name = (std::filesystem::temp_directory_path() / "live_XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    app.routes([this](const registry::Services& services, Router& router) {
      add_routes(services, router);
    });
  }
  ~LivePagesTest() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& http, const std::string& more = "",
             const std::string& log = "") const {
    std::ofstream(folder_ / "app.yaml")
        << "http: {connections_max: 64, drain_notice: 0s, drain_timeout: 1s, port: 0" << http
        << "}\nlog: {console: false, json_file: " << file("app.jsonl") << log << "}\n"
        << more;
  }
  std::string log_text() const {
    std::ifstream input(folder_ / "app.jsonl");
    return {std::istreambuf_iterator<char>(input), {}};
  }
  // Serves while `clients` talk to it.
  template <class Clients>
  void serve(Clients clients) {
    const auto started = app.start({.config = file("app.yaml")});
    ASSERT_TRUE(started) << started.error().describe();
    std::thread thread([&] {
      clients(app.port());
      release = true;
      app.shutdown();
    });
    app.serve();
    thread.join();
    app.stop();
  }
  static std::string get(std::uint16_t port, const std::string& path) {
    return Client(port).ask(path);
  }
  static std::string post(std::uint16_t port, const std::string& path, const std::string& json = "",
                          const std::string& fields = "") {
    Client client(port);
    return post(client, path, json, fields);
  }
  static std::string post(Client& client, const std::string& path, const std::string& json,
                          const std::string& fields = "") {
    client.send(fmt::format(
        "POST {} HTTP/1.1\r\nHost: localhost\r\n{}{}Content-Length: {}\r\n\r\n{}", path, fields,
        json.empty() ? "" : "Content-Type: application/json\r\n", json.size(), json));
    return client.receive_reply();
  }
  // A connection to a reactor that does not spin. The kernel may give one to the other reactor:
  // `asked` keeps those.
  static Client& answered(std::uint16_t port, std::vector<std::unique_ptr<Client>>& asked) {
    for (;;) {
      Client& client = *asked.emplace_back(std::make_unique<Client>(port));
      client.send_get("/fine");
      if (!client.receive_within(std::chrono::milliseconds(200)).empty()) return client;
    }
  }
  static StateDocument state(std::uint16_t port) {
    return read<StateDocument>(get(port, "/operations/state"));
  }

  std::atomic<bool> release = false;
  std::atomic<int> waiting = 0;
  AsyncEvent never_set;
  Pools* pools = nullptr;
  std::vector<std::unique_ptr<Activity>> activities;
  std::vector<std::unique_ptr<server::RequestInFlight>> made;
  std::filesystem::path folder_;
  Application<> app{{.name = "faulty", .version = "1.2.3"}};

 private:
  void add_routes(const registry::Services& services, Router& router) {
    pools = &services.get<Pools>();
    // A handler that waits for ever.
    router.get("/forever/{id}", [this](Path<int>) -> Task<Reply> {
      ++waiting;
      while (!release) co_await net::sleep_for(milliseconds(1));
      co_return Reply::text("done");
    });
    // A handler that does not return.
    router.get("/spin", [this] {
      ++waiting;
      while (!release) std::this_thread::yield();
      return Reply::text("done");
    });
    router.get("/price/{id}", [this](Path<int>) -> Task<Reply> {
      ++waiting;
      co_return Reply::text(std::to_string(co_await find_price(never_set)));
    });
    router.get("/fine", [] { return Reply::text("fine"); });
    // Work of the pool that does not end.
    router.get("/block", [this] {
      for (int job = 0; job < 64; ++job) {
        (void)pools->work().post([this] {
          while (!release) std::this_thread::yield();
        });
      }
      return Reply(204);
    });
    // Many requests in flight, of this reactor.
    router.get("/many/{count}", [this](Path<int> count) {
      const net::Reactor& reactor = *net::Reactor::current();
      for (int number = *count; number > 0; --number) {
        activities.push_back(std::make_unique<Activity>());
        made.push_back(std::make_unique<server::RequestInFlight>(
            *activities.back(), reactor.now() - seconds(100) - milliseconds(number), nullptr,
            &reactor));
      }
      return Reply(204);
    });
  }
};

TEST_F(LivePagesTest, a_handler_that_waits_for_ever_is_the_oldest_request) {
  write(", reactors: 1");
  serve([&](std::uint16_t port) {
    Client stuck(port);
    stuck.send_get("/forever/7",
                   "X-Request-Id: stuck-1\r\ntraceparent: "
                   "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n");
    wait_until([&] { return waiting == 1; });
    EXPECT_THAT(get(port, "/fine"), HasSubstr("fine"));
    const StateDocument found = state(port);
    EXPECT_EQ(found.program, "faulty");
    EXPECT_EQ(found.version, "1.2.3");
    EXPECT_TRUE(found.requests_listed);
    EXPECT_EQ(found.requests_in_flight, 2) << "with that for the state";
    ASSERT_EQ(found.requests.size(), 2u);
    const RequestEntry& oldest = found.requests[0];
    EXPECT_EQ(oldest.method, "GET");
    EXPECT_EQ(oldest.route, "/forever/{id}");
    EXPECT_EQ(oldest.state, "handling");
    EXPECT_EQ(oldest.request_id, "stuck-1");
    EXPECT_EQ(oldest.trace_id, "0af7651916cd43dd8448eb211c80319c");
    EXPECT_THAT(oldest.client, StartsWith("127.0.0.1:"));
    EXPECT_EQ(found.requests[1].route, "/operations/state");

    const auto matched = [&](const std::string& query) {
      return read<RequestsDocument>(get(port, "/operations/requests?" + query)).matched;
    };
    EXPECT_EQ(matched("route=/forever/%7Bid%7D"), 1);
    EXPECT_EQ(matched("route=GET%20/forever/%7Bid%7D"), 1);
    EXPECT_EQ(matched("route=/fine"), 0);
    EXPECT_EQ(matched("client=127.0.0.1"), 2);
    EXPECT_EQ(matched("client=%3A%3AFFFF%3A127.0.0.1"), 2);
    EXPECT_EQ(matched("client=127.0.0.9"), 0);
    EXPECT_EQ(matched("older=1h"), 0);
    wait_until([&] { return matched("older=20ms") == 1; });
  });
}

TEST_F(LivePagesTest, a_coroutine_that_waits_for_ever_is_found_with_its_callers) {
  write(", reactors: 1");
  serve([&](std::uint16_t port) {
    Client stuck(port);
    stuck.send_get("/price/7", "X-Request-Id: stuck-2\r\n");
    wait_until([&] { return waiting == 1; });
    const auto found = [&](const std::string& query) {
      return read<CoroutinesDocument>(get(port, "/operations/coroutines?" + query));
    };
    const auto of_price = found("route=/price/%7Bid%7D");
    EXPECT_EQ(of_price.matched, 1);
    ASSERT_EQ(of_price.coroutines.size(), 1u);
    const CoroutineEntry& entry = of_price.coroutines[0];
    EXPECT_EQ(entry.route, "GET /price/{id}");
    EXPECT_EQ(entry.request_id, "stuck-2");
    ASSERT_EQ(entry.frames.size(), 3u);
    for (std::size_t depth = 0; depth < 3; ++depth) {
      EXPECT_EQ(entry.frames[depth].depth, static_cast<std::int64_t>(depth));
      EXPECT_THAT(entry.frames[depth].at, StartsWith("app/live_pages_test.cpp:"));
    }
    EXPECT_THAT(entry.frames[1].function, HasSubstr("find_price"));
    EXPECT_THAT(entry.frames[2].function, HasSubstr("ask_supplier"));
    EXPECT_EQ(entry.frames[1].awaits, "");
    EXPECT_EQ(entry.frames[2].awaits, "katana::AsyncEvent::Waiter");
    // The one that asks waits, too.
    EXPECT_EQ(found("").matched, 2);
    EXPECT_EQ(found("limit=1").coroutines.size(), 1u);
    EXPECT_EQ(found("older=1h").matched, 0);
    EXPECT_THAT(get(port, "/operations/coroutines?limit=0"), StartsWith("HTTP/1.1 400 "));
  });
}

TEST_F(LivePagesTest, a_profile_of_waiting_has_the_route_and_the_callers) {
  write(", reactors: 1");
  serve([&](std::uint16_t port) {
    Client stuck(port);
    stuck.send_get("/price/7");
    wait_until([&] { return waiting == 1; });
    const std::string folded =
        get(port, "/operations/profile?kind=waiting&seconds=1&format=folded");
    // The route, the handler, its callees and the awaitable, and more than one sample.
    EXPECT_THAT(folded,
                testing::ContainsRegex("GET /price/.id.;[^\n]*find_price;[^\n]*ask_supplier;"
                                       "katana::AsyncEvent::Waiter [1-9]"));
    EXPECT_THAT(get(port, "/operations/profile?kind=waiting&hertz=0"), StartsWith("HTTP/1.1 400 "));
  });
}

TEST_F(LivePagesTest, a_wrong_parameter_is_named_in_a_problem_document) {
  write(", reactors: 1");
  serve([&](std::uint16_t port) {
    for (const auto& [path, name] : std::vector<std::pair<std::string, std::string>>{
             {"requests?limit=0", "limit"},
             {"requests?limit=10001", "limit"},
             {"requests?older=soon", "older"},
             {"requests?older=-1s", "older"},
             {"requests?lmit=5", "lmit"},
             {"requests?client=", "client"},
             {"requests?client=[::1]:80", "client"},
             {"connections?client=1.2.3.4:5", "client"},
             {"connections?paused=perhaps", "paused"},
             {"statements?limit=x", "limit"},
             {"state?limit=1001", "limit"}}) {
      const std::string reply = get(port, "/operations/" + path);
      EXPECT_THAT(reply, AllOf(StartsWith("HTTP/1.1 400 "), HasSubstr("application/problem+json"),
                               HasSubstr("'" + name + "'")))
          << path;
    }
  });
}

TEST_F(LivePagesTest, without_rights_there_are_no_pages) {
  write(", reactors: 1, hosts: [shop.example]");
  serve([&](std::uint16_t port) {
    for (const char* path :
         {"/operations", "/operations/state", "/operations/requests", "/operations/connections",
          "/operations/statements", "/operations/history", "/operations/log",
          "/operations/charts.js", "/operations/configuration", "/operations/page.js"}) {
      EXPECT_THAT(get(port, path), StartsWith("HTTP/1.1 404 ")) << path;
    }
    for (const char* action : {"log-level", "reload", "drain", "shed", "close-client"}) {
      EXPECT_THAT(post(port, std::string("/operations/actions/") + action, "{}"),
                  StartsWith("HTTP/1.1 404 "))
          << action;
    }
    Client still(port);
    still.send("GET /fine HTTP/1.1\r\nHost: shop.example\r\n\r\n");
    EXPECT_THAT(still.receive_reply(), HasSubstr("fine"));
  });
}

TEST_F(LivePagesTest, without_the_token_there_are_neither_pages_nor_actions) {
  write(", reactors: 1", "operations: {token: 'a-token-of-32-characters-or-more-0123'}\n");
  serve([&](std::uint16_t port) {
    for (const char* page : {"state", "history", "log", "configuration"}) {
      EXPECT_THAT(get(port, std::string("/operations/") + page), StartsWith("HTTP/1.1 401 "))
          << page;
    }
    // A browser cannot send the token before it has the page, which says nothing of the program.
    EXPECT_THAT(get(port, "/operations"),
                AllOf(StartsWith("HTTP/1.1 200 "), Not(HasSubstr("faulty"))));
    for (const char* action : {"log-level", "reload", "drain", "shed", "close-client"}) {
      EXPECT_THAT(post(port, std::string("/operations/actions/") + action, "{}"),
                  StartsWith("HTTP/1.1 401 "))
          << action;
    }
    EXPECT_THAT(get(port, "/fine"), HasSubstr("fine"));
  });
}

TEST_F(LivePagesTest, a_handler_that_spins_is_named_by_the_reactors_that_do_not) {
  write(", reactors: 2");
  serve([&](std::uint16_t port) {
    Client spins(port);
    spins.send_get("/spin");
    wait_until([&] { return waiting == 1; });
    std::vector<std::unique_ptr<Client>> asked;
    Client& asks = answered(port, asked);
    StateDocument found;
    // On a busy machine the other one is late, too.
    wait_until([&] {
      found = read<StateDocument>(asks.ask("/operations/state"));
      return std::ranges::any_of(found.reactors, &ReactorEntry::answered);
    });
    ASSERT_EQ(found.reactors.size(), 2u);
    const bool is_first = !found.reactors[0].answered;
    const ReactorEntry& stuck = found.reactors[is_first ? 0 : 1];
    EXPECT_FALSE(stuck.answered);
    EXPECT_EQ(stuck.busy_with, "GET /spin");
    EXPECT_GE(stuck.busy_ms, 1);
    EXPECT_TRUE(found.reactors[is_first ? 1 : 0].answered);
    release = true;
    EXPECT_THAT(spins.receive_reply(), HasSubstr("done"));
  });
}

TEST_F(LivePagesTest, a_flood_by_one_client_is_seen_and_can_be_closed) {
  write(", reactors: 1", "audit: {file: " + file("audit.jsonl") + "}\n");
  serve([&](std::uint16_t port) {
    std::vector<std::unique_ptr<Client>> flood;
    for (int count = 0; count < 20; ++count) {
      flood.push_back(std::make_unique<Client>(port));
      EXPECT_THAT(flood.back()->ask("/fine"), HasSubstr("fine"));
    }
    Client slow(port);
    slow.send_get("/forever/1");
    wait_until([&] { return waiting == 1; });
    const auto all =
        read<ConnectionsDocument>(get(port, "/operations/connections?client=127.0.0.1&limit=5"));
    EXPECT_EQ(all.matched, 22) << "with that for the list";
    ASSERT_EQ(all.connections.size(), 5u);
    EXPECT_EQ(all.connections[0].protocol, "http/1.1");
    EXPECT_EQ(all.connections[0].direction, "in");
    EXPECT_EQ(all.connections[0].state, "open");
    EXPECT_EQ(all.connections[0].requests, 1);
    EXPECT_GE(all.connections[0].age_ms, all.connections[4].age_ms);
    const auto paused = read<ConnectionsDocument>(get(port, "/operations/connections?paused=true"));
    ASSERT_EQ(paused.matched, 2);
    EXPECT_EQ(paused.connections[0].paused, "handler_pending");

    // Its own connection is one of them.
    const std::string closed =
        post(port, "/operations/actions/close-client", R"({"client":"127.0.0.1"})");
    EXPECT_TRUE(closed.empty() || closed.starts_with("HTTP/1.1 200 ")) << closed;
    for (auto& client : flood) EXPECT_EQ(client->receive_until(""), "");
    EXPECT_THAT(get(port, "/fine"), HasSubstr("fine"));
  });
  EXPECT_THAT(log_text(), HasSubstr("action: close-client 127.0.0.1"));
  std::ifstream audit(file("audit.jsonl"));
  const std::string records{std::istreambuf_iterator<char>(audit), {}};
  EXPECT_THAT(records, AllOf(HasSubstr("operations.close-client"), HasSubstr("127.0.0.1")));
}

TEST_F(LivePagesTest, a_reactor_that_is_held_up_closes_the_connections_of_a_client_later) {
  write(", reactors: 2");
  serve([&](std::uint16_t port) {
    Client spins(port, "127.0.0.2");
    spins.send_get("/spin");
    wait_until([&] { return waiting == 1; });
    std::vector<std::unique_ptr<Client>> asked;
    Client& asks = answered(port, asked);
    const auto closed = read<ClosedDocument>(
        post(asks, "/operations/actions/close-client", R"({"client":"127.0.0.2"})"));
    EXPECT_EQ(closed.closed, 0);
    EXPECT_FALSE(closed.silent_reactors.empty());
    release = true;
    wait_until([&] {
      return read<ConnectionsDocument>(asks.ask("/operations/connections?client=127.0.0.2"))
                 .matched == 0;
    });
    EXPECT_EQ(read<ClosedDocument>(
                  post(asks, "/operations/actions/close-client", R"({"client":"127.0.0.3"})"))
                  .closed,
              0);
  });
}

// The lists of threads are for the life of a process: this one has none left.
TEST_F(LivePagesTest, requests_of_a_thread_without_a_list_are_reported_as_not_listed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto ask = [&] {
    using Lists = ThreadLists<server::RequestInFlight>;
    for (std::size_t count = 0; count < Lists::threads_max; ++count) {
      std::thread([] { (void)Lists::own(); }).join();
    }
    write(", reactors: 1");
    serve([&](std::uint16_t port) {
      std::cerr << content_of(get(port, "/operations/requests"))
                << content_of(get(port, "/operations/state"));
    });
    std::filesystem::remove_all(folder_);
    std::_Exit(0);
  };
  EXPECT_EXIT(ask(), testing::ExitedWithCode(0),
              AllOf(HasSubstr(R"("unlisted_reactors":[0])"),
                    HasSubstr(R"("number":0,"answered":true,"unlisted":true)")));
}

TEST_F(LivePagesTest, a_pool_that_is_full_is_seen_and_the_pages_do_not_need_it) {
  write(", reactors: 1", "pools: {work: {threads_min: 2, threads_max: 2}}\n");
  serve([&](std::uint16_t port) {
    EXPECT_THAT(get(port, "/block"), StartsWith("HTTP/1.1 204 "));
    wait_until([&] { return state(port).pools.at(0).queued == 62; });
    EXPECT_EQ(state(port).pools[0].name, "work");
    EXPECT_EQ(state(port).pools[0].threads, 2);
  });
}

TEST_F(LivePagesTest, ten_thousand_requests_are_one_list_in_the_order_of_their_age) {
  write(", reactors: 1");
  serve([&](std::uint16_t port) {
    get(port, "/many/10000");
    const auto began = std::chrono::steady_clock::now();
    const auto all = read<RequestsDocument>(get(port, "/operations/requests?limit=10000"));
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    RecordProperty("list_ms", std::to_string(took.count()));
    EXPECT_EQ(all.matched, 10'001);
    ASSERT_EQ(all.requests.size(), 10'000u);
    EXPECT_THAT(all.silent_reactors, IsEmpty());
    EXPECT_THAT(all.unlisted_reactors, IsEmpty());
    EXPECT_TRUE(std::ranges::is_sorted(all.requests, std::greater(), &RequestEntry::age_ms));
    const std::int64_t older =
        read<RequestsDocument>(get(port, "/operations/requests?older=105s")).matched;
    EXPECT_TRUE(older >= 5'000 && older <= 10'000) << older;
  });
}

TEST_F(LivePagesTest, the_configuration_has_origins_and_no_secrets) {
  write(", reactors: 1", "operations: {token: 'a-token-of-32-characters-or-more-0123'}\n");
  serve([&](std::uint16_t port) {
    const std::string reply =
        Client(port).ask("/operations/configuration",
                         "Authorization: Bearer a-token-of-32-characters-or-more-0123\r\n");
    EXPECT_THAT(reply, AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("drain_timeout: 1s"),
                             HasSubstr("app.yaml"), Not(HasSubstr("a-token-of"))));
  });
}

TEST_F(LivePagesTest, the_page_loads_nothing_from_other_servers) {
  write(", reactors: 1");
  serve([&](std::uint16_t port) {
    const std::string page = get(port, "/operations");
    EXPECT_THAT(
        page, AllOf(StartsWith("HTTP/1.1 200 "), Not(HasSubstr("faulty")), Not(HasSubstr("1.2.3")),
                    HasSubstr("Content-Security-Policy: default-src 'none'"),
                    Not(HasSubstr("unsafe")), Not(HasSubstr("http://")), Not(HasSubstr("https://")),
                    Not(HasSubstr("style=")), Not(HasSubstr("<script>"))));
    EXPECT_THAT(get(port, "/operations/page.js"), HasSubstr("text/javascript"));
    EXPECT_THAT(get(port, "/operations/charts.js"), HasSubstr("text/javascript"));
    EXPECT_THAT(get(port, "/operations/page.css"), HasSubstr("text/css"));
  });
}

TEST_F(LivePagesTest, the_page_shows_the_last_records_of_the_log) {
  write(", reactors: 1");
  serve([&](std::uint16_t port) {
    wait_until([&] {
      const std::string log = get(port, "/operations/log");
      return log.starts_with("HTTP/1.1 200 ") && log.find("all parts started") != log.npos;
    });
  });
}

TEST_F(LivePagesTest, a_slow_request_is_shown_with_its_ids) {
  write(", reactors: 1");
  serve([&](std::uint16_t port) {
    Client slow(port);
    slow.send("GET /forever/1 HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: slow-1\r\n\r\n");
    wait_until([&] { return waiting == 1; });
    wait_until([&] {
      return read<RequestsDocument>(get(port, "/operations/requests?older=20ms")).matched == 1;
    });
    release = true;
    EXPECT_THAT(slow.receive_reply(), HasSubstr("done"));
    wait_until([&] {
      const auto past = read<HistoryDocument>(get(port, "/operations/history"));
      return !past.slowest.empty() && past.slowest[0].request_id == "slow-1" &&
             past.slowest[0].route == "/forever/{id}" && past.slowest[0].duration_ms >= 20 &&
             past.slowest[0].status == 200;
    });
  });
}

TEST_F(LivePagesTest, log_levels_change_for_a_time_and_are_then_the_configured_ones) {
  write(", reactors: 1");
  serve([&](std::uint16_t port) {
    const log::Logger logger = app.log().logger("orders");
    EXPECT_FALSE(logger.enabled(log::Level::debug));
    EXPECT_THAT(
        post(port, "/operations/actions/log-level", R"({"levels":"info,orders=debug","for":"1h"})"),
        StartsWith("HTTP/1.1 204 "));
    EXPECT_TRUE(logger.enabled(log::Level::debug));
    EXPECT_THAT(
        post(port, "/operations/actions/log-level", R"({"levels":"info,orders=trace","for":"1s"})"),
        StartsWith("HTTP/1.1 204 "));
    EXPECT_TRUE(logger.enabled(log::Level::trace));
    wait_until([&] { return !logger.enabled(log::Level::debug); });

    const std::string wrong =
        post(port, "/operations/actions/log-level", R"({"levels":"loud","for":"1h"})");
    EXPECT_THAT(wrong, AllOf(StartsWith("HTTP/1.1 400 "), HasSubstr("levels")));
    EXPECT_THAT(post(port, "/operations/actions/log-level", R"({"levels":"info","for":"1ms"})"),
                AllOf(StartsWith("HTTP/1.1 422 "), HasSubstr("/for")));
  });
}

TEST_F(LivePagesTest, a_change_of_levels_ends_for_loggers_that_the_configuration_does_not_name) {
  write(", reactors: 1", "", ", levels: \"orders=debug\"");
  serve([&](std::uint16_t port) {
    const log::Logger orders = app.log().logger("orders");
    const log::Logger other = app.log().logger("other");
    EXPECT_EQ(orders.level(), log::Level::debug);
    EXPECT_EQ(other.level(), log::Level::info);
    EXPECT_THAT(post(port, "/operations/actions/log-level", R"({"levels":"trace","for":"1s"})"),
                StartsWith("HTTP/1.1 204 "));
    EXPECT_EQ(other.level(), log::Level::trace);
    wait_until([&] { return other.level() == log::Level::info; });
    EXPECT_EQ(orders.level(), log::Level::debug);
  });
}

TEST_F(LivePagesTest, a_reload_begins_from_the_base_level_and_ends_changes_for_a_time) {
  const auto shedding = [](const char* max) {
    return fmt::format(", reactors: 1, load_shedding: {{enabled: true, utilisation_max: {}}}", max);
  };
  write(shedding("0.9"), "", ", levels: warn");
  serve([&](std::uint16_t port) {
    const log::Logger other = app.log().logger("other");
    EXPECT_EQ(other.level(), log::Level::warn);
    write(shedding("0.9"), "", ", levels: \"orders=debug\"");
    EXPECT_THAT(post(port, "/operations/actions/reload"), StartsWith("HTTP/1.1 204 "));
    EXPECT_EQ(other.level(), log::Level::info);
    EXPECT_THAT(post(port, "/operations/actions/log-level", R"({"levels":"trace","for":"1h"})"),
                StartsWith("HTTP/1.1 204 "));
    EXPECT_EQ(other.level(), log::Level::trace);
    write(shedding("0.8"), "", ", levels: \"orders=debug\"");
    EXPECT_THAT(post(port, "/operations/actions/reload"), StartsWith("HTTP/1.1 204 "));
    EXPECT_EQ(other.level(), log::Level::info);
  });
}

TEST_F(LivePagesTest, nothing_is_changed_for_a_time_that_would_not_end) {
  write(", reactors: 1");
  serve([&](std::uint16_t port) {
    const log::Logger other = app.log().logger("other");
    pools->work().stop(thread::StopMode::immediate);
    EXPECT_THAT(post(port, "/operations/actions/log-level", R"({"levels":"trace","for":"1h"})"),
                Not(StartsWith("HTTP/1.1 2")));
    EXPECT_EQ(other.level(), log::Level::info);
  });
}

TEST_F(LivePagesTest, values_out_of_bounds_are_named_and_nothing_is_changed) {
  write(", reactors: 1, load_shedding: {enabled: true, utilisation_max: 0.9}");
  serve([&](std::uint16_t port) {
    const log::Logger other = app.log().logger("other");
    const auto expect = [&](const char* action, const std::string& json, const char* status,
                            const char* named) {
      EXPECT_THAT(post(port, std::string("/operations/actions/") + action, json),
                  AllOf(StartsWith(std::string("HTTP/1.1 ") + status), HasSubstr(named)))
          << action << json;
    };
    expect("log-level", R"({"levels":"","for":"1h"})", "422 ", "/levels");
    expect("log-level", fmt::format(R"({{"levels":"{:x>513}"}})", ""), "422 ", "/levels");
    expect("log-level", R"({"levels":"trace","for":"999ms"})", "422 ", "/for");
    expect("log-level", R"({"levels":"trace","for":"86401s"})", "422 ", "/for");
    expect("log-level", R"({"levels":"trace","fro":"1h"})", "422 ", "/fro");
    expect("shed", R"({"utilisation_max":0.009})", "422 ", "/utilisation_max");
    expect("shed", R"({"utilisation_max":1})", "422 ", "/utilisation_max");
    expect("shed", R"({"utilisation_max":0.5,"for":"999ms"})", "422 ", "/for");
    expect("shed", R"({"utilisation_max":0.5,"for":"86401s"})", "422 ", "/for");
    expect("close-client", R"({"client":"127.0.0.1:80"})", "422 ", "/client");
    expect("close-client", R"({"client":"localhost"})", "422 ", "/client");
    EXPECT_EQ(other.level(), log::Level::info);
    expect("log-level", R"({"levels":"info","for":"24h"})", "204 ", "");
    expect("shed", R"({"utilisation_max":0.999,"for":"24h"})", "204 ", "");
    expect("shed", R"({"utilisation_max":0.01})", "204 ", "");
  });
  EXPECT_THAT(log_text(), Not(HasSubstr("action: close-client")));
}

TEST_F(LivePagesTest, the_configuration_is_read_again_and_its_mistakes_are_told) {
  write(", reactors: 1");
  serve([&](std::uint16_t port) {
    write(", reactors: 1", "requests: {slow: 7s}\n");
    EXPECT_THAT(post(port, "/operations/actions/reload"), StartsWith("HTTP/1.1 204 "));
    write(", reactors: 1", "requests: {slow: never}\n");
    EXPECT_THAT(post(port, "/operations/actions/reload"), HasSubstr("requests.slow"));
  });
  EXPECT_THAT(log_text(), HasSubstr("requests.slow"));
}

TEST_F(LivePagesTest, a_page_of_another_origin_cannot_act) {
  write(", reactors: 1");
  serve([&](std::uint16_t port) {
    for (const auto& [action, json] : std::vector<std::pair<std::string, std::string>>{
             {"drain", ""},
             {"reload", ""},
             {"log-level", R"({"levels":"trace"})"},
             {"shed", R"({"utilisation_max":0.5})"},
             {"close-client", R"({"client":"127.0.0.1"})"}}) {
      const std::string path = "/operations/actions/" + action;
      for (const char* field : {"Sec-Fetch-Site: cross-site\r\n", "Origin: http://evil.test\r\n"}) {
        EXPECT_THAT(post(port, path, json, field), StartsWith("HTTP/1.1 403 ")) << path << field;
      }
    }
    EXPECT_THAT(get(port, "/fine"), HasSubstr("fine"));
  });
  EXPECT_THAT(log_text(), Not(HasSubstr("action:")));
}

TEST_F(LivePagesTest, load_is_shed_only_where_it_is_enabled) {
  write(", reactors: 1");
  serve([&](std::uint16_t port) {
    EXPECT_THAT(post(port, "/operations/actions/shed", R"({"utilisation_max":0.5})"),
                AllOf(StartsWith("HTTP/1.1 409 "), HasSubstr("http.load_shedding.enabled")));
  });
}

TEST_F(LivePagesTest, load_is_shed_for_a_time) {
  write(", reactors: 1, load_shedding: {enabled: true, utilisation_max: 0.9}");
  serve([&](std::uint16_t port) {
    EXPECT_THAT(post(port, "/operations/actions/shed", R"({"utilisation_max":0.5,"for":"1s"})"),
                StartsWith("HTTP/1.1 204 "));
    wait_until([&] {
      app.log().flush();
      return log_text().find("load shedding is the configured one again") != std::string::npos;
    });
  });
}

TEST_F(LivePagesTest, a_drain_ends_the_program_as_a_signal_does) {
  write(", reactors: 1");
  const auto started = app.start({.config = file("app.yaml")});
  ASSERT_TRUE(started) << started.error().describe();
  std::thread thread([&] {
    EXPECT_THAT(post(app.port(), "/operations/actions/drain"), StartsWith("HTTP/1.1 202 "));
  });
  app.serve();
  thread.join();
  app.stop();
  EXPECT_THAT(log_text(), AllOf(HasSubstr("action: drain"), HasSubstr("draining for up to")));
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
