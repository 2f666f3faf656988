// The chat server on real sockets and threads.
#include "apps/chat/host/chat_server.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "katana/http/server/client_test.hpp"
#include "katana/http/server/engines.hpp"

namespace katana::chat {
namespace {

class Talker {
 public:
  explicit Talker(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    EXPECT_TRUE(server::connect_here(fd_, port));
  }
  ~Talker() { ::close(fd_); }
  Talker(const Talker&) = delete;
  Talker& operator=(const Talker&) = delete;

  void say(const std::string& lines) {
    EXPECT_EQ(::send(fd_, lines.data(), lines.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(lines.size()));
  }
  // Reads until so many lines have come in all, or the server ends.
  const std::string& hear(std::int64_t lines) {
    char input[16 * 1024];
    while (std::ranges::count(heard_, '\n') < lines) {
      const ssize_t count = ::recv(fd_, input, sizeof input, 0);
      if (count <= 0) break;
      heard_.append(input, static_cast<std::size_t>(count));
    }
    return heard_;
  }
  // It is in once it is answered.
  void enter() {
    say("/who\n");
    (void)hear(1);
    heard_.clear();
  }

 private:
  int fd_;
  std::string heard_;
};

template <class Clients>
ChatReport serve(ChatServerOptions options, Clients clients) {
  options.port = 0;
  options.connections_max = 200;
  auto server = ChatServer::make(options);
  EXPECT_TRUE(server);
  const auto started = (*server)->start();
  EXPECT_TRUE(started) << (started ? "" : started.error().describe());
  std::thread thread([&] { clients(**server); });
  const ChatReport report = (*server)->run();
  thread.join();
  return report;
}

std::vector<server::EngineKind> engines_here() {
  std::vector<server::EngineKind> kinds;
  for (const server::EngineKind kind : server::engines()) {
    if (server::choose_engine(server::engine_name(kind))) kinds.push_back(kind);
  }
  return kinds;
}

TEST(ChatServerTest, on_every_engine_and_several_reactors_all_hear_all_and_the_farewell) {
  constexpr int people = 24;
  constexpr int messages = 50;
  for (const server::EngineKind kind : engines_here()) {
    ChatServerOptions options;
    options.engine = kind;
    options.reactors = 3;
    const ChatReport report = serve(options, [](ChatServer& server) {
      std::vector<std::unique_ptr<Talker>> all;
      for (int count = 0; count < people; ++count) {
        all.push_back(std::make_unique<Talker>(server.port()));
        all.back()->enter();
      }
      std::vector<std::thread> threads;
      for (const auto& client : all) {
        threads.emplace_back([&client] {
          for (int count = 0; count < messages; ++count) {
            client->say("message " + std::to_string(count) + "\n");
          }
          constexpr int due = (people - 1) * messages;
          EXPECT_EQ(std::ranges::count(client->hear(due), '\n'), due);
        });
      }
      for (std::thread& each : threads) each.join();
      server::terminate();
      for (const auto& client : all) {
        const std::string& heard = client->hear(INT64_MAX);
        EXPECT_TRUE(heard.ends_with("* The server is stopping. Goodbye.\n"));
        EXPECT_EQ(std::ranges::count(heard, '['), (people - 1) * messages);
      }
    });
    EXPECT_EQ(report.connections, static_cast<std::uint64_t>(people));
    EXPECT_EQ(report.messages, static_cast<std::uint64_t>(people * messages));
    EXPECT_EQ(report.delivered, static_cast<std::uint64_t>(people * (people - 1) * messages));
    EXPECT_EQ(report.dropped, 0U);
    EXPECT_EQ(report.cut_off, 0U);
  }
}

TEST(ChatServerTest, answers_scrapes_beside_the_chat) {
  ChatServerOptions options;
  options.metrics_port = 0;
  options.reactors = 2;
  serve(options, [](ChatServer& server) {
    Talker first(server.port());
    first.enter();  // enters before the other, whichever reactor is quicker
    Talker second(server.port());
    second.enter();
    first.say("hello\n");
    EXPECT_EQ(second.hear(1), "[USER1] hello\n");
    Talker scraper(server.metrics_port());
    scraper.say("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    const std::string& text = scraper.hear(INT64_MAX);
    EXPECT_NE(text.find("katana_chat_connections 2"), std::string::npos);
    EXPECT_NE(text.find("katana_chat_dropped_total{reactor=\"1\",reason=\"slow_reader\"} 0"),
              std::string::npos);
    EXPECT_NE(text.find("katana_reactor_turns_total{reactor=\"0\"}"), std::string::npos);
    server::terminate();
  });
}

TEST(ChatServerTest, every_mistake_in_the_options_fails_by_its_name) {
  ChatServerOptions options;
  options.reactors = 0;
  options.rooms_max = 0;
  options.chat.hub.queue_bytes_max = 1024;
  const auto made = ChatServer::make(options);
  ASSERT_FALSE(made);
  const std::string text = made.error().describe();
  for (const char* const each :
       {"reactors is 0: give 1 to 1024", "rooms_max is 0",
        "chat.hub.queue_bytes_max is 1024: give 65536 or more", "chat.hub.window_bytes is 262144",
        "chat.hub.turn_bytes_max is 262144"}) {
    EXPECT_NE(text.find(each), std::string::npos) << each << "\n" << text;
  }
}

TEST(ChatServerTest, a_port_that_is_taken_is_an_error_that_names_it) {
  ChatServerOptions options;
  serve(options, [](ChatServer& server) {
    ChatServerOptions other;
    other.port = server.port();
    auto second = ChatServer::make(other);
    ASSERT_TRUE(second);
    const auto started = (*second)->start();
    ASSERT_FALSE(started);
    EXPECT_NE(started.error().describe().find(std::to_string(server.port())), std::string::npos);
    server::terminate();
  });
}

}  // namespace
}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
