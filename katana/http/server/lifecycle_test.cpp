// Start and end of a server: notice, given sockets, heartbeat, stalls.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "katana/http/server/client_test.hpp"
#include "katana/http/server/exposition_test.hpp"
#include "katana/http/server/http_server.hpp"
#include "katana/http/server/kept_log_test.hpp"
#include "katana/http/server/observability.hpp"

namespace katana::server {
namespace {

using testing::HasSubstr;

class LifecycleTest : public testing::Test {
 protected:
  LifecycleTest() {
    observability = *Observability::make();
    options.port = 0;
    options.reactors = 1;
    options.reactor.engine.links_max = 64;
    options.observability = observability.get();
    router.get("/hello", [] { return Reply::text("hello"); });
  }
  template <class Clients>
  ServerReport serve(Clients clients) {
    observability->mount(router, guard);
    auto service = std::move(router).build();
    EXPECT_TRUE(service);
    HttpServer server(options, *service);
    const auto started = server.start();
    EXPECT_TRUE(started) << started.error().describe();
    if (!started) return {};
    return serve_clients(server, clients);
  }

  HttpServerOptions options;
  const OperationsGuard guard{{.addresses = {"127.0.0.1"}}};
  std::unique_ptr<Observability> observability;
  Router router;
};

TEST_F(LifecycleTest, during_the_notice_it_is_not_ready_and_accepts_and_a_second_signal_ends_it) {
  bool told = false;
  options.drain_notice = seconds(3600);
  options.on_drain = [&] { told = true; };
  serve([](std::uint16_t port) {
    EXPECT_TRUE(Client(port).ask("/ready").starts_with("HTTP/1.1 200 "));
    terminate();
    std::string ready;
    do {
      ready = Client(port).ask("/ready");  // a new connection each time
    } while (ready.starts_with("HTTP/1.1 200 "));
    EXPECT_TRUE(ready.starts_with("HTTP/1.1 503 ")) << ready;
    EXPECT_TRUE(Client(port).ask("/hello").ends_with("hello"));
  });
  EXPECT_TRUE(told);
}

TEST_F(LifecycleTest, the_signal_that_began_the_end_is_known_when_on_drain_is_called) {
  HttpServer* running = nullptr;
  int ended_by = -1;
  options.on_drain = [&] { ended_by = running->ended_by(); };
  const auto service = std::move(router).build();
  ASSERT_TRUE(service);
  HttpServer server(options, *service);
  running = &server;
  ASSERT_TRUE(server.start());
  serve_clients(server, [](std::uint16_t) {});
  EXPECT_EQ(ended_by, SIGTERM);
}

TEST_F(LifecycleTest, an_end_by_shutdown_has_no_signal) {
  HttpServer* running = nullptr;
  int ended_by = -1;
  options.on_drain = [&] { ended_by = running->ended_by(); };
  const auto service = std::move(router).build();
  ASSERT_TRUE(service);
  HttpServer server(options, *service);
  running = &server;
  ASSERT_TRUE(server.start());
  serve_clients(server, [&](std::uint16_t) { server.shutdown(); }, 0);
  EXPECT_EQ(ended_by, 0);
}

TEST_F(LifecycleTest, sighup_is_heard_as_often_as_it_is_sent_and_ends_nothing) {
  std::atomic<int> heard = 0;
  options.on_reload = [&] { ++heard; };
  serve([&](std::uint16_t port) {
    for (int count = 1; count <= 3; ++count) {
      ::kill(::getpid(), SIGHUP);
      while (heard < count) std::this_thread::yield();
    }
    EXPECT_TRUE(Client(port).ask("/hello").ends_with("hello"));
  });
  EXPECT_EQ(heard, 3);
}

// The numbers of descriptors of the thread that waits for signals, and of the calling thread.
std::pair<std::ptrdiff_t, std::ptrdiff_t> tables() {
  const auto entries = [](const std::filesystem::path& table) {
    return std::distance(std::filesystem::directory_iterator(table), {});
  };
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(thread.path() / "comm"), name);
    if (name == "katana-signals") {
      return {entries(thread.path() / "fd"), entries("/proc/thread-self/fd")};
    }
  }
  return {-1, -1};
}

