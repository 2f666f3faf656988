#include "katana/http/server/engines.hpp"

#include <gtest/gtest.h>

#include <string>
#include "katana/net/reactor/reactor.hpp"

namespace katana::server {
namespace {

// False if it is forbidden or the kernel is too old, as choose_engine() reports.
bool runs_here(EngineKind kind) { return choose_engine(engine_name(kind)).has_value(); }

TEST(Engines, every_engine_is_found_by_its_name) {
  for (const EngineKind kind : engines()) {
    EXPECT_NE(engine_names().find(engine_name(kind)), std::string::npos);
    EXPECT_NE(list_engines().find(std::string(engine_name(kind)) +
                                  (runs_here(kind) ? " available\n" : " unavailable: ")),
              std::string::npos)
        << list_engines();
    if (!runs_here(kind)) continue;
    const auto found = parse_engine(engine_name(kind));
    ASSERT_TRUE(found) << engine_name(kind);
    EXPECT_EQ(*found, kind);
  }
}

TEST(Engines, auto_is_io_uring_and_where_that_does_not_run_epoll_edge_with_the_reason) {
  const auto uring = choose_engine("io_uring");
  const auto automatic = choose_engine("auto");
  ASSERT_TRUE(automatic);
  EXPECT_EQ(parse_engine("auto"), automatic->kind);
  if (uring) {
    EXPECT_EQ(automatic->kind, EngineKind::io_uring);
    EXPECT_EQ(automatic->note, uring->note);
  } else {
    EXPECT_EQ(automatic->kind, EngineKind::epoll_edge);
    EXPECT_NE(automatic->note.find(uring.error().describe()), std::string::npos);
  }
}

TEST(Engines, a_name_says_nothing_more_where_it_has_what_it_wants) {
  EXPECT_EQ(choose_engine("epoll-edge")->note, "");
  EXPECT_EQ(choose_engine("epoll-level")->note, "");
}

TEST(Engines, an_unknown_name_is_an_error_that_repeats_it_and_names_those_there_are) {
  for (const char* const name : {"", "epoll", "Epoll-Edge", "kqueue", "epoll-edge "}) {
    const auto unknown = parse_engine(name);
    ASSERT_FALSE(unknown) << name;
    EXPECT_EQ(unknown.error().code(), Code::invalid_argument);
    const std::string message = unknown.error().describe();
    EXPECT_NE(message.find("'" + std::string(name) + "'"), std::string::npos) << message;
    for (const EngineKind kind : engines()) {
      EXPECT_NE(message.find(engine_name(kind)), std::string::npos) << message;
    }
  }
}

TEST(Engines, a_reactor_of_every_kind_starts_turns_and_stops) {
  for (const EngineKind kind : engines()) {
    if (!runs_here(kind)) continue;
    net::ReactorOptions options;
    options.engine.links_max = 8;
    const auto reactor = make_reactor(kind, options, 64);
    ASSERT_TRUE(reactor->start()) << engine_name(kind);
    reactor->turn(Duration{});
    EXPECT_GT(reactor->now(), Instant{});
    EXPECT_GT(reactor->wall_clock_s(), 1'700'000'000);
    EXPECT_FALSE(reactor->stopped());
    reactor->request_stop();
    reactor->run();
    EXPECT_TRUE(reactor->stopped());
  }
}

// No descriptor of the engine was there to wake it.
TEST(Engines, a_message_and_a_stop_from_before_the_start_are_not_waited_for) {
  struct Note : Message {
    explicit Note(net::Reactor& to)
        : Message([](Message& message) noexcept {
            auto& self = static_cast<Note&>(message);
            self.reactor.request_stop();
          }),
          reactor(to) {}
    net::Reactor& reactor;
  };
  for (const EngineKind kind : engines()) {
    if (!runs_here(kind)) continue;
    net::ReactorOptions options;
    options.engine.links_max = 8;
    const auto posted = make_reactor(kind, options, 64);
    Note note(*posted);
    posted->post(note);
    ASSERT_TRUE(posted->start()) << engine_name(kind);
    posted->run();
    EXPECT_TRUE(posted->stopped());

    const auto stopped = make_reactor(kind, options, 64);
    stopped->request_stop();
    ASSERT_TRUE(stopped->start()) << engine_name(kind);
    stopped->run();
    EXPECT_TRUE(stopped->stopped());
  }
}

}  // namespace
}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
