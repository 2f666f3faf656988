// The access log of a server on real sockets.
#include "katana/http/server/access_log.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "katana/http/handlers/router.hpp"
#include "katana/http/server/client_test.hpp"
#include "katana/http/server/http_server.hpp"
#include "katana/observe/log/log.hpp"

namespace katana::server {
namespace {

struct Secrets {
  std::string token;
  std::string lang;
};
KATANA_DESCRIBE(Secrets, (token, secret), lang)

class AccessLogTest : public testing::Test {
 protected:
  AccessLogTest()
      : path_(std::filesystem::temp_directory_path() /
              ("katana_access_" + std::to_string(::getpid()) + ".jsonl")) {}
  ~AccessLogTest() override { std::filesystem::remove(path_); }

  // The lines that were written while `clients` talked to a server.
  template <class Clients>
  std::vector<std::string> lines_of(Clients clients, log::Level level = log::Level::info,
                                    std::vector<Network> proxies = {}) {
    log::Options logging;
    logging.sinks = {log::json_file(path_.string())};
    logging.level = level;
    auto log = log::Log::start(logging);
    EXPECT_TRUE(log);
    AccessLog access((*log)->logger("access"));
    Router router;
    router.get("/hello", [] { return Reply::text("hello there"); });
    router.get("/reset", [](Query<Secrets>) { return Reply::text("reset"); });
    router.get("/throw", []() -> Reply { throw std::runtime_error("x"); });
    auto service = std::move(router).build();
    EXPECT_TRUE(service);
    HttpServerOptions options;
    options.port = 0;
    options.reactors = 1;
    options.reactor.engine.links_max = 64;
    options.http.observer = &access;
    options.http.trusted_proxies = std::move(proxies);
    options.http.forwarded = http::ForwardedFields::forwarded;
    HttpServer server(options, *service);
    EXPECT_TRUE(server.start());
    serve_clients(server, clients);
    (*log)->stop();
    std::vector<std::string> lines;
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

 private:
  std::filesystem::path path_;
};

bool has(const std::string& line, const std::string& part) {
  return line.find(part) != std::string::npos;
}

TEST_F(AccessLogTest, each_exchange_is_one_record_with_what_it_came_to) {
  const auto lines = lines_of([](std::uint16_t port) {
    Client client(port);
    client.ask("/hello?name=x");
    client.ask("/throw");
  });
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(has(lines[0], "GET /hello?name=x")) << lines[0];
  EXPECT_TRUE(has(lines[0], "\"status\":200")) << lines[0];
  EXPECT_TRUE(has(lines[0], "\"bytes\":11")) << lines[0];
  EXPECT_TRUE(has(lines[0], "\"request\":1")) << lines[0];
  EXPECT_TRUE(has(lines[0], "\"peer\":\"127.0.0.1:")) << lines[0];
  EXPECT_TRUE(has(lines[0], "\"end\":\"replied\"")) << lines[0];
  EXPECT_TRUE(has(lines[1], "\"status\":500")) << lines[1];
  EXPECT_TRUE(has(lines[1], "\"request\":2")) << lines[1];
  EXPECT_TRUE(has(lines[1], "warn")) << lines[1];
}

TEST_F(AccessLogTest, the_client_is_named_when_a_trusted_proxy_says_who_it_is) {
  const auto ask = [](std::uint16_t port) {
    Client client(port);
    client.ask("/hello", "Forwarded: for=\"[2001:db8::1]:77\"\r\n");
  };
  const auto trusted = lines_of(ask, log::Level::info, {*Network::parse("127.0.0.0/8")});
  ASSERT_EQ(trusted.size(), 1u);
  EXPECT_TRUE(has(trusted[0], "\"client\":\"[2001:db8::1]:77\"")) << trusted[0];
  EXPECT_TRUE(has(trusted[0], "\"peer\":\"127.0.0.1:")) << trusted[0];
  const auto untrusted = lines_of(ask, log::Level::info, {*Network::parse("10.0.0.0/8")});
  ASSERT_EQ(untrusted.size(), 2u) << "the file has those of the first server, too";
  EXPECT_FALSE(has(untrusted[1], "client")) << untrusted[1];
}

TEST_F(AccessLogTest, what_a_query_marks_secret_is_in_no_record) {
  const auto lines = lines_of([](std::uint16_t port) {
    Client client(port);
    client.ask("/reset?token=abc123&lang=en");
  });
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(has(lines[0], "GET /reset?token=***&lang=en")) << lines[0];
  EXPECT_FALSE(has(lines[0], "abc123")) << lines[0];
}

TEST_F(AccessLogTest, a_refused_head_is_a_record_and_cannot_forge_another) {
  const auto lines = lines_of([](std::uint16_t port) {
    Client refused(port);
    refused.send("GET /\tHTTP/9 nonsense\r\n\r\n");
    EXPECT_TRUE(refused.receive_until("").starts_with("HTTP/1.1 400 "));
    Client forger(port);
    forger.ask("/%0a%22status%22:200");
  });
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(has(lines[0], "\"- -\"")) << lines[0];
  EXPECT_TRUE(has(lines[0], "\"status\":400")) << lines[0];
  EXPECT_TRUE(has(lines[1], "GET /%0a%22status%22:200")) << lines[1];
  EXPECT_TRUE(has(lines[1], "\"status\":404")) << lines[1];
}

TEST_F(AccessLogTest, above_its_level_nothing_is_written_but_failures) {
  const auto lines = lines_of(
      [](std::uint16_t port) {
        Client client(port);
        client.ask("/hello");
        client.ask("/throw");
      },
      log::Level::warn);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(has(lines[0], "GET /throw")) << lines[0];
}

}  // namespace
}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
