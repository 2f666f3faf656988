// Connections over the reactors of a server, on every engine: they are balanced, and each keeps
// everything that it had where it was accepted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "katana/http/handlers/router.hpp"
#include "katana/http/server/client_test.hpp"
#include "katana/http/server/engines.hpp"
#include "katana/http/server/http_server.hpp"
#include "katana/net/reactor/reactor.hpp"

namespace katana::server {
namespace {

using testing::HasSubstr;

class BalanceTest : public testing::Test {
 protected:
  BalanceTest() {
    options.port = 0;
    options.reactors = 8;
    options.reactor.engine.links_max = 256;
    router.get("/here", [](const RequestView& request) {
      return Reply::text(format_text("reactor {} {}",
                                     reinterpret_cast<std::uintptr_t>(net::Reactor::current()),
                                     request.client().text().bytes()));
    });
  }

  // Serves on every engine that runs here.
  template <class Clients>
  void serve(Clients clients) {
    const auto service = std::move(router).build();
    ASSERT_TRUE(service);
    for (const EngineKind kind : engines()) {
      if (!choose_engine(engine_name(kind))) continue;
      options.engine = kind;
      HttpServer server(options, *service);
      const auto listening = server.start();
      ASSERT_TRUE(listening) << listening.error().describe();
      const ServerReport report =
          serve_clients(server, [&](std::uint16_t port) { clients(server, port); });
      EXPECT_EQ(report.cut_off, 0u);
    }
  }
  // The number of connections of the busiest reactor.
  static int busiest(const std::vector<std::unique_ptr<Client>>& clients) {
    std::map<std::string, int> shares;
    for (const auto& each : clients) {
      const std::string reply = each->ask("/here");
      const std::size_t at = reply.find("reactor ");
      EXPECT_NE(at, std::string::npos) << reply;
      if (at != std::string::npos) ++shares[reply.substr(at, reply.find(' ', at + 8) - at)];
    }
    int most = 0;
    for (const auto& [reactor, count] : shares) most = std::max(most, count);
    return most;
  }

  HttpServerOptions options;
  Router router;
};

TEST_F(BalanceTest, long_connections_are_even) {
  serve([](HttpServer&, std::uint16_t port) {
    std::vector<std::unique_ptr<Client>> clients;
    for (int count = 0; count < 128; ++count) clients.push_back(std::make_unique<Client>(port));
    EXPECT_LE(busiest(clients), 18);
    EXPECT_LE(busiest(clients), 18) << "and stay where they are";
  });
}

TEST_F(BalanceTest, those_of_a_unix_socket_that_all_reactors_share_are_even) {
  const std::string path = testing::TempDir() + "balance-" + std::to_string(::getpid());
  options.listeners = {{.address = "unix:" + path}};
  serve([&](HttpServer&, std::uint16_t) {
    std::vector<std::unique_ptr<Client>> clients;
    for (int count = 0; count < 128; ++count) clients.push_back(std::make_unique<Client>(path));
    EXPECT_LE(busiest(clients), 18);
    EXPECT_THAT(clients.back()->ask("/here"), HasSubstr("unix:uid=" + std::to_string(::getuid())));
  });
}

TEST_F(BalanceTest, whoever_a_proxy_names_is_known_and_limited_wherever_it_is_served) {
  options.proxy_protocol = ProxyProtocol::required;
  options.http.trusted_proxies = {*Network::parse("127.0.0.0/8")};
  options.clients.connections_max = 1;
  serve([](HttpServer&, std::uint16_t port) {
    const auto line = [](int number) {
      return "PROXY TCP4 198.51.100." + std::to_string(number) + " 203.0.113.1 5000 443\r\n";
    };
    std::vector<std::unique_ptr<Client>> clients;
    for (int count = 0; count < 64; ++count) {
      Client& client = *clients.emplace_back(std::make_unique<Client>(port));
      client.send(line(count));
      EXPECT_THAT(client.ask("/here"), HasSubstr("198.51.100." + std::to_string(count) + ":5000"));
    }
    EXPECT_LE(busiest(clients), 10);
    Client again(port);
    again.send(line(7));
    EXPECT_EQ(again.receive_until(""), "");
  });
}

TEST_F(BalanceTest, a_client_has_no_more_connections_than_it_may) {
  options.clients.connections_max = 40;
  serve([](HttpServer&, std::uint16_t port) {
    std::vector<std::unique_ptr<Client>> clients;
    for (int count = 0; count < 40; ++count) clients.push_back(std::make_unique<Client>(port));
    EXPECT_LE(busiest(clients), 7);
    Client more(port);
    more.send("G");
    EXPECT_EQ(more.receive_until(""), "");
  });
}

}  // namespace
}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
