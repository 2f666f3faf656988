// Server-sent events on the whole stack, in virtual time.
#include "katana/http/events/events.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "katana/http/events/event_log.hpp"
#include "katana/net/reactor/reactor_options.hpp"
#include "tests/simulation/http2_client.hpp"
#include "tests/simulation/requests.hpp"
#include "tests/simulation/scripted_client.hpp"
#include "tests/simulation/world.hpp"

namespace katana::simulation {
namespace {

EventTopicOptions small_topic() {
  EventTopicOptions options;
  options.epoch = 0xa;
  options.retry = {};
  return options;
}

// A world whose /events are those of a topic, which outlives it.
struct Scene {
  explicit Scene(const EventTopicOptions& of_topic = small_topic(), WorldOptions of_world = {})
      : topic(of_topic), world(with_route(std::move(of_world))) {}

  WorldOptions with_route(WorldOptions options) {
    options.more_routes = [this](Router& router) {
      router.get("/events",
                 [this](const RequestView& request) { return topic.subscribe(request); });
    };
    return options;
  }
  void publish(Bytes data, Bytes name = {}) {
    ASSERT_TRUE(topic.publish({.data = data, .name = name}));
  }
  void run_for_a_while() { world.run_for(milliseconds(50)); }

  EventTopic topic;
  World world;
};

// One reader of /events.
struct Reader : ScriptedClient {
  explicit Reader(Scene& scene, Bytes fields = {}, std::size_t window = 64 * 1024)
      : ScriptedClient(scene.world, Site::trial, window) {
    expect_reply();
    send_bytes(head_of("GET", "/events", fields));
    scene.run_for_a_while();
  }
  // The events since the opening comment.
  std::string told() const {
    const std::string all = replies().empty() ? reader().partial().content : content();
    return all.starts_with(":\n\n") ? all.substr(3) : all;
  }
};

TEST(EventTopic, a_reader_is_told_what_is_published_from_then_on_in_order_and_with_ids) {
  Scene scene;
  scene.publish("before");
  Reader reader(scene);
  scene.publish("one");
  scene.publish("{\"n\":2}", "figures");
  scene.run_for_a_while();
  EXPECT_EQ(reader.told(),
            "id: a-2\ndata: one\n\n"
            "id: a-3\nevent: figures\ndata: {\"n\":2}\n\n");
  const std::string& head = reader.reader().partial().head;
  EXPECT_NE(head.find("Content-Type: text/event-stream\r\n"), std::string::npos) << head;
  EXPECT_NE(head.find("Cache-Control: no-store\r\n"), std::string::npos) << head;
  EXPECT_EQ(scene.topic.statistics().delivered, 2u);
}

TEST(EventTopic, every_reader_is_told_the_same) {
  Scene scene;
  Reader first(scene), second(scene), third(scene);
  EXPECT_EQ(scene.topic.statistics().subscribers, 3u);
  scene.publish("news");
  scene.run_for_a_while();
  for (const Reader* each : {&first, &second, &third}) {
    EXPECT_EQ(each->told(), "id: a-1\ndata: news\n\n");
  }
}

TEST(EventTopic, lines_of_the_data_become_lines_of_the_event_however_they_end) {
  std::string text;
  append_event(text, "7", {.data = "a\nb\r\nc\rd\n", .name = {}});
  EXPECT_EQ(text, "id: 7\ndata: a\ndata: b\ndata: c\ndata: d\ndata: \n\n");
  text.clear();
  append_event(text, {}, {.data = "", .name = "empty"});
  EXPECT_EQ(text, "event: empty\ndata: \n\n");
}

TEST(EventTopic, the_time_to_wait_before_coming_again_is_said_first) {
  EventTopicOptions options = small_topic();
  options.retry = milliseconds(1500);
  Scene scene(options);
  Reader reader(scene);
  EXPECT_EQ(reader.told(), "retry: 1500\n\n");
}

TEST(EventTopic, a_silent_stream_has_a_heartbeat_and_no_handler_timeout_ends_it) {
  EventTopicOptions options = small_topic();
  options.heartbeat = seconds(15);
  WorldOptions world;
  world.http.handler_timeout = seconds(4);
  Scene scene(options, world);
  Reader reader(scene);
  scene.world.run_for(seconds(14));
  EXPECT_EQ(reader.told(), "");
  scene.world.run_for(seconds(2));
  EXPECT_EQ(reader.told(), ":\n\n");
  scene.publish("x");  // puts the next one off
  scene.world.run_for(seconds(14));
  EXPECT_EQ(reader.told(), ":\n\nid: a-1\ndata: x\n\n");
  scene.world.run_for(seconds(60));
  EXPECT_EQ(reader.told(), ":\n\nid: a-1\ndata: x\n\n:\n\n:\n\n:\n\n:\n\n");
  EXPECT_EQ(scene.world.http_counters().handler_timeouts, 0u);
}

TEST(EventTopic, a_reader_that_comes_again_is_told_what_it_missed) {
  Scene scene;
  for (const char* each : {"1", "2", "3", "4"}) scene.publish(each);
  Reader reader(scene, "Last-Event-ID: a-2\r\n");
  EXPECT_EQ(reader.told(), "id: a-3\ndata: 3\n\nid: a-4\ndata: 4\n\n");
}

TEST(EventTopic, an_id_of_another_life_of_the_program_brings_all_that_is_kept) {
  Scene scene;
  for (const char* each : {"1", "2"}) scene.publish(each);
  for (const char* id : {"b-2", "a-9", "a-", "a-x", "nonsense"}) {
    Reader reader(scene, fmt::format("Last-Event-ID: {}\r\n", id));
    EXPECT_EQ(reader.told(), "id: a-1\ndata: 1\n\nid: a-2\ndata: 2\n\n") << id;
  }
}

TEST(EventTopic, a_reader_that_was_away_for_too_long_is_told_how_much_it_lost) {
  EventTopicOptions options = small_topic();
  options.events_kept_max = 3;
  Scene scene(options);
  for (int number = 1; number <= 10; ++number) scene.publish(std::to_string(number));
  Reader reader(scene, "Last-Event-ID: a-2\r\n");
  EXPECT_EQ(reader.told(),
            "event: lost\ndata: 5\n\n"
            "id: a-8\ndata: 8\n\nid: a-9\ndata: 9\n\nid: a-10\ndata: 10\n\n");
  EXPECT_EQ(scene.topic.statistics().lost, 5u);
  EXPECT_EQ(scene.topic.statistics().events_kept, 3u);
}

TEST(EventTopic, a_new_reader_is_told_the_latest_when_that_is_wanted) {
  EventTopicOptions options = small_topic();
  options.recent_for_new = 1;
  Scene scene(options);
  Reader early(scene);
  scene.publish("1");
  scene.publish("2");
  Reader late(scene);
  EXPECT_EQ(late.told(), "id: a-2\ndata: 2\n\n");
  EXPECT_EQ(early.told(), "id: a-1\ndata: 1\n\nid: a-2\ndata: 2\n\n");
}

// ---- readers that are slow -------------------------------------------------------------------

constexpr std::size_t piece_bytes = 4'000;

TEST(EventTopic, a_slow_reader_loses_the_oldest_and_costs_bounded_memory) {
  EventTopicOptions options = small_topic();
  options.events_kept_max = 8;
  Scene scene(options);
  Reader slow(scene, {}, 1'000), fast(scene);
  slow.peer().stop_reading();
  constexpr std::uint64_t count = 400;
  for (std::uint64_t number = 0; number < count; ++number) {
    scene.publish(std::string(piece_bytes, 'x'));
    scene.world.run_for(milliseconds(5));
  }
  EXPECT_EQ(scene.topic.statistics().lost, 0u);  // it is told when it reads again
  const net::ReactorOptions& reactor = scene.world.reactor().options();
  EXPECT_LE(scene.world.memory_peak().output, 3 * reactor.outbox_high_bytes);
  slow.peer().start_reading();
  scene.world.run_for(seconds(5));
  const EventTopicStatistics statistics = scene.topic.statistics();
  EXPECT_GT(statistics.lost, 300u);
  EXPECT_EQ(statistics.delivered + statistics.lost, 2 * count);
  EXPECT_NE(slow.told().find(fmt::format("event: lost\ndata: {}\n\n", statistics.lost)),
            std::string::npos);
  std::size_t octets_told = 0;
  for (std::uint64_t number = 1; number <= count; ++number) {
    octets_told += fmt::format("id: a-{}\ndata: \n\n", number).size() + piece_bytes;
  }
  EXPECT_EQ(fast.told().size(), octets_told);
}

TEST(EventTopic, a_slow_reader_is_disconnected_where_that_is_the_policy) {
  EventTopicOptions options = small_topic();
  options.events_kept_max = 8;
  options.slow_reader = SlowReader::disconnect;
  Scene scene(options);
  Reader slow(scene, {}, 1'000);
  slow.peer().stop_reading();
  for (int number = 0; number < 100; ++number) {
    scene.publish(std::string(piece_bytes, 'x'));
    scene.world.run_for(milliseconds(5));
  }
  slow.peer().start_reading();
  ASSERT_TRUE(slow.wait_for(1, seconds(10)));  // the stream has ended in order
  EXPECT_EQ(slow.told().find("lost"), std::string::npos);
  EXPECT_EQ(scene.topic.statistics().disconnected, 1u);
  EXPECT_EQ(scene.topic.statistics().subscribers, 0u);
}

// ---- the end ---------------------------------------------------------------------------------

TEST(EventTopic, a_reader_that_leaves_is_forgotten) {
  Scene scene;
  {
    Reader leaving(scene), staying(scene);
    leaving.peer().close();
    scene.world.run_for(seconds(3));
    EXPECT_EQ(scene.topic.statistics().subscribers, 1u);
    scene.publish("news");
    scene.run_for_a_while();
    EXPECT_EQ(staying.told(), "id: a-1\ndata: news\n\n");
    staying.peer().close();
  }
  expect_rest(scene.world);
  EXPECT_EQ(scene.topic.statistics().subscribers, 0u);
}

TEST(EventTopic, draining_sends_what_was_published_and_ends_the_stream_in_order) {
  Scene scene;
  Reader reader(scene);
  scene.publish("last words");
  scene.world.reactor().request_drain(seconds(10));
  ASSERT_TRUE(reader.wait_for_end(seconds(5)));
  ASSERT_EQ(reader.replies().size(), 1u) << reader.reader().error();
  EXPECT_EQ(reader.replies()[0].framing, Framing::chunked);
  EXPECT_EQ(reader.told(), "id: a-1\ndata: last words\n\n");
  EXPECT_EQ(scene.world.reactor().counters().cut_off, 0u);
  EXPECT_EQ(scene.topic.statistics().subscribers, 0u);
}

TEST(EventTopic, a_slow_reader_is_sent_the_rest_when_the_server_drains) {
  Scene scene;
  Reader reader(scene, {}, 1'000);
  reader.peer().stop_reading();
  constexpr std::size_t count = 40;
  for (std::size_t number = 0; number < count; ++number) scene.publish(std::string(4'000, 'x'));
  scene.run_for_a_while();
  scene.world.reactor().request_drain(seconds(30));
  scene.world.run_for(seconds(1));
  reader.peer().start_reading();
  ASSERT_TRUE(reader.wait_for_end(seconds(20)));
  ASSERT_EQ(reader.replies().size(), 1u);
  EXPECT_GT(reader.told().size(), count * 4'000);
  EXPECT_EQ(scene.topic.statistics().delivered, count);
}

TEST(EventTopic, HEAD_is_answered_and_subscribes_nobody) {
  Scene scene;
  ScriptedClient client(scene.world);
  client.send(as_head(get("/events", 200u)));
  EXPECT_TRUE(client.wait_for(1));
  EXPECT_EQ(client.status(), 200u);
  scene.run_for_a_while();
  EXPECT_EQ(scene.topic.statistics().subscribers, 0u);
}

TEST(EventTopic, over_http2_streams_stay_and_end_likewise) {
  WorldOptions of_world;
  of_world.http.handler_timeout = seconds(4);
  Scene scene(small_topic(), of_world);
  Http2Client client(scene.world);
  const std::uint32_t first = client.get("/events"), second = client.get("/events");
  scene.run_for_a_while();
  scene.publish("one");
  scene.world.run_for(seconds(20));
  EXPECT_EQ(client.over(), 0u);
  EXPECT_EQ(scene.topic.statistics().subscribers, 2u);
  scene.publish("two");
  scene.world.reactor().request_drain(seconds(10));
  scene.world.run_for(seconds(3));
  for (const std::uint32_t id : {first, second}) {
    EXPECT_TRUE(client.reply(id).ended);
    EXPECT_EQ(client.reply(id).content, ":\n\nid: a-1\ndata: one\n\n:\n\nid: a-2\ndata: two\n\n");
  }
  EXPECT_EQ(scene.topic.statistics().subscribers, 0u);
  EXPECT_EQ(scene.world.reactor().counters().cut_off, 0u);
}

// ---- limits ----------------------------------------------------------------------------------

TEST(EventTopic, one_reader_too_many_is_asked_to_come_later) {
  EventTopicOptions options = small_topic();
  options.subscribers_max = 1;
  Scene scene(options);
  Reader first(scene), second(scene);
  EXPECT_EQ(second.status(), 503u);
  EXPECT_NE(second.replies()[0].head.find("Retry-After: 5"), std::string::npos);
  EXPECT_EQ(scene.topic.statistics().refused, 1u);
  first.peer().close();
  scene.world.run_for(seconds(3));
  Reader third(scene);
  EXPECT_EQ(third.status(), 0u);
  EXPECT_EQ(scene.topic.statistics().subscribers, 1u);
}

TEST(EventTopic, an_event_that_cannot_be_told_is_refused) {
  EventTopicOptions options = small_topic();
  options.event_bytes_max = 10;
  EventTopic topic(options);
  EXPECT_TRUE(topic.publish({.data = "0123456789", .name = {}}));
  EXPECT_EQ(topic.publish({.data = "0123456789", .name = "n"}).error().code(), Code::out_of_range);
  for (const Bytes name : {Bytes("a\nb"), Bytes("a\rb"), Bytes("a\0b", 3)}) {
    EXPECT_EQ(topic.publish({.data = "", .name = name}).error().code(), Code::invalid_argument);
  }
  EXPECT_EQ(topic.statistics().published, 1u);
}

TEST(EventTopic, what_is_kept_is_bounded_by_octets_too) {
  EventTopicOptions options = small_topic();
  options.bytes_kept_max = 1'000;
  EventTopic topic(options);
  for (int number = 0; number < 10; ++number) {
    ASSERT_TRUE(topic.publish({.data = std::string(300, 'x'), .name = {}}));
  }
  EXPECT_EQ(topic.statistics().events_kept, 3u);
  ASSERT_TRUE(topic.publish({.data = std::string(3'000, 'x'), .name = {}}));
  EXPECT_EQ(topic.statistics().events_kept, 1u);
}

}  // namespace
}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
