// Tests of the access to nats-server: credentials, TLS and permissions; and of false servers.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "katana/net/tls/talk_test.hpp"
#include "katana/stores/bus/nats/nats_bus.hpp"
#include "katana/stores/bus/nats/nats_server_test.hpp"

namespace katana::bus {
namespace {

using testing::Contains;
using testing::HasSubstr;
using Said = std::vector<std::string>;

class NatsAccessTest : public NatsTest {
 protected:
  void expect_refused(NatsOptions options, Bytes why) {
    Node& node = add(std::move(options), 1, false);
    EXPECT_TRUE(turn_until([&] {
      return node.bus->health().detail.find(why) != std::string::npos;
    })) << node.bus->health().detail;
    EXPECT_FALSE(node.bus->health().ready);
  }
};

TEST_F(NatsAccessTest, a_user_has_a_password_and_a_token_is_known) {
  const NatsServer server("authorization { user: ann, password: s3cret }");
  NatsOptions options = options_for({&server});
  options.credentials.user = "ann";
  options.credentials.password = SecretText("s3cret");
  add(std::move(options));
  NatsOptions wrong = options_for({&server});
  wrong.credentials.user = "ann";
  wrong.credentials.password = SecretText("other");
  expect_refused(std::move(wrong), "Authorization Violation");
  const NatsServer other("authorization { token: t0ken }");
  NatsOptions token = options_for({&other});
  token.credentials.token = SecretText("t0ken");
  add(std::move(token));
  expect_refused(options_for({&other}), "Authorization Violation");
}

TEST_F(NatsAccessTest, an_nkey_proves_who_connects) {
  auto nkey = NkeySeed::parse("SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY");
  ASSERT_TRUE(nkey);
  const NatsServer server(
      fmt::format("authorization {{ users: [ {{ nkey: {} }} ] }}", *nkey->public_key()));
  NatsOptions options = options_for({&server});
  options.credentials.nkey = *std::move(nkey);
  add(std::move(options));
  expect_refused(options_for({&server}), "Authorization Violation");
}

TEST_F(NatsAccessTest, what_the_server_does_not_allow_is_told_to_the_subscriber) {
  const NatsServer server(
      "authorization { users: [ { user: u, password: p, permissions: { subscribe: "
      "[\"ok.>\", \"_numbers.>\"], publish: [\"ok.>\"] } } ] }");
  NatsOptions options = options_for({&server});
  options.credentials.user = "u";
  options.credentials.password = SecretText("p");
  Node& node = add(std::move(options));
  Said allowed, denied;
  auto a = subscribe(node, "ok.x", allowed);
  auto b = subscribe(node, "secret.x", denied);
  EXPECT_TRUE(turn_until([&] { return !denied.empty(); }));
  EXPECT_EQ(denied, Said{"!denied"});
  EXPECT_TRUE(node.bus->health().ready);
  EXPECT_TRUE(allowed.empty());
}

TEST_F(NatsAccessTest, tls_begins_behind_the_servers_greeting) {
  const auto& certificate = tls::shared_certificate();
  std::string name = (std::filesystem::temp_directory_path() / "katana-nats-tls-XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  std::ofstream(name + "/cert.pem") << certificate.certificate_text();
  std::ofstream(name + "/key.pem") << certificate.key_text();
  const NatsServer server(
      fmt::format("tls {{ cert_file: \"{0}/cert.pem\", key_file: \"{0}/key.pem\" }}", name));
  const auto trusting = [&](const char* certificate_name) {
    NatsOptions options = options_for({&server});
    options.servers[0].certificate_name = certificate_name;
    options.tls.emplace();
    options.tls->system_authorities = false;
    options.tls->authorities_text = certificate.certificate_text();
    return options;
  };
  Node& a = add(trusting("localhost"));
  Node& b = add(trusting("localhost"));
  Said said;
  auto subscription = subscribe(b, "x", said);
  EXPECT_TRUE(turn_until([&] {
    a.on();
    EXPECT_TRUE(a.bus->publish("x", "ready?"));
    return !said.empty();
  }));
  const std::string large(100'000, 'y');
  a.on();
  EXPECT_TRUE(a.bus->publish("x", large));
  EXPECT_TRUE(turn_until([&] { return said.back() == "x=" + large; }));
  expect_refused(trusting("elsewhere.example"), "certificate");
  expect_refused(options_for({&server}), "TLS");
  std::filesystem::remove_all(name);
}

// ---- false servers -----------------------------------------------------------------------------

// Accepts one connection after the other, and sends the same bytes to each.
class HostileServer {
 public:
  explicit HostileServer(std::string text, bool repeats = false)
      : text_(std::move(text)), repeats_(repeats) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
    port = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ~HostileServer() {
    stop_ = true;
    thread_.join();
    ::close(listener_);
  }
  std::uint16_t port = 0;
  std::atomic<int> connections = 0;

 private:
  void run() {
    while (!stop_) {
      pollfd waits{listener_, POLLIN, 0};
      if (::poll(&waits, 1, 10) <= 0) continue;
      const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) continue;
      ++connections;
      talk(client);
      ::close(client);
    }
  }
  void talk(int client) {
    std::string left = text_;
    while (!stop_) {
      char buffer[4096];
      pollfd waits{client, static_cast<short>(POLLIN | (left.empty() ? 0 : POLLOUT)), 0};
      if (::poll(&waits, 1, 10) < 0) return;
      if ((waits.revents & POLLIN) != 0 && ::recv(client, buffer, sizeof buffer, 0) <= 0) return;
      if ((waits.revents & POLLOUT) == 0) continue;
      const auto sent = ::send(client, left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0) return;
      left.erase(0, static_cast<std::size_t>(sent));
      if (left.empty() && repeats_) left = text_.substr(text_.find("MSG"));
    }
  }
  const std::string text_;
  const bool repeats_;
  int listener_ = -1;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

constexpr Bytes info =
    "INFO {\"server_id\":\"x\",\"version\":\"2.9\",\"max_payload\":1048576,"
    "\"headers\":true}\r\n";

TEST_F(NatsAccessTest, a_server_that_lies_or_stalls_is_left_with_a_reason) {
  struct Case {
    std::string says;
    Bytes reason;
  };
  const std::string greeting(info);
  const Case cases[] = {
      {"HTTP/1.1 400 Bad Request\r\n\r\n", "no NATS server"},
      {"INFO not json\r\n", "INFO"},
      {"INFO []\r\n", "INFO"},
      {"INFO " + std::string(100'000, 'x'), "longer"},
      {"", "deadline exceeded"},        // says nothing
      {greeting, "deadline exceeded"},  // and never answers PING
      {greeting + "MSG x 2 5\r\nhello\r\n", "before its greeting"},
      {greeting + "-ERR 'Authorization Violation'\r\n", "Authorization"},
      {greeting + "PONG\r\nMSG x 2 99999999999\r\n", "larger"},
      {greeting + "PONG\r\nMSG x 2 2\r\nhello\r\n", "line end"},
      {greeting + "PONG\r\nHMSG x 2 50 5\r\n", "size"},
      {greeting + "PONG\r\n-ERR 'Stale Connection'\r\n", "Stale"},
      {"INFO {\"tls_required\":true}\r\n", "TLS"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.says.substr(0, 80));
    HostileServer server(each.says);
    NatsOptions options;
    options.servers = {{.host = "127.0.0.1", .port = server.port}};
    const bool is_silent = each.reason == "deadline exceeded";
    options.connect_timeout = is_silent ? milliseconds(100) : seconds(60);
    expect_refused(std::move(options), each.reason);
    nodes_.clear();
  }
}

// Messages without a subscription, and more messages than can be delivered, are bounded and told.
TEST_F(NatsAccessTest, a_server_that_floods_fills_no_memory) {
  std::string flood(info);
  flood += "PONG\r\n";
  for (int count = 0; count < 200; ++count) {
    flood += "MSG a.b 2 100\r\n" + std::string(100, 'x') + "\r\n";
    flood += "MSG unknown 77 10\r\n0123456789\r\n";
    flood += "HMSG a.b 2 16 16\r\nNATS/1.0 503\r\n\r\n\r\n";
  }
  HostileServer server(flood, true);
  NatsOptions options;
  options.servers = {{.host = "127.0.0.1", .port = server.port}};
  options.bus.queue_messages_max = 50;
  Node& node = add(std::move(options), 2);
  std::uint64_t received = 0, told = 0;
  node.on(1);
  SubscribeOptions how;
  how.on_notice = [&](const Notice& notice) { told += notice.count; };
  auto subscription =
      node.bus->subscribe("a.b", [&](const Delivery&) { ++received; }, std::move(how));
  // The second reactor does not turn meanwhile.
  const Instant end = node.reactors[0]->now() + seconds(100);
  while (node.bus->statistics().dropped <= 1000 && node.reactors[0]->now() < end) {
    node.reactors[0]->turn(milliseconds(1));
  }
  EXPECT_LE(node.bus->statistics().waiting, 51u);
  EXPECT_GT(node.bus->statistics().dropped, 1000u);
  const std::uint64_t dropped = node.bus->statistics().dropped;
  node.reactors[1]->turn({});
  node.reactors[1]->turn({});
  EXPECT_GE(told, dropped);
}

}  // namespace
}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
