// Tests of io_uring alone: rings that run out, late completions, output that outlives its link, and
// the system calls of a request.
#include "katana/net/engine/uring/uring_engine.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <utility>

#include "katana/net/engine/break_cases_test.hpp"
#include "katana/net/engine/system_calls_test.hpp"
#include "katana/net/engine/uring/uring_forms_test.hpp"

namespace katana::engine {
namespace {

class UringEngineTest : public EngineTest<Default> {
 protected:
  using Rings = Server<UringEngine>;  // takes UringOptions

  static std::vector<std::unique_ptr<Client>> connect_some(Rings& server, std::uint16_t port,
                                                           std::size_t count) {
    std::vector<std::unique_ptr<Client>> clients;
    for (std::size_t index = 0; index < count; ++index) {
      clients.push_back(std::make_unique<Client>(port));
      clients.back()->send("x");
    }
    EXPECT_TRUE(until(server, [&] { return server.received.size() == count; }));
    server.received.clear();
    return clients;
  }
  // Sends until the socket of the link takes no more; returns how much it took.
  static std::size_t fill(Rings& server, Link link) {
    const std::string text(100'000, 'f');
    std::size_t sent = 0;
    Sent result = Sent::completed;
    while (result == Sent::completed) sent += server.send(link, text, &result);
    EXPECT_EQ(result, Sent::pending);
    return sent;
  }
  // The last bytes of the link wait in a block of the engine: its client does not read.
  static void get_stuck(Rings& server, Link link) {
    const std::string text(1000, 's');
    // Small pieces until one is under way and stays there.
    do {
      Sent result = Sent::completed;
      while (result == Sent::completed) {
        server.send(link, text, &result);
        for (int count = 0; count < 3; ++count) server.engine.turn(Duration{});
      }
    } while (until_it_rests(server, [&] { return server.engine.outputs_under_way(); }) == 0);
    EXPECT_EQ(server.engine.outputs_under_way(), 1u);
  }
};

// ---- what it costs ----

TEST_F(UringEngineTest, a_request_on_a_kept_connection_costs_no_system_call_but_that_of_the_turn) {
  if (!system_calls_are_counted) GTEST_SKIP();
  Rings server;
  server.at_bytes = [&](Link link, Bytes bytes) { server.send(link, bytes); };
  const auto clients = connect_some(server, server.listen(), 10);
  turn_a_little(server);
  system_calls = {};
  for (int count = 1; count <= 10; ++count) {
    for (const auto& client : clients) client->send("again");
    ASSERT_TRUE(until(
        server, [&] { return server.received.size() == static_cast<std::size_t>(count) * 50; }));
  }
  EXPECT_EQ(system_calls.send, 100u);  // the clients'
  EXPECT_EQ(system_calls.receive + system_calls.accept + system_calls.control, 0u);
  EXPECT_EQ(server.engine.counters().sends_direct, 0u);
}

TEST_F(UringEngineTest, a_connection_with_one_request_costs_getpeername_and_the_calls_of_turns) {
  if (!system_calls_are_counted) GTEST_SKIP();
  Rings server;
  server.at_bytes = [&](Link link, Bytes) {
    server.send(link, "answer");
    server.engine.close(link);
  };
  const std::uint16_t port = server.listen();
  server.engine.turn(Duration{});
  Client client(port);
  client.send("question");
  system_calls = {};
  int turns_with_work = 0;  // on a busy machine there are others, which wait in vain
  ASSERT_TRUE(until(server, [&] {
    const Instant start = server.engine.now();
    server.engine.turn(milliseconds(10));
    if (server.engine.now() - start < milliseconds(10)) ++turns_with_work;
    client.receive();
    return client.saw_end;
  }));
  EXPECT_EQ(client.received, "answer");
  EXPECT_LE(turns_with_work, 4);  // accept; receive; send and close; one in which it is seen
  EXPECT_EQ(system_calls.send + system_calls.accept + system_calls.option, 0u);
  EXPECT_EQ(system_calls.peer, 1u);
}

TEST_F(UringEngineTest, idle_links_hold_no_buffer) {
  Rings server(
      Options{},
      UringOptions{.receive_bytes = 2 * 4096, .receive_buffer_bytes = 4096, .incremental = false});
  const auto clients = connect_some(server, server.listen(), 200);
  turn_a_little(server);
  EXPECT_EQ(server.engine.outputs_under_way(), 0u);
  // Two buffers serve two hundred links: one that is idle keeps neither.
  const std::uint64_t no_buffer = server.engine.counters().no_buffer;
  for (const auto& client : clients) {
    client->send("y");
    ASSERT_TRUE(until(server, [&] { return !server.received.empty(); }));
    server.received.clear();
  }
  EXPECT_EQ(server.engine.counters().no_buffer, no_buffer);
}

TEST_F(UringEngineTest, memory_is_what_was_asked_for) {
  Rings small(Options{.links_max = 16}), large(Options{.links_max = 64 * 1024});
  EXPECT_LT(small.engine.memory_used(), 512u * 1024);
  EXPECT_LT(large.engine.memory_used(), 8u * 1024 * 1024);
  EXPECT_GT(large.engine.memory_used(), small.engine.memory_used());
  // The buffers of links that pause count, too.
  EXPECT_LT(small.engine.memory_bytes(), 1024u * 1024);
  EXPECT_LT(large.engine.memory_bytes(), 80u * 1024 * 1024);
}

// ---- ends that a receive misses ----

// An engine whose links tell of their descriptors.
template <class S>
class OpenRings : public UringEngine<S> {
 public:
  using UringEngine<S>::UringEngine;
  int descriptor(Link link) { return this->UringLinks<S>::find(link)->fd; }
  bool watches_end(Link link) { return this->UringLinks<S>::find(link)->hangup_watched; }
};

// The kernel does so by chance. Here the descriptor becomes that of another connection, to which
// the receive that is armed is deaf.
TEST_F(UringEngineTest, an_end_that_the_armed_receive_misses_is_found_and_told) {
  for (const bool pauses : {false, true}) {
    Server<OpenRings> server;
    const std::uint16_t port = server.listen();
    Client client(port);
    client.send("x");
    ASSERT_TRUE(until(server, [&] { return server.received == "x"; }));
    turn_a_little(server);  // from here on its receive stays armed
    RawServer others;
    Client other(others.port());
    const int accepted = others.accept();
    server.at_bytes = [&](Link link, Bytes) {
      ASSERT_GE(::dup2(accepted, server.engine.descriptor(link)), 0);
      ::close(accepted);
      if (pauses) server.engine.pause_receive(link);
    };
    client.send("half a message");
    ASSERT_TRUE(until(server, [&] { return server.received == "xhalf a message"; }));
    turn_a_little(server);
    EXPECT_TRUE(server.broken.empty());
    other.reset();
    ASSERT_TRUE(until(server, [&] { return !server.broken.empty(); })) << pauses;
    EXPECT_EQ(server.broken, server.links);
    EXPECT_EQ(server.engine.counters().ends_missed, pauses ? 0u : 1u);
  }
}

TEST_F(UringEngineTest, a_link_whose_bytes_are_answered_needs_no_poll_for_its_end) {
  Server<OpenRings> server;
  server.at_bytes = [&](Link link, Bytes) { server.send(link, "answer"); };
  const std::uint16_t port = server.listen();
  Client client(port);
  for (std::size_t count = 1; count <= 5; ++count) {
    client.send("question");
    ASSERT_TRUE(until(server, [&] { return server.received.size() == count * 8; }));
    turn_a_little(server);
    EXPECT_FALSE(server.engine.watches_end(server.links[0]));
  }
  server.at_bytes = nullptr;
  client.send("no question");
  ASSERT_TRUE(until(server, [&] { return server.received.ends_with("no question"); }));
  turn_a_little(server);
  EXPECT_TRUE(server.engine.watches_end(server.links[0]));
}

// ---- what each decision is about ----

TEST_F(UringEngineTest, a_ring_is_made_and_entered_as_its_rules_say) {
  Ring decided, undone;
  ASSERT_TRUE(decided.start(default_rings));
  ASSERT_TRUE(undone.start(undone_rules));
  EXPECT_NE(decided.raw().flags & IORING_SETUP_DEFER_TASKRUN, 0u);
  EXPECT_EQ(undone.raw().flags & IORING_SETUP_DEFER_TASKRUN, 0u);
  undone.enter(Wait{});
  EXPECT_EQ(undone.completions(), 0u);
}

bool is_kernel_at_least(int major, int minor) {
  utsname system{};
  int has_major = 0, has_minor = 0;
  if (uname(&system) != 0) return false;
  if (std::sscanf(system.release, "%d.%d", &has_major, &has_minor) != 2) return false;
  return std::pair(has_major, has_minor) >= std::pair(major, minor);
}

// Many clients send, then the engine turns once: how many deliveries has that turn? The most of
// some turns counts, because the network is free to take its time.
TEST_F(UringEngineTest, what_came_together_is_told_in_one_turn) {
  constexpr std::size_t links = 60;  // one call brings 20 since Linux 6.13
  const auto most_of_a_turn = [](const UringRules& rules) {
    Rings server(Options{}, UringOptions{.rules = rules});
    const auto clients = connect_some(server, server.listen(), links);
    turn_a_little(server);
    std::size_t most = 0;
    for (int round = 0; round < 50 && most < links; ++round) {
      for (const auto& client : clients) client->send("x");
      server.received.clear();
      server.engine.turn(Duration{});
      most = std::max(most, server.received.size());
      EXPECT_TRUE(until(server, [&] { return server.received.size() == links; }));
    }
    return most;
  };
  EXPECT_EQ(most_of_a_turn({}), links);
  if (is_kernel_at_least(6, 13)) {
    EXPECT_LT(most_of_a_turn({.enter_again = false}), links);
  }
}

TEST_F(UringEngineTest, a_multishot_receive_stays_armed_and_a_single_one_ends_with_each_delivery) {
  const auto ends = [](const UringRules& rules) {
    Rings server(Options{}, UringOptions{.rules = rules});
    const auto clients = connect_some(server, server.listen(), 1);
    turn_a_little(server);
    const std::uint64_t before = server.engine.counters().multishot_ends;
    for (std::size_t count = 1; count <= 10; ++count) {
      clients[0]->send("x");
      EXPECT_TRUE(until(server, [&] { return server.received.size() == count; }));
    }
    return server.engine.counters().multishot_ends - before;
  };
  EXPECT_EQ(ends({}), 0u);
  EXPECT_EQ(ends({.multishot_receive = false}), 10u);
}

TEST_F(UringEngineTest, a_first_receive_that_is_single_need_not_be_cancelled) {
  const auto late = [](const UringRules& rules) {
    Rings server(Options{}, UringOptions{.rules = rules});
    server.at_bytes = [&](Link link, Bytes) { server.engine.close(link); };
    const std::uint16_t port = server.listen();
    for (int count = 0; count < 5; ++count) {
      Client client(port);
      client.send("x");
      EXPECT_TRUE(until(server, [&] {
        client.receive();
        return client.saw_end;
      }));
      turn_a_little(server);
    }
    return server.engine.counters().late_completions;
  };
  EXPECT_EQ(late({}), 0u);
  EXPECT_EQ(late({.first_receive_single = false}), 5u);
}

// ---- rings that run out ----

TEST_F(UringEngineTest, without_a_receive_buffer_every_link_gets_its_turn) {
  for (const bool incremental : {true, false}) {
    Rings server(Options{}, UringOptions{.receive_bytes = 1024,
                                         .receive_buffer_bytes = 512,
                                         .incremental = incremental});
    const auto clients = connect_some(server, server.listen(), 50);
    turn_a_little(server);
    std::vector<std::size_t> received(server.links.size() + 1);
    server.at_bytes = [&](Link link, Bytes bytes) { received[link.index] += bytes.size(); };
    for (const auto& client : clients) ASSERT_EQ(client->send(std::string(3000, 'y')), 3000u);
    ASSERT_TRUE(until(server, [&] { return server.received.size() == 50u * 3000; }));
    for (const Link link : server.links) EXPECT_EQ(received[link.index], 3000u);
    EXPECT_GT(server.engine.counters().no_buffer, 0u);
  }
}

TEST_F(UringEngineTest, a_completion_queue_that_overflows_loses_nothing) {
  Rings server(Options{}, UringOptions{.submissions = 2, .completions = 4});
  server.at_bytes = [&](Link link, Bytes bytes) { server.send(link, bytes); };
  const auto clients = connect_some(server, server.listen(), 100);
  for (int round = 0; round < 5; ++round) {
    for (const auto& client : clients) client->send("0123456789");
    server.received.clear();
    ASSERT_TRUE(until(server, [&] { return server.received.size() == 1000u; }));
  }
  for (const auto& client : clients) {
    ASSERT_TRUE(until(server, [&] {
      client->receive();
      return client->received.size() == 51u;
    }));
  }
  EXPECT_GT(server.engine.counters().multishot_ends, 0u);
}

TEST_F(UringEngineTest, without_a_block_for_output_it_goes_by_a_system_call) {
  Rings server(Options{}, UringOptions{.outputs = 1});
  const auto clients = connect_some(server, server.listen(), 3);
  for (const Link link : server.links) EXPECT_EQ(server.send(link, "hello"), 5u);
  EXPECT_EQ(server.engine.counters().sends_staged, 1u);
  EXPECT_EQ(server.engine.counters().sends_direct, 2u);
  for (const auto& client : clients) {
    ASSERT_TRUE(until(server, [&] {
      client->receive();
      return client->received == "hello";
    }));
  }
}

TEST_F(UringEngineTest,
       what_does_not_fit_behind_what_is_staged_goes_in_the_same_turn_and_in_order) {
  Rings server(Options{}, UringOptions{.output_bytes = 64});
  const auto clients = connect_some(server, server.listen(), 2);
  const std::string first(40, 'a'), second(50, 'b'), third(1000, 'c'), fourth(10, 'd');
  for (const Link link : server.links) {
    for (const std::string& each : {first, second, third, fourth}) {
      EXPECT_EQ(server.send(link, each), each.size());
    }
  }
  for (const auto& client : clients) {
    ASSERT_TRUE(until(server, [&] {
      client->receive();
      return client->received == first + second + third + fourth;
    }));
  }
}

// A link receives exactly the bytes of its client, however links, sizes, pauses and rings mix.
TEST_F(UringEngineTest, streams_of_many_links_do_not_mix) {
  for (const UringOptions& options :
       {default_rings, whole_buffers, tiny_rings, tiny_whole_rings, undone_rules}) {
    Rings server(Options{}, options);
    const auto clients = connect_some(server, server.listen(), 20);
    std::mt19937 random(7);
    std::vector<std::string> sent(clients.size()), got(clients.size());
    std::vector<std::size_t> client_of(16 * 1024);
    for (std::size_t index = 0; index < server.links.size(); ++index) {
      client_of[server.links[index].index] = index;  // accepted in the order of connecting
    }
    server.at_bytes = [&](Link link, Bytes bytes) {
      got[client_of[link.index]] += bytes;
      if (random() % 8 == 0) server.engine.pause_receive(link);
    };
    for (int round = 0; round < 200; ++round) {
      for (int burst = 0; burst < 5; ++burst) {
        const std::size_t index = random() % clients.size();
        std::string text(1 + random() % (round % 10 == 0 ? 20'000 : 300), '\0');
        for (char& octet : text) octet = static_cast<char>(random());
        text.resize(clients[index]->send(text));
        sent[index] += text;
      }
      server.engine.turn(Duration{});
      for (const Link link : server.links) {
        if (random() % 4 == 0) server.engine.resume_receive(link);
      }
    }
    server.at_bytes = [&](Link link, Bytes bytes) { got[client_of[link.index]] += bytes; };
    for (const Link link : server.links) server.engine.resume_receive(link);
    for (std::size_t index = 0; index < clients.size(); ++index) {
      ASSERT_TRUE(until(server, [&] { return got[index].size() >= sent[index].size(); })) << index;
      EXPECT_TRUE(got[index] == sent[index]) << index;
    }
  }
}

// ---- pauses ----

TEST_F(UringEngineTest, what_comes_for_a_paused_link_is_held_and_the_rest_left_to_the_kernel) {
  Rings server(Options{.links_max = 16});  // 64 KiB of receive buffers
  const auto clients = connect_some(server, server.listen(), 1);
  turn_a_little(server);  // the multishot is armed
  server.engine.pause_receive(server.links[0]);
  const std::string text(4'000'000, 'p');
  std::size_t sent = 0;
  for (int count = 0; count < 50; ++count) {
    sent += clients[0]->send(std::string_view(text).substr(sent));
    server.engine.turn(milliseconds(1));
  }
  EXPECT_TRUE(server.received.empty());
  EXPECT_GT(server.engine.counters().held_bytes, 0u);
  EXPECT_LE(server.engine.counters().held_bytes, 64u * 1024);
  EXPECT_GT(sent, 128u * 1024);
  server.engine.resume_receive(server.links[0]);
  ASSERT_TRUE(until(server, [&] { return server.received.size() == sent; }));
  EXPECT_EQ(server.received, text.substr(0, sent));
}

// Each is paused in its first bytes, with more of them already received, and stays so.
TEST_F(UringEngineTest, what_links_hold_that_pause_one_after_another_is_bounded) {
  constexpr std::size_t count = 64;
  Rings server(Options{.links_max = count});  // 64 KiB of receive buffers
  const std::size_t idle = server.engine.memory_used();
  const auto clients = connect_some(server, server.listen(), count);
  turn_a_little(server);  // the multishots are armed
  std::string text(1'000'000, '\0');
  for (std::size_t at = 0; at < text.size(); ++at) text[at] = static_cast<char>(at % 251);
  server.at_bytes = [&](Link link, Bytes) { server.engine.pause_receive(link); };
  std::size_t given = 0;
  for (std::size_t index = 0; index < count; ++index) {
    std::size_t sent = 0;
    for (int turn = 0; turn < 5; ++turn) {
      sent += clients[index]->send(std::string_view(text).substr(sent));
      server.engine.turn(milliseconds(1));
    }
    given += sent;
  }
  const std::size_t held = server.engine.memory_used() - idle;
  EXPECT_GT(held, 64u * 1024);
  EXPECT_LE(held, 1024u * 1024) << "each held as much as the buffers have";
  EXPECT_LE(server.engine.memory_used(), server.engine.memory_bytes());
  EXPECT_GT(server.engine.counters().held_much, 0u);
  std::vector<std::string> got(count);
  server.at_bytes = [&](Link link, Bytes bytes) { got[link.index] += bytes; };
  for (const Link link : server.links) server.engine.resume_receive(link);
  ASSERT_TRUE(until(server, [&] { return server.received.size() >= given; }));
  EXPECT_EQ(server.received.size(), given);
  for (const std::string& each : got) {
    const std::size_t begin = static_cast<unsigned char>(each.front());
    EXPECT_TRUE(each == std::string_view(text).substr(begin, each.size())) << begin;
  }
  EXPECT_EQ(server.engine.memory_used(), idle);
}

TEST_F(UringEngineTest, a_paused_link_with_bytes_held_is_told_of_its_reset) {
  Rings server;
  const auto clients = connect_some(server, server.listen(), 1);
  turn_a_little(server);
  server.engine.pause_receive(server.links[0]);
  clients[0]->send("held");
  ASSERT_TRUE(until(server, [&] { return server.engine.counters().held_bytes == 4; }));
  turn_a_little(server);
  clients[0]->reset();
  ASSERT_TRUE(until(server, [&] { return !server.broken.empty(); }));
  turn_a_little(server);
  EXPECT_EQ(server.broken.size(), 1u);
  EXPECT_TRUE(server.received.empty());
}

TEST_F(UringEngineTest, a_link_closed_while_bytes_are_held_gives_them_up) {
  Rings server(Options{.links_max = 1});
  const std::uint16_t port = server.listen();
  {
    const auto clients = connect_some(server, port, 1);
    turn_a_little(server);
    server.engine.pause_receive(server.links[0]);
    clients[0]->send("held");
    ASSERT_TRUE(until(server, [&] { return server.engine.counters().held_bytes == 4; }));
    server.engine.resume_receive(server.links[0]);
    server.engine.close(server.links[0]);
  }
  const auto clients = connect_some(server, port, 1);  // at the same index
  clients[0]->send("new");
  ASSERT_TRUE(until(server, [&] { return server.received == "new"; }));
}

// ---- completions that come late ----

TEST_F(UringEngineTest, completions_of_a_link_that_is_gone_die) {
  Rings server(Options{.links_max = 1});
  const std::uint16_t port = server.listen();
  for (int count = 0; count < 20; ++count) {
    const auto clients = connect_some(server, port, 1);
    turn_a_little(server);  // the multishot is armed, so its end comes after the close
    clients[0]->send("late");
    server.engine.close(server.links.back());
    turn_a_little(server);
  }
  EXPECT_TRUE(server.received.empty());
  EXPECT_TRUE(server.broken.empty());
  EXPECT_GT(server.engine.counters().late_completions, 0u);
}

// ---- output that outlives its link ----

TEST_F(UringEngineTest, output_of_a_closed_link_is_delivered_and_a_drain_waits_for_it) {
  Rings server;
  const std::uint16_t port = server.listen();
  const auto clients = connect_some(server, port, 1);
  const Link link = server.links[0];
  std::size_t sent = fill(server, link);
  server.at_sent = [&](Link, std::size_t) { sent += server.send(link, "the last of it"); };
  // Room for a little: the last words find the socket full.
  const std::size_t filled = sent;
  ASSERT_TRUE(until(server, [&] {
    if (sent == filled) clients[0]->receive(100'000);
    return sent > filled;
  }));
  server.engine.close(link);
  server.engine.close_listeners();
  ASSERT_TRUE(until(server, [&] {
    clients[0]->receive();
    return clients[0]->saw_end || clients[0]->saw_reset;
  }));
  EXPECT_FALSE(clients[0]->saw_reset);
  EXPECT_EQ(clients[0]->received.size(), sent);
  EXPECT_TRUE(clients[0]->received.ends_with("the last of it"));
  ASSERT_TRUE(until(server, [&] { return !server.engine.accepting(); }));
  EXPECT_EQ(server.engine.outputs_under_way(), 0u);
}

TEST_F(UringEngineTest, a_drain_does_not_wait_for_more_once_the_last_link_is_closed) {
  Rings server;
  const auto clients = connect_some(server, server.listen(), 1);
  server.engine.close_listeners();
  const Instant start = server.engine.now();
  while (server.engine.now() - start < milliseconds(150)) server.engine.turn(milliseconds(10));
  EXPECT_FALSE(server.engine.accepting());
  server.engine.close(server.links[0]);
  EXPECT_TRUE(server.engine.accepting());
  while (server.engine.accepting()) server.engine.turn(seconds(60));  // which does not wait so long
  EXPECT_LT(server.engine.now() - start, seconds(30));
}

TEST_F(UringEngineTest, a_peer_that_does_not_read_holds_a_block_for_a_while_only) {
  Rings server(Options{}, UringOptions{.delivery_grace = milliseconds(20)});
  const auto clients = connect_some(server, server.listen(), 1);
  clients[0]->shrink_buffers();
  get_stuck(server, server.links[0]);
  server.engine.close(server.links[0]);
  EXPECT_EQ(server.engine.outputs_under_way(), 1u);
  ASSERT_TRUE(until(server, [&] { return server.engine.outputs_under_way() == 0; }));
  EXPECT_GE(server.engine.counters().sends_cut, 1u);
}

TEST_F(UringEngineTest, a_reset_takes_back_what_is_under_way_and_what_is_staged) {
  Rings server;
  const auto clients = connect_some(server, server.listen(), 2);
  clients[0]->shrink_buffers();
  get_stuck(server, server.links[0]);
  server.engine.reset(server.links[0]);
  server.send(server.links[1], "never sent");
  server.engine.reset(server.links[1]);
  ASSERT_TRUE(until(server, [&] { return server.engine.outputs_under_way() == 0; }));
  for (const auto& client : clients) {
    ASSERT_TRUE(until(server, [&] {
      client->receive();
      return client->saw_end || client->saw_reset;
    }));
    EXPECT_TRUE(client->saw_reset);
  }
  EXPECT_TRUE(clients[1]->received.empty());
}

TEST_F(UringEngineTest, a_send_that_fails_after_it_was_taken_is_told_as_a_broken_link_once) {
  Rings server;
  const auto clients = connect_some(server, server.listen(), 1);
  turn_a_little(server);
  server.engine.shutdown_send(server.links[0]);
  EXPECT_EQ(server.send(server.links[0], "too late"), 8u);
  ASSERT_TRUE(until(server, [&] { return !server.broken.empty(); }));
  clients[0]->reset();
  turn_a_little(server);
  EXPECT_EQ(server.broken.size(), 1u);
  Sent result = Sent::completed;
  server.send(server.links[0], "x", &result);
  EXPECT_EQ(result, Sent::failed);
}

TEST_F(UringEngineTest, an_engine_with_everything_under_way_can_be_destroyed) {
  const auto server = std::make_unique<Rings>();
  const std::uint16_t port = server->listen();
  const auto clients = connect_some(*server, port, 3);
  clients[0]->shrink_buffers();
  get_stuck(*server, server->links[0]);
  server->send(server->links[1], "staged");
  server->engine.close(server->links[1]);
  server->engine.pause_receive(server->links[2]);
  Client waiting(port);
}

// ---- who turns it ----

TEST_F(UringEngineTest, it_may_be_started_on_one_thread_and_turned_on_another) {
  Rings server;
  Client client(server.listen());
  client.send("x");
  bool received = false;
  std::thread turner([&] { received = until(server, [&] { return server.received == "x"; }); });
  turner.join();
  EXPECT_TRUE(received);
}

}  // namespace
}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
