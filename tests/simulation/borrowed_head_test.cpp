// Memory that a handler's call borrows is not valid after the call: data of two connections never
// meets in a reply or in a record.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "katana/http/session/exchange.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "tests/simulation/http2_client.hpp"
#include "tests/simulation/requests.hpp"
#include "tests/simulation/scripted_client.hpp"
#include "tests/simulation/world.hpp"

namespace katana::simulation {
namespace {

// Every record as "method target peer", with a client that is known by its port.
class Records final : public session::ExchangeObserver {
 public:
  void on_exchange_end(session::Exchange&,
                       const session::ExchangeRecord& record) noexcept override {
    lines.push_back(std::string(record.method) + " " + std::string(record.target));
  }
  std::vector<std::string> lines;
};

Reply stream_of(std::string text, bool with_length) {
  const auto length = static_cast<std::int64_t>(text.size());
  return Reply::stream("text/plain", with_length ? length : http::unknown_length,
                       [text = std::move(text)](ContentSink& sink) { return sink.write(text); });
}

class BorrowedHead : public testing::Test {
 protected:
  BorrowedHead() {
    options.more_routes = [this](Router& router) { add_routes(router); };
  }

  void add_routes(Router& router) {
    for (const bool with_length : {false, true}) {
      router.get(with_length ? "/later/stream/length" : "/later/stream/chunked",
                 [with_length]() -> Task<Reply> {
                   co_await net::sleep_for(milliseconds(20));
                   co_return stream_of("mine", with_length);
                 });
    }
    router.get("/later/large", [this]() -> Task<Reply> {
      co_await Trial::Gate(world->trial());
      co_return Reply::text(Text(std::string(60'000, 'x')));
    });
    Group crowded = router.group("/crowded");
    crowded.use({.before = [this](const RequestView&) -> std::optional<Reply> {
      world->trial().open_gate();
      return std::nullopt;
    }});
    crowded.post("/{name}", [](const RequestView& request, Path<std::string> name) {
      return Reply::text(format_text("{} {} {}", *name, request.field("x-mine").value_or("none"),
                                     request.content()));
    });
  }

  void expect_stream_beside_head(const std::string& path) {
    world = std::make_unique<World>(options);
    ScriptedClient mine(*world), other(*world);
    mine.send(get(path, "mine"));
    world->run_for(milliseconds(10));
    other.send(as_head(get("/text/5", "")));
    EXPECT_TRUE(other.wait_for(1));
    EXPECT_TRUE(mine.wait_for(1)) << mine.reader().error();
    EXPECT_EQ(mine.status(), 200u);
    EXPECT_EQ(mine.content(), "mine");
    mine.peer().close();
    other.peer().close();
    expect_rest(*world);
  }

  Records records;
  WorldOptions options;
  std::unique_ptr<World> world;
};

TEST_F(BorrowedHead, a_stream_that_begins_late_ignores_the_HEAD_of_another_connection) {
  expect_stream_beside_head("/later/stream/chunked");
  expect_stream_beside_head("/later/stream/length");
}

TEST_F(BorrowedHead, a_stream_that_begins_late_ignores_the_HEAD_with_an_observer_too) {
  options.http.observer = &records;
  expect_stream_beside_head("/later/stream/chunked");
  EXPECT_EQ(records.lines, (std::vector<std::string>{"HEAD /text/5", "GET /later/stream/chunked"}));
}

TEST_F(BorrowedHead, a_reply_of_http2_that_waits_for_its_window_is_recorded_as_its_own_request) {
  options.http.observer = &records;
  world = std::make_unique<World>(options);
  Http2ClientOptions closed;
  closed.stream_window = 100;
  closed.opens_windows = false;
  Http2Client mine(*world, closed);
  ScriptedClient other(*world);
  const std::uint32_t first = mine.get("/text/3000?mine=1");
  const std::uint32_t second = mine.get("/text/4000?mine=2");
  world->run_for(milliseconds(50));
  other.send(get("/text/7?theirs", trial_text(7)));
  EXPECT_TRUE(other.wait_for(1));
  mine.open_window_of(first, 10'000);
  mine.open_window_of(second, 10'000);
  EXPECT_TRUE(mine.wait_for_all());
  EXPECT_EQ(mine.reply(first).content, trial_text(3000));
  EXPECT_EQ(records.lines, (std::vector<std::string>{"GET /text/7?theirs", "GET /text/3000?mine=1",
                                                     "GET /text/4000?mine=2"}));
  mine.peer().close();
  other.peer().close();
  expect_rest(*world);
}

// Its content is here, and is not looked at before others had their turn: a middleware woke who
// took the output that was left.
TEST_F(BorrowedHead, content_that_is_here_and_has_to_wait_is_collected_for_its_own_request) {
  options.reactor.output_blocks_max = 64;
  options.reactor.output_blocks_reserve = 16;
  world = std::make_unique<World>(options);
  std::vector<std::unique_ptr<ScriptedClient>> large;
  for (int count = 0; count < 60; ++count) {
    large.push_back(std::make_unique<ScriptedClient>(*world));
    large.back()->send(get("/later/large", ""));
  }
  ScriptedClient mine(*world), other(*world);
  world->run_for(milliseconds(50));
  Planned both = post("/crowded/mine", "my content", "", "X-Mine: my-field\r\n");
  both.head = head_of("GET", "/text/5") + both.head;  // in one segment: the outbox is not empty
  mine.expect_reply();
  mine.send(both);
  other.send(get("/text/9", trial_text(9)));
  EXPECT_TRUE(mine.wait_for(2));
  EXPECT_TRUE(other.wait_for(1));
  EXPECT_EQ(mine.content(), "mine my-field my content");
  EXPECT_EQ(other.content(), trial_text(9));
  EXPECT_GE(world->reactor().counters().pool_pauses, 1u) << "it did not have to wait";
  for (const auto& each : large) each->peer().close();
  mine.peer().close();
  other.peer().close();
  expect_rest(*world);
}

}  // namespace
}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
