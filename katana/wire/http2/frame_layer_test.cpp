// FrameLayer alone, with an owner that only writes down its calls.
#include "katana/wire/http2/frame_layer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <list>
#include <string>
#include <tuple>
#include <vector>

#include "katana/base/memory/block_pool.hpp"
#include "katana/wire/http2/peer_test.hpp"

namespace katana::http2 {
namespace {

using namespace std::string_literals;
using Strings = std::vector<std::string>;

struct TestStream : StreamFlow, ListHook<TestStream> {};

class Owner {
 public:
  explicit Owner(Role role, const Limits& limits = {})
      : role_(role), limits_(limits), frames(limits_, role, now) {
    const std::string settings = setting(Setting::enable_push, 0);
    EXPECT_TRUE(frames.start(settings, outbox));
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

  struct Step {
    enum class Event : std::uint8_t { none, over } event = Event::none;
    std::size_t consumed = 0;
  };

  Step on_block(std::uint32_t id, bool ends_stream, Bytes block, Instant, Outbox&) {
    told.push_back("block " + std::to_string(id) + " " + std::string(block) +
                   (ends_stream ? " end" : ""));
    return {};
  }
  Step begin_data(FrameHeader header, Instant, Outbox&) {
    told.push_back("data " + std::to_string(header.stream) + " " +
                   std::to_string(frames.data().left()));
    return {.event = refuses ? Step::Event::over : Step::Event::none};
  }
  Step end_data(Bytes piece, Instant, Outbox&) {
    content += piece;
    return {};
  }
  Step on_frame(FrameEvent event, FrameHeader header, Bytes payload, Instant, Outbox&) {
    static constexpr std::array<const char*, 11> names = {
        "none",   "block",         "priority",        "rst_stream", "settings", "ping_ack",
        "goaway", "window_update", "priority_update", "room",       "closed"};
    if (event == FrameEvent::settings) frames.apply_settings(payload, streams, outbox);
    if (event == FrameEvent::block) {
      const Text block = frames.take_block();
      return on_block(header.stream, frames.block_ends_stream(), block.bytes(), now, outbox);
    }
    if (event != FrameEvent::none) {
      told.emplace_back(names.at(static_cast<std::size_t>(event)));
    }
    return {};
  }

  void feed(Bytes input, std::size_t most = SIZE_MAX) {
    while (!input.empty()) {
      kept_ += input.substr(0, most);
      input.remove_prefix(std::min(most, input.size()));
      while (!frames.closed()) {
        const Step step = frames.next(*this, kept_, now, outbox);
        kept_.erase(0, step.consumed);
        if (step.consumed == 0 || kept_.empty()) break;
      }
    }
  }
  // The preface of the other side, with a setting or several.
  void open(Bytes settings = {}) {
    if (role_ == Role::server) feed(client_preface);
    feed(frame(FrameType::settings, 0, 0, settings) + frame(FrameType::settings, flag_ack, 0));
    (void)sent();
    told.clear();
  }
  Strings sent() {
    std::string text;
    outbox.for_each_pending([&](Bytes bytes, const Retained*) { text += bytes; });
    outbox.clear();
    if (text.starts_with(client_preface)) text.erase(0, client_preface.size());
    return describe_all(text);
  }
  TestStream& stream(std::uint32_t id) {
    frames.set_last_id(id);
    TestStream& made = kept_streams_.emplace_back();
    frames.open(made, id);
    streams.push_back(made);
    return made;
  }

 private:
  const Role role_;
  Limits limits_;
  BlockPool blocks_{4096, 256};
  std::list<TestStream> kept_streams_;
  std::string kept_;

 public:
  Outbox outbox{blocks_};
  Instant now = Instant{} + seconds(100);
  StreamList<TestStream> streams;
  FrameLayer frames;
  Strings told;
  std::string content;
  bool refuses = false;
};

// The failure that ends a connection whose other side begins with `input`.
Failure failure_of(Role role, Bytes input, std::uint32_t last_id = 0) {
  Owner owner(role);
  if (role == Role::server) owner.feed(client_preface);
  owner.feed(frame(FrameType::settings, 0, 0));
  owner.frames.set_last_id(last_id);
  owner.feed(input);
  return owner.frames.failure();
}

TEST(Http2FrameLayer, a_server_says_settings_and_a_client_its_preface_before_them) {
  const Strings settings = {"SETTINGS 0", "WINDOW_UPDATE 0 196609"};
  EXPECT_EQ(Owner(Role::server).sent(), settings);
  Owner client(Role::client);
  std::string text;
  client.outbox.for_each_pending([&](Bytes bytes, const Retained*) { text += bytes; });
  EXPECT_TRUE(text.starts_with(client_preface));
  EXPECT_EQ(client.sent(), settings);
}

TEST(Http2FrameLayer, what_the_owner_is_told_does_not_depend_on_how_the_bytes_are_cut) {
  const auto run = [](std::size_t most) {
    Owner owner(Role::server);
    owner.stream(7);
    std::string input(client_preface);
    input += frame(FrameType::settings, 0, 0, setting(Setting::initial_window_size, 70'000));
    input += frame(FrameType::headers, flag_end_headers | flag_end_stream, 9, "whole");
    input += frame(FrameType::headers, flag_end_stream, 11, "in ");
    input += frame(FrameType::continuation, 0, 11, "three");
    input += frame(FrameType::continuation, flag_end_headers, 11, " frames");
    input += frame(FrameType::data, flag_padded, 7, "\3abc\0\0\0"s);
    input += frame(FrameType::ping, 0, 0, "12345678");
    input += frame(FrameType::ping, flag_ack, 0, "12345678");
    input += frame(FrameType::data, 0, 7, "de");
    input += frame(FrameType::priority, 0, 7, "12345");
    input += frame(FrameType::rst_stream, 0, 7, number(8));
    input += frame(static_cast<FrameType>(0x77), 0, 9, "unknown");
    input += frame(FrameType::window_update, 0, 0, number(1));
    input += frame(FrameType::window_update, 0, 7, number(1));
    input += frame(FrameType::goaway, 0, 0, number(0) + number(0));
    input += frame(FrameType::rst_stream, 0, 99, number(8));
    owner.feed(input, most);
    return std::tuple(owner.told, owner.content, owner.sent(), owner.frames.failure());
  };
  const auto whole = run(SIZE_MAX);
  EXPECT_EQ(std::get<0>(whole),
            (Strings{"settings", "block 9 whole end", "block 11 in three frames end", "data 7 3",
                     "ping_ack", "data 7 2", "priority", "rst_stream", "room", "window_update",
                     "goaway", "closed"}));
  EXPECT_EQ(std::get<1>(whole), "abcde");
  EXPECT_EQ(std::get<2>(whole), (Strings{"SETTINGS 0", "WINDOW_UPDATE 0 196609", "SETTINGS 0 ack",
                                         "PING 0 ack", "GOAWAY 0 error 1"}));
  EXPECT_EQ(std::get<3>(whole), Failure::bad_stream);
  for (std::size_t most = 1; most < 40; ++most) EXPECT_EQ(run(most), whole) << most;
}

TEST(Http2FrameLayer, content_of_a_frame_that_the_owner_refused_is_still_read) {
  Owner owner(Role::server);
  owner.open();
  owner.frames.set_last_id(1);
  owner.refuses = true;
  owner.feed(frame(FrameType::data, 0, 1, "read past") + frame(FrameType::ping, 0, 0, "12345678"));
  EXPECT_EQ(owner.told, Strings{"data 1 9"});
  EXPECT_EQ(owner.content, "read past");
  EXPECT_EQ(owner.sent(), Strings{"PING 0 ack"});
}

TEST(Http2FrameLayer, the_roles_differ_in_who_begins_streams_and_in_what_may_be_sent) {
  const std::string head = frame(FrameType::headers, flag_end_headers, 1, "");
  EXPECT_EQ(failure_of(Role::server, head), Failure::none);
  EXPECT_EQ(failure_of(Role::client, head), Failure::bad_stream);
  EXPECT_EQ(failure_of(Role::client, head, 1), Failure::none);
  const std::string push = frame(FrameType::settings, 0, 0, setting(Setting::enable_push, 1));
  EXPECT_EQ(failure_of(Role::server, push), Failure::none);
  EXPECT_EQ(failure_of(Role::client, push), Failure::bad_settings);
  const std::string update = frame(FrameType::priority_update, 0, 0, number(1) + "u=1");
  EXPECT_EQ(failure_of(Role::server, update), Failure::none);
  EXPECT_EQ(failure_of(Role::client, update), Failure::bad_frame);
}

TEST(Http2FrameLayer, frames_about_the_connection_have_one_form) {
  for (const Role role : {Role::server, Role::client}) {
    const auto check = [&](FrameType type, std::uint32_t id, std::size_t bytes) {
      return failure_of(role, frame(type, 0, id, std::string(bytes, '\0')), 1);
    };
    EXPECT_EQ(check(FrameType::ping, 1, 8), Failure::bad_frame);
    EXPECT_EQ(check(FrameType::ping, 0, 7), Failure::bad_frame_size);
    EXPECT_EQ(check(FrameType::settings, 1, 0), Failure::bad_frame);
    EXPECT_EQ(check(FrameType::settings, 0, 7), Failure::bad_frame_size);
    EXPECT_EQ(check(FrameType::goaway, 1, 8), Failure::bad_frame);
    EXPECT_EQ(check(FrameType::goaway, 0, 7), Failure::bad_frame_size);
    EXPECT_EQ(check(FrameType::rst_stream, 1, 5), Failure::bad_frame_size);
    EXPECT_EQ(check(FrameType::rst_stream, 3, 4), Failure::bad_stream);
    EXPECT_EQ(check(FrameType::window_update, 1, 3), Failure::bad_frame_size);
    EXPECT_EQ(check(FrameType::window_update, 0, 4), Failure::bad_frame);
    EXPECT_EQ(check(FrameType::window_update, 3, 4), Failure::bad_stream);
    EXPECT_EQ(check(FrameType::data, 3, 1), Failure::bad_stream);
    EXPECT_EQ(check(FrameType::priority, 0, 5), Failure::bad_frame);
    EXPECT_EQ(check(FrameType::push_promise, 1, 5), Failure::bad_frame);
    EXPECT_EQ(check(FrameType::continuation, 1, 5), Failure::bad_frame);
    EXPECT_EQ(check(FrameType::ping, 0, frame_bytes_max + 1), Failure::bad_frame_size);
    const std::string open_block = frame(FrameType::headers, 0, 1, "x");
    EXPECT_EQ(failure_of(role, open_block + frame(FrameType::ping, 0, 0, "12345678"), 1),
              Failure::broken_block);
  }
}

TEST(Http2FrameLayer, whoever_does_not_begin_with_settings_is_told_so) {
  for (const Role role : {Role::server, Role::client}) {
    Owner owner(role);
    if (role == Role::server) owner.feed(client_preface);
    (void)owner.sent();
    owner.feed(frame(FrameType::settings, flag_ack, 0));
    EXPECT_EQ(owner.frames.failure(), Failure::bad_preface);
    EXPECT_EQ(owner.sent(), Strings{"GOAWAY 0 error 1"});
  }
}

TEST(Http2FrameLayer, time_for_settings_begins_with_the_preface_that_the_other_side_has) {
  Owner server(Role::server);
  EXPECT_EQ(server.frames.deadline(), server.now + Limits().head_timeout);  // for the preface
  server.now = server.now + seconds(5);
  server.feed(client_preface);
  server.feed(frame(FrameType::settings, 0, 0));
  EXPECT_EQ(server.frames.deadline(), server.now + Limits().settings_timeout);
  server.feed(frame(FrameType::settings, flag_ack, 0));
  EXPECT_EQ(server.frames.deadline(), never);

  Owner client(Role::client);
  EXPECT_EQ(client.frames.deadline(), client.now + Limits().settings_timeout);
  client.frames.on_deadline(client.now + Limits().settings_timeout, client.outbox);
  EXPECT_EQ(client.frames.failure(), Failure::settings_timeout);
  EXPECT_EQ(client.frames.deadline(), never);
}

TEST(Http2FrameLayer, a_frame_that_is_begun_has_its_time_until_it_is_complete) {
  Owner owner(Role::client);
  owner.open();
  EXPECT_EQ(owner.frames.deadline(), never);
  const std::string ping = frame(FrameType::ping, 0, 0, "12345678");
  owner.feed(ping.substr(0, 3));
  const Instant until = owner.now + Limits().head_timeout;
  EXPECT_EQ(owner.frames.deadline(), until);
  owner.now = owner.now + seconds(1);
  owner.feed(ping.substr(3, 10));
  EXPECT_EQ(owner.frames.deadline(), until);
  owner.feed(ping.substr(13));
  EXPECT_EQ(owner.frames.deadline(), never);
}

TEST(Http2FrameLayer, the_first_failure_stays_and_is_told_once) {
  Owner owner(Role::server);
  owner.open();
  owner.frames.set_last_id(5);
  owner.frames.fail(Failure::ping_flood, owner.outbox);
  owner.frames.fail(Failure::bad_frame, owner.outbox);
  owner.frames.reset(5, ErrorCode::cancel, owner.outbox);
  EXPECT_EQ(owner.frames.failure(), Failure::ping_flood);
  EXPECT_EQ(owner.sent(), Strings{"GOAWAY 0 error 11"});
}

TEST(Http2FrameLayer, no_room_to_answer_ends_the_connection_without_a_word) {
  Owner owner(Role::client);
  owner.open();
  fill(owner.outbox);
  const std::size_t pending = owner.outbox.pending();
  owner.feed(frame(FrameType::ping, 0, 0, "12345678"));
  EXPECT_EQ(owner.frames.failure(), Failure::no_room);
  EXPECT_EQ(owner.told, Strings{"closed"});
  EXPECT_EQ(owner.outbox.pending(), pending);
}

TEST(Http2FrameLayer, windows_open_again_at_half_and_content_stops_at_the_smaller_one) {
  Limits limits;
  limits.connection_window_bytes = limits.stream_window_bytes = default_window_bytes;
  Owner owner(Role::server, limits);
  owner.open(setting(Setting::initial_window_size, 10));
  TestStream& stream = owner.stream(1);
  owner.frames.consume(default_window_bytes / 2 - 1, owner.outbox);
  EXPECT_TRUE(owner.sent().empty());
  owner.frames.consume(1, owner.outbox);
  owner.frames.consume(stream, 40'000, owner.outbox);
  EXPECT_EQ(owner.sent(), (Strings{"WINDOW_UPDATE 0 32767", "WINDOW_UPDATE 1 40000"}));

  Bytes content = "twelve bytes";
  EXPECT_FALSE(owner.frames.put_data(stream, content, false, true, SIZE_MAX, owner.outbox).ends);
  EXPECT_EQ(content, Bytes("es"));
  EXPECT_EQ(FrameLayer::widen(stream, 2), ErrorCode::no_error);
  EXPECT_TRUE(owner.frames.put_data(stream, content, false, true, SIZE_MAX, owner.outbox).ends);
  EXPECT_EQ(owner.sent(), (Strings{"DATA 1 10", "DATA 1 2 end"}));
  EXPECT_EQ(FrameLayer::widen(stream, 0), ErrorCode::protocol_error);
  EXPECT_EQ(FrameLayer::widen(stream, stream_id_max), ErrorCode::no_error);
  EXPECT_EQ(FrameLayer::widen(stream, 1), ErrorCode::flow_control_error);
}

TEST(Http2FrameLayer, settings_widen_the_windows_of_all_streams_in_their_order) {
  Owner owner(Role::server);
  owner.open();
  TestStream& stream = owner.stream(1);
  const std::string most = setting(Setting::initial_window_size, stream_id_max);
  owner.feed(frame(FrameType::settings, 0, 0, setting(Setting::initial_window_size, 10) + most));
  EXPECT_EQ(stream.send_window, window_bytes_max);
  EXPECT_EQ(owner.frames.failure(), Failure::none);
  stream.send_window = window_bytes_max;
  owner.feed(frame(FrameType::settings, 0, 0, setting(Setting::initial_window_size, 0)));
  EXPECT_EQ(stream.send_window, 0);
  EXPECT_EQ(FrameLayer::widen(stream, 1), ErrorCode::no_error);
  owner.feed(frame(FrameType::settings, 0, 0,
                   most + setting(Setting::initial_window_size, 0)));  // too large in between
  EXPECT_EQ(owner.frames.failure(), Failure::flow_control);
}

TEST(Http2FrameLayer, frames_that_move_nothing_end_the_connection_each_under_its_name) {
  const auto run = [](const std::string& input) {
    Owner owner(Role::client);
    owner.open();
    owner.frames.set_last_id(1);
    for (int count = 0; count < 2'000 && !owner.frames.closed(); ++count) {
      owner.feed(input);
      owner.outbox.clear();
    }
    return owner.frames.failure();
  };
  EXPECT_EQ(run(frame(FrameType::ping, 0, 0, "12345678")), Failure::ping_flood);
  EXPECT_EQ(run(frame(FrameType::settings, 0, 0)), Failure::settings_flood);
  EXPECT_EQ(run(frame(FrameType::window_update, 0, 0, number(1))), Failure::window_flood);
  EXPECT_EQ(run(frame(FrameType::data, 0, 1)), Failure::empty_frame_flood);
  EXPECT_EQ(run(frame(static_cast<FrameType>(0x77), 0, 1)), Failure::other_flood);
  EXPECT_EQ(run(frame(FrameType::goaway, 0, 0, number(0) + number(0))), Failure::other_flood);
}

}  // namespace
}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
