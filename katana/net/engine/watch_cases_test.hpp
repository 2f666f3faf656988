// EngineWatches: descriptors of other owners, the same for every engine.
//
// Owns       nothing; a module's test instantiates the suite with its forms
//            (INSTANTIATE_TYPED_TEST_SUITE_P).
#pragma once

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "katana/net/engine/real_fixture_test.hpp"

namespace katana::engine {

template <class Form>
class EngineWatches : public EngineTest<Form> {};
TYPED_TEST_SUITE_P(EngineWatches);

#define KATANA_CASE(name) TYPED_TEST_P(EngineWatches, name)

// Notes what it is told.
struct Ready final : Watcher {
  void on_ready(Readiness ready) noexcept override {
    ++count;
    reads += ready.read ? 1 : 0;
    writes += ready.write ? 1 : 0;
    if (action) std::exchange(action, {})();
    if (each_time) each_time();
  }
  int count = 0;
  int reads = 0;
  int writes = 0;
  std::function<void()> action;  // the first time
  std::function<void()> each_time;
};

struct Event {
  int fd = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  Event() = default;
  ~Event() { ::close(fd); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void raise() const { EXPECT_EQ(eventfd_write(fd, 1), 0); }
  void clear() const {
    eventfd_t value;
    eventfd_read(fd, &value);
  }
};

// Two connected sockets that never block.
struct Pair {
  std::array<int, 2> fds = {-1, -1};
  Pair() {
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds.data()), 0);
  }
  ~Pair() {
    for (const int each : fds) {
      if (each >= 0) ::close(each);
    }
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  int ours() const { return fds[0]; }
  void close_ours() { ::close(std::exchange(fds[0], -1)); }
  void close_theirs() { ::close(std::exchange(fds[1], -1)); }
  void say(std::string_view text) const {
    EXPECT_EQ(::write(fds[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  // Until our socket takes no more.
  void fill() const {
    const std::string much(4096, 'x');
    while (::write(fds[0], much.data(), much.size()) > 0) {
    }
  }
  void drain() const {
    std::array<char, 4096> some;
    while (::read(fds[1], some.data(), some.size()) > 0) {
    }
  }
  // Reads at most `count` bytes from our socket.
  std::string hear(std::size_t count = 4096) const {
    std::string text(count, '\0');
    const ssize_t taken = ::read(fds[0], text.data(), count);
    text.resize(taken > 0 ? static_cast<std::size_t>(taken) : 0);
    return text;
  }
};

// ---- what is told ----

KATANA_CASE(a_watched_descriptor_is_told_while_it_is_readable) {
  typename TestFixture::TestServer server;
  Event event;
  Ready ready;
  ASSERT_TRUE(server.engine.watch(event.fd, {.read = true}, ready));
  this->turn_a_little(server);
  EXPECT_EQ(ready.count, 0);
  event.raise();
  ASSERT_TRUE(this->until(server, [&] { return ready.count >= 2; }));  // unread, it is told again
  event.clear();
  const int told = ready.count;
  this->turn_a_little(server);
  EXPECT_EQ(ready.count, told);
  EXPECT_EQ(ready.writes, 0);
}

KATANA_CASE(input_that_is_read_in_parts_is_told_until_its_end) {
  typename TestFixture::TestServer server;
  Pair pair;
  Ready ready;
  std::string heard;
  ready.each_time = [&] { heard += pair.hear(1); };
  ASSERT_TRUE(server.engine.watch(pair.ours(), {.read = true}, ready));
  pair.say("in parts");
  ASSERT_TRUE(this->until(server, [&] { return heard == "in parts"; }));
  EXPECT_EQ(ready.reads, 8);
  this->expect_rest(server);
  EXPECT_EQ(ready.count, 8);
}

// A reader that pauses leaves input behind, and gets no event for it when it goes on but this one.
KATANA_CASE(input_that_was_there_before_the_watch_is_told) {
  typename TestFixture::TestServer server;
  Pair pair;
  Ready ready;
  ASSERT_TRUE(server.engine.watch(pair.ours(), {.read = true}, ready));
  pair.say("before the pause");
  ASSERT_TRUE(this->until(server, [&] { return ready.reads > 0; }));
  EXPECT_EQ(pair.hear(6), "before");
  server.engine.unwatch(pair.ours());
  this->turn_a_little(server);
  this->expect_rest(server);
  const int told = ready.reads;
  ASSERT_TRUE(server.engine.watch(pair.ours(), {.read = true}, ready));
  ASSERT_TRUE(this->until(server, [&] { return ready.reads > told; }));
  EXPECT_EQ(pair.hear(), " the pause");
}

KATANA_CASE(a_full_socket_is_told_of_room_and_not_before) {
  typename TestFixture::TestServer server;
  Pair pair;
  Ready ready;
  pair.fill();
  ASSERT_TRUE(server.engine.watch(pair.ours(), {.write = true}, ready));
  pair.say("not asked for");
  this->turn_a_little(server);
  EXPECT_EQ(ready.count, 0);
  pair.drain();
  ASSERT_TRUE(this->until(server, [&] { return ready.writes > 0; }));
  EXPECT_EQ(ready.reads, 0);
}

KATANA_CASE(both_directions_are_told_as_they_are_ready) {
  typename TestFixture::TestServer server;
  Pair pair;
  Ready ready;
  pair.fill();
  ASSERT_TRUE(server.engine.watch(pair.ours(), {.read = true, .write = true}, ready));
  this->turn_a_little(server);
  EXPECT_EQ(ready.count, 0);
  pair.say("x");
  ASSERT_TRUE(this->until(server, [&] { return ready.reads > 0; }));
  EXPECT_EQ(ready.writes, 0);
  EXPECT_EQ(pair.hear(), "x");
  pair.drain();
  const int told = ready.reads;
  ASSERT_TRUE(this->until(server, [&] { return ready.writes > 0; }));
  EXPECT_LE(ready.reads, told + 1);
}

KATANA_CASE(a_later_watch_takes_the_place_of_the_earlier_one) {
  typename TestFixture::TestServer server;
  Pair pair;
  Ready first, second;
  ASSERT_TRUE(server.engine.watch(pair.ours(), {.read = true}, first));
  this->turn_a_little(server);
  ASSERT_TRUE(server.engine.watch(pair.ours(), {.write = true}, second));
  ASSERT_TRUE(this->until(server, [&] { return second.writes > 0; }));
  ASSERT_TRUE(server.engine.watch(pair.ours(), {.read = true}, second));
  this->turn_a_little(server);
  this->expect_rest(server);  // it is writable, which is not asked for any more
  pair.say("x");
  ASSERT_TRUE(this->until(server, [&] { return second.reads > 0; }));
  EXPECT_EQ(first.count, 0);
  server.engine.unwatch(pair.ours());  // one is enough
  this->turn_a_little(server);
  this->expect_rest(server);
}

KATANA_CASE(the_end_of_the_other_side_is_told_as_what_is_asked_for) {
  typename TestFixture::TestServer server;
  Pair pair;
  std::array<int, 2> emptied = {}, filled = {};  // pipes, which report such an end alone
  ASSERT_EQ(::pipe2(emptied.data(), O_NONBLOCK | O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(filled.data(), O_NONBLOCK | O_CLOEXEC), 0);
  const std::string much(4096, 'x');
  while (::write(filled[1], much.data(), much.size()) > 0) {
  }
  Ready socket, reader, writer;
  ASSERT_TRUE(server.engine.watch(pair.ours(), {.read = true}, socket));
  ASSERT_TRUE(server.engine.watch(emptied[0], {.read = true}, reader));
  ASSERT_TRUE(server.engine.watch(filled[1], {.write = true}, writer));
  this->turn_a_little(server);
  EXPECT_EQ(socket.count + reader.count + writer.count, 0);
  pair.close_theirs();
  ::close(emptied[1]);
  ::close(filled[0]);
  ASSERT_TRUE(this->until(
      server, [&] { return socket.reads > 0 && reader.reads > 0 && writer.writes > 0; }));
  EXPECT_EQ(socket.writes + reader.writes + writer.reads, 0);
  for (const int each : {emptied[0], filled[1]}) {
    server.engine.unwatch(each);
    ::close(each);
  }
}

// ---- the end of a watch ----

KATANA_CASE(a_descriptor_no_longer_watched_is_not_told) {
  typename TestFixture::TestServer server;
  Event event, other;
  Ready ready, still;
  ASSERT_TRUE(server.engine.watch(event.fd, {.read = true}, ready));
  ASSERT_TRUE(server.engine.watch(other.fd, {.read = true}, still));
  server.engine.unwatch(event.fd);
  event.raise();
  other.raise();
  ASSERT_TRUE(this->until(server, [&] { return still.count > 0; }));
  EXPECT_EQ(ready.count, 0);
  // Its place is used again.
  Ready again;
  ASSERT_TRUE(server.engine.watch(event.fd, {.read = true}, again));
  EXPECT_TRUE(this->until(server, [&] { return again.count > 0; }));
  EXPECT_EQ(ready.count, 0);
}

KATANA_CASE(a_watcher_may_end_its_own_watch_and_that_of_another) {
  typename TestFixture::TestServer server;
  Event events[2];
  Ready ready[2];
  for (int index = 0; index < 2; ++index) {
    ready[index].action = [&] {
      for (const Event& each : events) server.engine.unwatch(each.fd);
    };
    ASSERT_TRUE(server.engine.watch(events[index].fd, {.read = true}, ready[index]));
    events[index].raise();
  }
  ASSERT_TRUE(this->until(server, [&] { return ready[0].count + ready[1].count > 0; }));
  this->turn_a_little(server);
  EXPECT_EQ(ready[0].count + ready[1].count, 1);
}

KATANA_CASE(a_watcher_may_be_destroyed_in_its_own_event) {
  typename TestFixture::TestServer server;
  struct Brief final : Watcher {
    explicit Brief(std::function<void()> given) : gone(std::move(given)) {}
    void on_ready(Readiness) noexcept override {
      const std::function<void()> call = std::move(gone);
      call();
    }
    std::function<void()> gone;
  };
  Pair pair;
  std::unique_ptr<Brief> brief;
  brief = std::make_unique<Brief>([&] {
    server.engine.unwatch(pair.ours());
    pair.close_ours();
    brief.reset();
  });
  ASSERT_TRUE(server.engine.watch(pair.ours(), {.read = true, .write = true}, *brief));
  pair.say("x");
  ASSERT_TRUE(this->until(server, [&] { return brief == nullptr; }));
  this->turn_a_little(server);
  this->expect_rest(server);
}

// Both descriptors have an event in one turn. The first watcher that is told ends the other watch,
// and an idle descriptor gets its place.
KATANA_CASE(an_event_of_an_ended_watch_is_not_told_to_the_next_one_at_its_place) {
  typename TestFixture::TestServer server;
  Event events[2], idle;
  Ready ready[2], next;
  for (int index = 0; index < 2; ++index) {
    ready[index].action = [&, index] {
      server.engine.unwatch(events[1 - index].fd);
      EXPECT_TRUE(server.engine.watch(idle.fd, {.read = true}, next));
      server.engine.unwatch(events[index].fd);
    };
    ASSERT_TRUE(server.engine.watch(events[index].fd, {.read = true}, ready[index]));
  }
  this->turn_a_little(server);
  for (const Event& each : events) each.raise();
  ASSERT_TRUE(this->until(server, [&] { return ready[0].count + ready[1].count > 0; }));
  this->turn_a_little(server);
  EXPECT_EQ(ready[0].count + ready[1].count, 1);
  EXPECT_EQ(next.count, 0);
  idle.raise();
  EXPECT_TRUE(this->until(server, [&] { return next.count > 0; }));
}

// The kernel gives the number of a closed descriptor to the next one that is opened.
KATANA_CASE(an_event_of_a_closed_descriptor_is_not_told_to_the_next_one_of_its_number) {
  typename TestFixture::TestServer server;
  std::array<Pair, 2> pairs;
  Ready ready[2], next;
  Pair fresh;
  int number = -1;
  for (std::size_t index = 0; index < 2; ++index) {
    ready[index].action = [&, index] {
      number = pairs[1 - index].ours();
      server.engine.unwatch(number);
      ASSERT_EQ(::dup2(fresh.ours(), number), number);  // closes it, and takes its number
      EXPECT_TRUE(server.engine.watch(number, {.read = true}, next));
      server.engine.unwatch(pairs[index].ours());
    };
    ASSERT_TRUE(server.engine.watch(pairs[index].ours(), {.read = true}, ready[index]));
  }
  this->turn_a_little(server);
  for (const Pair& each : pairs) each.say("old");
  ASSERT_TRUE(this->until(server, [&] { return number >= 0; }));
  this->turn_a_little(server);
  EXPECT_EQ(next.count, 0);
  fresh.say("new");
  ASSERT_TRUE(this->until(server, [&] { return next.count > 0; }));
  EXPECT_EQ(fresh.hear(), "new");
  this->turn_a_little(server);
  this->expect_rest(server);
}

// Both are readable in one turn. The first one that is told wants only to write from now on with
// the other, which is full.
KATANA_CASE(an_event_that_is_not_wanted_any_more_is_not_told) {
  typename TestFixture::TestServer server;
  std::array<Pair, 2> pairs;
  Ready ready[2];
  for (std::size_t index = 0; index < 2; ++index) {
    ready[index].action = [&, index] {
      ready[1 - index].action = {};
      server.engine.unwatch(pairs[index].ours());
      EXPECT_TRUE(server.engine.watch(pairs[1 - index].ours(), {.write = true}, ready[1 - index]));
    };
    pairs[index].fill();
    ASSERT_TRUE(server.engine.watch(pairs[index].ours(), {.read = true}, ready[index]));
  }
  this->turn_a_little(server);
  for (const Pair& each : pairs) each.say("x");
  ASSERT_TRUE(this->until(server, [&] { return ready[0].count + ready[1].count > 0; }));
  this->turn_a_little(server);
  EXPECT_EQ(ready[0].count + ready[1].count, 1);
  this->expect_rest(server);
}

// A child between fork() and exec() has such a copy.
KATANA_CASE(a_closed_descriptor_with_a_copy_elsewhere_does_not_keep_the_engine_busy) {
  typename TestFixture::TestServer server;
  Pair pair;
  Ready ready;
  ASSERT_TRUE(server.engine.watch(pair.ours(), {.read = true}, ready));
  this->turn_a_little(server);
  const int copy = ::fcntl(pair.ours(), F_DUPFD_CLOEXEC, 0);
  server.engine.unwatch(pair.ours());
  pair.close_ours();
  pair.say("x");
  this->turn_a_little(server);
  this->expect_rest(server);
  EXPECT_EQ(ready.count, 0);
  ::close(copy);
}

KATANA_CASE(the_other_side_sees_the_close_of_a_descriptor_that_was_watched) {
  typename TestFixture::TestServer server;
  Pair pair;
  Ready ready;
  ASSERT_TRUE(server.engine.watch(pair.ours(), {.read = true}, ready));
  this->turn_a_little(server);
  server.engine.unwatch(pair.ours());
  pair.close_ours();
  char byte;
  ASSERT_TRUE(this->until(server, [&] { return ::read(pair.fds[1], &byte, 1) == 0; }));
  EXPECT_EQ(ready.count, 0);
}

KATANA_CASE(an_engine_that_ends_leaves_watched_descriptors_open) {
  Pair pair;
  Ready ready;
  {
    typename TestFixture::TestServer server;
    ASSERT_TRUE(server.engine.watch(pair.ours(), {.read = true, .write = true}, ready));
    ASSERT_TRUE(this->until(server, [&] { return ready.writes > 0; }));
  }
  const int told = ready.count;
  pair.say("still open");
  EXPECT_EQ(pair.hear(), "still open");
  EXPECT_EQ(ready.count, told);
}

// ---- limits ----

KATANA_CASE(more_descriptors_than_places_in_a_wait_are_all_told) {
  typename TestFixture::TestServer server;
  constexpr std::size_t count = 300;
  std::vector<std::unique_ptr<Pair>> pairs;
  std::vector<Ready> ready(count);
  for (std::size_t index = 0; index < count; ++index) {
    pairs.push_back(std::make_unique<Pair>());
    const Pair& pair = *pairs.back();
    ready[index].each_time = [&pair] { (void)pair.hear(); };
    ASSERT_TRUE(server.engine.watch(pair.ours(), {.read = true}, ready[index]));
  }
  this->turn_a_little(server);
  for (int round = 1; round <= 2; ++round) {
    for (const auto& each : pairs) each->say("x");
    const auto told = [&] {
      return std::ranges::all_of(ready, [&](const Ready& each) { return each.reads >= round; });
    };
    ASSERT_TRUE(this->until(server, told));
  }
  for (const auto& each : pairs) server.engine.unwatch(each->ours());
}

KATANA_CASE(a_descriptor_that_cannot_be_watched_is_an_error) {
  typename TestFixture::TestServer server;
  Ready ready;
  const auto result = server.engine.watch(-1, {.read = true}, ready);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().describe().find("watch a descriptor"), std::string::npos);
  Event event;
  EXPECT_TRUE(server.engine.watch(event.fd, {.read = true}, ready));
}

#undef KATANA_CASE

REGISTER_TYPED_TEST_SUITE_P(
    EngineWatches, a_watched_descriptor_is_told_while_it_is_readable,
    input_that_is_read_in_parts_is_told_until_its_end,
    input_that_was_there_before_the_watch_is_told, a_full_socket_is_told_of_room_and_not_before,
    both_directions_are_told_as_they_are_ready, a_later_watch_takes_the_place_of_the_earlier_one,
    the_end_of_the_other_side_is_told_as_what_is_asked_for,
    a_descriptor_no_longer_watched_is_not_told, a_watcher_may_end_its_own_watch_and_that_of_another,
    a_watcher_may_be_destroyed_in_its_own_event,
    an_event_of_an_ended_watch_is_not_told_to_the_next_one_at_its_place,
    an_event_of_a_closed_descriptor_is_not_told_to_the_next_one_of_its_number,
    an_event_that_is_not_wanted_any_more_is_not_told,
    a_closed_descriptor_with_a_copy_elsewhere_does_not_keep_the_engine_busy,
    the_other_side_sees_the_close_of_a_descriptor_that_was_watched,
    an_engine_that_ends_leaves_watched_descriptors_open,
    more_descriptors_than_places_in_a_wait_are_all_told,
    a_descriptor_that_cannot_be_watched_is_an_error);

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