TEST_F(LifecycleTest, with_one_reactor_no_other_thread_has_its_descriptors) {
  serve([](std::uint16_t port) {
    EXPECT_TRUE(Client(port).ask("/hello").ends_with("hello"));  // all threads have begun
    std::ptrdiff_t waiter, reactor;
    do {
      std::tie(waiter, reactor) = tables();
    } while (waiter == reactor);  // the thread for signals may not have run yet
    EXPECT_EQ(waiter, 4);  // standard input, output and error, and the pipe to the reactor
    EXPECT_GT(reactor, 6);
  });
}

TEST_F(LifecycleTest, with_a_callback_that_may_use_any_descriptor_they_are_shared) {
  options.on_stuck = [](const ServerReport&) {};
  serve([](std::uint16_t port) {
    EXPECT_TRUE(Client(port).ask("/hello").ends_with("hello"));
    std::ptrdiff_t waiter = 0, reactor = 0;
    // One count after the other: the client's connection may end between them.
    for (int look = 0; look == 0 || (look < 1000 && waiter != reactor); ++look) {
      std::tie(waiter, reactor) = tables();
    }
    EXPECT_EQ(waiter, reactor);
  });
}

TEST_F(LifecycleTest, one_reactor_that_is_stuck_is_reported_and_the_process_ends_with_1) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  std::atomic<bool> inside = false;
  options.drain_timeout = milliseconds(1);
  router.get("/spin", [&] {
    inside = true;
    for (;;) std::this_thread::yield();
    return Reply::text("never");
  });
  EXPECT_EXIT(serve([&](std::uint16_t port) {
                Client client(port);
                client.send_get("/spin");
                while (!inside) std::this_thread::yield();
              }),
              testing::ExitedWithCode(1), "reactor 0 did not end: busy for [0-9]+ ms with");
}

class GivenSocket : public LifecycleTest, public testing::WithParamInterface<EngineKind> {};

TEST_P(GivenSocket, is_served_by_all_reactors_and_goes_on_when_the_server_has_ended) {
  if (!choose_engine(engine_name(GetParam()))) GTEST_SKIP() << "forbidden here";
  const int given = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(given, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(given, 16), 0);
  options.engine = GetParam();
  options.reactors = 2;
  options.sockets = {given};
  std::uint16_t port = 0;
  const ServerReport report = serve([&](std::uint16_t of_server) {
    port = of_server;
    for (int count = 0; count < 8; ++count) {
      EXPECT_TRUE(Client(port).ask("/hello").ends_with("hello"));
    }
  });
  EXPECT_EQ(report.requests, 8u);
  // A client that connects now waits in the queue for the next owner.
  const Client late(port);
  EXPECT_TRUE(late.connected);
  ::close(given);
}
INSTANTIATE_TEST_SUITE_P(Engines, GivenSocket,
                         testing::ValuesIn(engines().begin(), engines().end()));

TEST_F(LifecycleTest, a_descriptor_that_does_not_listen_is_named) {
  const int plain = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  options.sockets = {plain};
  auto service = std::move(router).build();
  HttpServer server(options, *service);
  const auto started = server.start();
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().describe(), HasSubstr("no socket that listens"));
  ::close(plain);
}

TEST_F(LifecycleTest, the_pulse_beats_while_every_reactor_answers) {
  std::atomic<int> beats = 0;
  options.reactors = 2;
  options.heartbeat_interval = milliseconds(1);
  options.on_heartbeat = [&] { ++beats; };
  serve([&](std::uint16_t) {
    while (beats < 3) std::this_thread::yield();
  });
  EXPECT_GE(beats, 3);
}

TEST_F(LifecycleTest, a_handler_that_blocks_is_reported_with_its_route_while_it_does) {
  KeptLog kept;
  options.stall_threshold = milliseconds(2);
  options.stall_logger = kept.logger("monitor");
  std::atomic<bool> release = false;
  router.get("/block/{n}", [&](Path<int>) {
    while (!release) std::this_thread::yield();
    return Reply::text("at last");
  });
  serve([&](std::uint16_t port) {
    Client client(port);
    client.send_get("/block/7");
    while (kept.lines({"is stalled", "GET /block/{n}"}).empty()) std::this_thread::yield();
    release = true;
    EXPECT_TRUE(client.receive_reply().ends_with("at last"));
  });
  EXPECT_THAT(exposition_of(observability->registry()),
              testing::ContainsRegex("katana_reactor_stalls_total.reactor=\"0\". [1-9]"));
}

}  // namespace
}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
