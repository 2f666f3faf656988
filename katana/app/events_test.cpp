// Server-sent events across threads: readers on several reactors, publishers on their own
// threads, and a server that ends while they publish.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "katana/http/events/events.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/server/client_test.hpp"
#include "katana/http/server/http_server.hpp"

namespace katana::app {
namespace {

constexpr int readers = 6;
constexpr int publishers = 3;
constexpr std::uint64_t events_of_each = 200;

// The numbers of the ids in a stream, in the order in which they came.
std::vector<std::uint64_t> numbers_in(const std::string& stream) {
  constexpr std::string_view id = "id: a-";
  std::vector<std::uint64_t> numbers;
  for (std::size_t at = 0; (at = stream.find(id, at)) != std::string::npos; at += id.size()) {
    numbers.push_back(std::stoull(stream.substr(at + id.size(), 20)));
  }
  return numbers;
}

struct EventsOnThreads : testing::Test {
  EventsOnThreads() {
    EventTopicOptions of_topic;
    of_topic.epoch = 0xa;
    of_topic.events_kept_max = publishers * events_of_each + 1;
    topic = std::make_unique<EventTopic>(of_topic);
    Router router;
    router.get("/events", [this](const RequestView& request) { return topic->subscribe(request); });
    service.emplace(*std::move(router).build());
    options.port = 0;
    options.reactors = 3;
    options.drain_timeout = seconds(20);
    options.reactor.engine.links_max = 64;
  }

  void publish_all() {
    std::vector<std::thread> threads;
    for (int number = 0; number < publishers; ++number) {
      threads.emplace_back([this] {
        for (std::uint64_t count = 0; count < events_of_each; ++count) {
          EXPECT_TRUE(topic->publish({.data = "news", .name = {}}));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  std::unique_ptr<EventTopic> topic;
  std::optional<Service> service;
  server::HttpServerOptions options;
};

TEST_F(EventsOnThreads, every_reader_is_told_all_once_and_in_order_and_then_its_stream_ends) {
  server::HttpServer server(options, *service);
  ASSERT_TRUE(server.start());
  std::thread clients([&] {
    std::vector<std::thread> threads;
    for (int number = 0; number < readers; ++number) {
      threads.emplace_back([&] {
        server::Client client(server.port());
        client.send_get("/events");
        const std::vector<std::uint64_t> numbers =
            numbers_in(client.receive_until("\r\n0\r\n\r\n"));
        ASSERT_EQ(numbers.size(), publishers * events_of_each);
        for (std::uint64_t place = 0; place < numbers.size(); ++place) {
          ASSERT_EQ(numbers[place], place + 1);
        }
      });
    }
    while (topic->statistics().subscribers < readers) std::this_thread::yield();
    publish_all();
    server::terminate();
    for (std::thread& thread : threads) thread.join();
  });
  const server::ServerReport report = server.run();
  clients.join();
  EXPECT_EQ(report.cut_off, 0u);
  EXPECT_EQ(topic->statistics().delivered, readers * publishers * events_of_each);
  EXPECT_EQ(topic->statistics().lost, 0u);
  EXPECT_EQ(topic->statistics().subscribers, 0u);
}

// A reactor that ends waits for events on their way to it; afterwards none is sent to it.
TEST_F(EventsOnThreads, reactors_may_end_while_others_publish) {
  {
    server::HttpServer server(options, *service);
    ASSERT_TRUE(server.start());
    std::atomic<bool> over = false;
    std::thread publisher([&] {
      while (!over) EXPECT_TRUE(topic->publish({.data = "news", .name = {}}));
    });
    std::thread clients([&] {
      server::Client staying(server.port());
      staying.send_get("/events");
      {
        server::Client leaving(server.port());
        leaving.send_get("/events");
        while (topic->statistics().subscribers < 2) std::this_thread::yield();
      }
      server::terminate();
      EXPECT_TRUE(staying.receive_until("\r\n0\r\n\r\n").starts_with("HTTP/1.1 200 "));
    });
    EXPECT_EQ(server.run().cut_off, 0u);
    clients.join();
    over = true;
    publisher.join();
  }
  EXPECT_TRUE(topic->publish({.data = "to nobody", .name = {}}));
  EXPECT_EQ(topic->statistics().subscribers, 0u);
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
