// EngineStreams: bytes, pauses and ends on real sockets, the same for every engine.
//
// Owns       nothing; a module's test instantiates the suite with its forms
//            (INSTANTIATE_TYPED_TEST_SUITE_P).
#pragma once

#include <algorithm>
#include <array>
#include <csignal>
#include <numeric>
#include <random>

#include "katana/base/system/file_fixture_test.hpp"
#include "katana/net/engine/real_fixture_test.hpp"

namespace katana::engine {

template <class Form>
class EngineStreams : public EngineTest<Form> {};
TYPED_TEST_SUITE_P(EngineStreams);

#define KATANA_CASE(name) TYPED_TEST_P(EngineStreams, name)

// ---- one connection ----

KATANA_CASE(a_request_is_received_answered_and_its_connection_closed) {
  typename TestFixture::TestServer server;
  server.at_bytes = [&](Link link, Bytes) {
    EXPECT_EQ(server.send(link, "answer"), 6u);
    server.engine.close(link);
  };
  Client client(server.listen());
  client.send("question");
  ASSERT_TRUE(this->until(server, [&] {
    client.receive();
    return client.saw_end;
  }));
  EXPECT_EQ(server.received, "question");
  EXPECT_EQ(client.received, "answer");
  EXPECT_TRUE(server.input_ends.empty());
}

KATANA_CASE(several_parts_are_sent_in_order) {
  typename TestFixture::TestServer server;
  auto client = this->connect(server, server.listen(), "x");
  server.send_parts(server.links[0], {"one ", "two ", "three"});
  ASSERT_TRUE(this->until(server, [&] {
    client->receive();
    return client->received.size() == 13;
  }));
  EXPECT_EQ(client->received, "one two three");
}

KATANA_CASE(replies_sent_in_one_go_arrive_in_order_and_before_the_end) {
  typename TestFixture::TestServer server;
  server.at_bytes = [&](Link link, Bytes) {
    for (int count = 0; count < 100; ++count) {
      const std::string reply = std::to_string(count) + std::string(100, '.');
      Sent result = Sent::completed;
      if (server.send(link, reply, &result) != reply.size()) break;
    }
    server.engine.close(link);
  };
  Client client(server.listen());
  client.send("x");
  ASSERT_TRUE(this->until(server, [&] {
    client.receive();
    return client.saw_end || client.saw_reset;
  }));
  EXPECT_FALSE(client.saw_reset);
  std::string expected;
  for (int count = 0; expected.size() < client.received.size(); ++count) {
    expected += std::to_string(count) + std::string(100, '.');
  }
  EXPECT_EQ(client.received, expected);
  EXPECT_GE(client.received.size(), 100u);
}

KATANA_CASE(what_is_sent_right_before_the_end_of_our_side_comes_first) {
  typename TestFixture::TestServer server;
  server.at_bytes = [&](Link link, Bytes) {
    server.send(link, "last words");
    server.engine.shutdown_send(link);
  };
  Client client(server.listen());
  client.send("x");
  ASSERT_TRUE(this->until(server, [&] {
    client.receive();
    return client.saw_end;
  }));
  EXPECT_EQ(client.received, "last words");
}

KATANA_CASE(more_than_a_buffer_is_delivered_in_pieces_and_read_to_the_end) {
  typename TestFixture::TestServer server({.receive_bytes_max = 1024});
  std::string text(10'000, '\0');
  std::iota(text.begin(), text.end(), '\0');
  auto client = this->connect(server, server.listen(), text);
  ASSERT_TRUE(this->until(server, [&] { return server.received.size() == text.size(); }));
  EXPECT_EQ(server.received, text);
  EXPECT_GE(server.deliveries, 10);
  // Exactly as much as the buffer holds: nothing is lost, and nothing waits for more.
  client->send(std::string(1024, 'z'));
  ASSERT_TRUE(this->until(server, [&] { return server.received.size() == text.size() + 1024; }));
  client->send("last");
  ASSERT_TRUE(this->until(server, [&] { return server.received.ends_with("zlast"); }));
}

KATANA_CASE(a_large_sender_does_not_keep_others_waiting) {
  typename TestFixture::TestServer server({.receive_bytes_max = 1024});
  const std::uint16_t port = server.listen();
  auto large = this->connect(server, port, "x");
  auto small = this->connect(server, port, "x");
  this->turn_a_little(server);
  std::vector<Link> order;
  server.at_bytes = [&](Link link, Bytes) { order.push_back(link); };
  ASSERT_GE(large->send(std::string(100'000, 'l')), 50'000u);
  small->send("s");
  ASSERT_TRUE(this->until(
      server, [&] { return std::ranges::find(order, server.links[1]) != order.end(); }));
  EXPECT_LE(order.size(), TypeParam::deliveries_max);
}

// ---- output ----

// Sends its text, as much at a time as the client takes.
template <class TestServer>
struct Producer {
  TestServer& server;
  Link link;
  std::string text;
  std::size_t at = 0;
  int waits = 0;

  void go_on() {
    Sent result = Sent::completed;
    while (at < text.size() && result == Sent::completed) {
      at += server.send(link, std::string_view(text).substr(at, 200'000), &result);
    }
    if (result == Sent::pending) ++waits;
    EXPECT_NE(result, Sent::failed);
  }
};

inline std::string random_text(std::size_t bytes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string text;
  while (text.size() < bytes) {
    const std::uint64_t word = random();
    text.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  text.resize(bytes);
  return text;
}

KATANA_CASE(a_slow_reader_gets_every_byte_of_a_large_reply) {
  typename TestFixture::TestServer server;
  auto client = this->connect(server, server.listen(), "x");
  Producer<typename TestFixture::TestServer> producer{server, server.links[0],
                                                      random_text(20'000'000, 1)};
  server.at_sent = [&](Link, std::size_t count) {
    EXPECT_EQ(count, 0u);  // a readiness engine reports that there is room, not what was taken
    producer.go_on();
  };
  producer.go_on();
  // The client reads nothing: soon nothing more is taken.
  EXPECT_LT(this->until_it_rests(server, [&] { return producer.at; }), producer.text.size());
  ASSERT_TRUE(this->until(server, [&] {
    client->receive(300'000);
    return client->received.size() == producer.text.size();
  }));
  EXPECT_TRUE(client->received == producer.text);
  EXPECT_GT(producer.waits, 2);
}

KATANA_CASE(large_streams_go_both_ways_at_once_unharmed) {
  typename TestFixture::TestServer server;
  auto client = this->connect(server, server.listen(), "x");
  const Link link = server.links[0];
  server.received.clear();
  Producer<typename TestFixture::TestServer> producer{server, link, random_text(3'000'000, 2)};
  server.at_sent = [&](Link, std::size_t) { producer.go_on(); };
  const std::string upload = random_text(3'000'000, 3);
  std::size_t uploaded = 0;
  producer.go_on();
  ASSERT_TRUE(this->until(server, [&] {
    uploaded += client->send(std::string_view(upload).substr(uploaded, 100'000));
    client->receive(70'000);
    return client->received.size() == producer.text.size() &&
           server.received.size() == upload.size();
  }));
  EXPECT_TRUE(client->received == producer.text);
  EXPECT_TRUE(server.received == upload);
}

KATANA_CASE(sending_to_a_peer_that_is_gone_fails_without_a_signal) {
  typename TestFixture::TestServer server;
  auto client = this->connect(server, server.listen(), "x");
  client->reset();
  Sent result = Sent::completed;
  ASSERT_TRUE(this->until(server, [&] { return !server.broken.empty(); }));
  server.send(server.links[0], "anybody there?", &result);
  EXPECT_EQ(result, Sent::failed);
}

// ---- pauses ----

KATANA_CASE(a_paused_link_delivers_nothing_until_it_is_resumed) {
  typename TestFixture::TestServer server;
  auto client = this->connect(server, server.listen(), "first");
  server.engine.pause_receive(server.links[0]);
  client->send(" second");
  this->turn_a_little(server);
  EXPECT_EQ(server.received, "first");
  server.engine.resume_receive(server.links[0]);
  ASSERT_TRUE(this->until(server, [&] { return server.received == "first second"; }));
  client->send(" third");
  ASSERT_TRUE(this->until(server, [&] { return server.received == "first second third"; }));
}

KATANA_CASE(a_pause_in_the_midst_of_more_than_a_buffer_stops_there) {
  typename TestFixture::TestServer server({.receive_bytes_max = 1000});
  server.at_bytes = [&](Link link, Bytes) { server.engine.pause_receive(link); };
  auto client = this->connect(server, server.listen(), std::string(2500, 'x'));
  for (std::size_t before = 0; before < 2500; before = server.received.size()) {
    ASSERT_TRUE(this->until(server, [&] { return server.received.size() > before; }));
    const std::size_t reached = server.received.size();
    EXPECT_LE(reached - before, 1000u);
    this->turn_a_little(server);
    EXPECT_EQ(server.received.size(), reached);
    server.engine.resume_receive(server.links[0]);
  }
}

KATANA_CASE(a_limited_link_delivers_no_more_at_a_time_and_in_the_end_everything) {
  typename TestFixture::TestServer server;
  std::size_t most = 0;
  server.at_accepted = [&](Link link) {
    server.engine.limit_receive(link, 300);
    return true;
  };
  server.at_bytes = [&](Link, Bytes bytes) { most = std::max(most, bytes.size()); };
  auto client = this->connect(server, server.listen(), std::string(1000, 'x'));
  client->send(std::string(500, 'y'));
  client->end();
  ASSERT_TRUE(this->until(server, [&] { return !server.input_ends.empty(); }));
  EXPECT_EQ(server.received, std::string(1000, 'x') + std::string(500, 'y'));
  EXPECT_LE(most, 300u);
}

KATANA_CASE(a_pause_and_a_limit_hold_together) {
  typename TestFixture::TestServer server;
  server.at_bytes = [&](Link link, Bytes bytes) {
    EXPECT_LE(bytes.size(), server.received.size() <= 4 ? 4u : 10u);
    server.engine.limit_receive(link, 10);
    server.engine.pause_receive(link);
  };
  auto client = this->connect(server, server.listen(), "four");
  client->send(std::string(46, 'x'));
  for (std::size_t before = 4; before < 50; before = server.received.size()) {
    ASSERT_TRUE(this->until(server, [&] {
      server.engine.resume_receive(server.links[0]);
      return server.received.size() > before;
    }));
  }
}

KATANA_CASE(a_paused_link_does_not_make_the_engine_spin) {
  typename TestFixture::TestServer server;
  auto client = this->connect(server, server.listen(), "x");
  server.engine.pause_receive(server.links[0]);
  client->send("unread");
  client->end();
  this->expect_rest(server);
  EXPECT_TRUE(server.input_ends.empty());
}

KATANA_CASE(a_link_paused_when_it_is_accepted_delivers_when_it_is_resumed) {
  typename TestFixture::TestServer server;
  server.at_accepted = [&](Link link) {
    server.engine.pause_receive(link);
    return true;
  };
  auto client = this->connect(server, server.listen(), "early");
  this->turn_a_little(server);
  EXPECT_EQ(server.received, "");
  server.engine.resume_receive(server.links[0]);
  ASSERT_TRUE(this->until(server, [&] { return server.received == "early"; }));
}

// ---- ends ----

KATANA_CASE(a_peer_that_ends_its_side_is_told_after_its_bytes_and_still_receives) {
  typename TestFixture::TestServer server;
  auto client = this->connect(server, server.listen(), "x");
  client->send("last words");
  client->end();
  ASSERT_TRUE(this->until(server, [&] { return !server.input_ends.empty(); }));
  EXPECT_EQ(server.received, "xlast words");
  EXPECT_EQ(server.send(server.links[0], "farewell"), 8u);
  server.engine.close(server.links[0]);
  ASSERT_TRUE(this->until(server, [&] {
    client->receive();
    return client->saw_end;
  }));
  EXPECT_EQ(client->received, "farewell");
  EXPECT_EQ(server.input_ends.size(), 1u);
  EXPECT_TRUE(server.broken.empty());
}

KATANA_CASE(bytes_and_end_that_are_here_before_the_accept_are_both_delivered) {
  typename TestFixture::TestServer server({.receive_bytes_max = 16});
  Client client(server.listen());
  client.send("more than sixteen octets, and then the end");
  client.end();
  ASSERT_TRUE(this->until(server, [&] { return !server.input_ends.empty(); }));
  EXPECT_EQ(server.received, "more than sixteen octets, and then the end");
}

KATANA_CASE(the_end_of_the_input_of_a_paused_link_waits_for_its_bytes_to_be_read) {
  typename TestFixture::TestServer server;
  auto client = this->connect(server, server.listen(), "x");
  server.engine.pause_receive(server.links[0]);
  client->send("rest");
  client->end();
  this->turn_a_little(server);
  EXPECT_TRUE(server.input_ends.empty());
  server.engine.resume_receive(server.links[0]);
  ASSERT_TRUE(this->until(server, [&] { return !server.input_ends.empty(); }));
  EXPECT_EQ(server.received, "xrest");
}

KATANA_CASE(a_half_closed_link_does_not_make_the_engine_spin) {
  typename TestFixture::TestServer server;
  auto client = this->connect(server, server.listen(), "x");
  client->end();
  ASSERT_TRUE(this->until(server, [&] { return !server.input_ends.empty(); }));
  this->expect_rest(server);
  EXPECT_EQ(server.input_ends.size(), 1u);
}

KATANA_CASE(a_reset_by_the_peer_is_told_even_while_the_link_is_paused) {
  typename TestFixture::TestServer server;
  const std::uint16_t port = server.listen();
  auto reading = this->connect(server, port, "x");
  auto paused = this->connect(server, port, "x");
  server.engine.pause_receive(server.links[1]);
  reading->reset();
  paused->reset();
  ASSERT_TRUE(this->until(server, [&] { return server.broken.size() >= 2; }));
  for (const Link link : server.links) server.engine.close(link);
  this->turn_a_little(server);
  EXPECT_EQ(server.broken.size(), 2u);
}

KATANA_CASE(a_reset_by_us_is_seen_by_the_peer) {
  typename TestFixture::TestServer server;
  auto client = this->connect(server, server.listen(), "x");
  server.engine.reset(server.links[0]);
  ASSERT_TRUE(this->until(server, [&] {
    client->receive();
    return client->saw_reset || client->saw_end;
  }));
  EXPECT_TRUE(client->saw_reset);
}

KATANA_CASE(the_end_of_our_side_comes_after_what_was_accepted_and_the_peer_may_go_on) {
  typename TestFixture::TestServer server;
  auto client = this->connect(server, server.listen(), "x");
  server.send(server.links[0], "the end");
  server.engine.shutdown_send(server.links[0]);
  ASSERT_TRUE(this->until(server, [&] {
    client->receive();
    return client->saw_end;
  }));
  EXPECT_EQ(client->received, "the end");
  client->send(" heard");
  client->end();
  ASSERT_TRUE(this->until(server, [&] { return !server.input_ends.empty(); }));
  EXPECT_EQ(server.received, "x heard");
}

// ---- links that are gone ----

KATANA_CASE(events_of_a_link_closed_in_the_same_turn_are_ignored) {
  typename TestFixture::TestServer server;
  const std::uint16_t port = server.listen();
  auto first = this->connect(server, port, "x");
  auto second = this->connect(server, port, "x");
  this->turn_a_little(server);
  server.received.clear();
  server.at_bytes = [&](Link link, Bytes) {
    // The first one closes the other, whose event is in the same batch.
    server.engine.close(link == server.links[0] ? server.links[1] : server.links[0]);
  };
  first->send("a");
  second->send("a");
  ASSERT_TRUE(this->until(server, [&] { return !server.received.empty(); }));
  this->turn_a_little(server);
  EXPECT_EQ(server.received, "a");
  EXPECT_TRUE(server.broken.empty());
}

KATANA_CASE(calls_for_a_link_that_is_gone_do_nothing_to_its_successor) {
  typename TestFixture::TestServer server({.links_max = 1});
  const std::uint16_t port = server.listen();
  auto first = this->connect(server, port, "x");
  const Link old = server.links[0];
  server.engine.close(old);
  auto second = this->connect(server, port, "y");
  const Link current = server.links[1];
  EXPECT_EQ(current.index, old.index);
  EXPECT_NE(current.generation, old.generation);
  Sent result = Sent::completed;
  EXPECT_EQ(server.send(old, "stale", &result), 0u);
  EXPECT_EQ(result, Sent::failed);
  server.engine.pause_receive(old);
  server.engine.shutdown_send(old);
  server.engine.reset(old);
  server.engine.close(old);
  second->send("z");
  ASSERT_TRUE(this->until(server, [&] { return server.received == "xyz"; }));
  EXPECT_EQ(server.send(current, "alive"), 5u);
}

KATANA_CASE(a_link_closed_in_any_call_of_the_sink_has_no_further_events) {
  for (int where = 0; where < 4; ++where) {
    typename TestFixture::TestServer server;
    const auto close = [&](Link link) { server.engine.close(link); };
    server.at_accepted = [&](Link link) {
      if (where == 0) close(link);
      return where != 1;
    };
    server.at_bytes = [&](Link link, Bytes) {
      if (where == 2) close(link);
    };
    server.at_closed = [&](Link link, Closed) { close(link); };
    Client client(server.listen());
    client.send("text");
    client.end();
    ASSERT_TRUE(this->until(server, [&] {
      client.receive();
      return client.saw_end || client.saw_reset;
    })) << where;
    this->turn_a_little(server);
    EXPECT_EQ(server.deliveries, where < 2 ? 0 : 1) << where;
    EXPECT_EQ(server.input_ends.size(), where == 3 ? 1u : 0u) << where;
    EXPECT_TRUE(server.broken.empty()) << where;
  }
}

KATANA_CASE(the_peers_address_is_numeric) {
  typename TestFixture::TestServer server;
  auto client = this->connect(server, server.listen(), "x");
  sockaddr_in own{};
  socklen_t size = sizeof own;
  ASSERT_EQ(getsockname(client->fd(), reinterpret_cast<sockaddr*>(&own), &size), 0);
  EXPECT_EQ(server.peers,
            std::vector<std::string>{"127.0.0.1:" + std::to_string(ntohs(own.sin_port))});
}

// ---- files ----

KATANA_CASE(a_file_follows_what_was_sent_before_it_and_receiving_goes_on) {
  typename TestFixture::TestServer server;
  TestFile file("0123456789");
  auto client = this->connect(server, server.listen(), "x");
  const Link link = server.links[0];
  // An engine may take the file only when what it holds of the reply before is gone.
  bool sent = false;
  const auto send = [&] {
    std::string head = "head ";
    const iovec part{head.data(), head.size()};
    std::size_t accepted = 0;
    const Sent result = server.engine.send_file(link, {&part, 1}, file.part(2, 5), accepted);
    if (result == Sent::pending) {
      ASSERT_EQ(accepted, 0u);
      return;
    }
    ASSERT_EQ(result, Sent::completed);
    ASSERT_EQ(accepted, 10u);
    sent = true;
    EXPECT_EQ(server.send(link, " tail"), 5u);
  };
  server.at_sent = [&](Link, std::size_t) { send(); };
  EXPECT_EQ(server.send(link, "before "), 7u);
  send();
  ASSERT_TRUE(this->until(server, [&] {
    client->receive();
    return client->received.size() == 22;
  }));
  EXPECT_TRUE(sent);
  EXPECT_EQ(client->received, "before head 23456 tail");
  client->send("more");
  ASSERT_TRUE(this->until(server, [&] { return server.received == "xmore"; }));
  EXPECT_TRUE(server.broken.empty());
}

KATANA_CASE(a_slow_reader_gets_every_byte_of_a_long_file) {
  typename TestFixture::TestServer server;
  const std::string content = numbered_lines(6'000'000);
  TestFile file(content);
  auto client = this->connect(server, server.listen(), "x");
  const Link link = server.links[0];
  FilePart rest = file.all();
  bool pending = false, failed = false;
  int waits = 0;
  server.at_sent = [&](Link, std::size_t count) {
    EXPECT_EQ(count, 0u);
    pending = false;
  };
  ASSERT_TRUE(this->until(server, [&] {
    if (!pending && !failed && rest.size > 0) {
      std::size_t accepted = 0;
      const Sent sent = server.engine.send_file(link, {}, rest, accepted);
      rest.remove_prefix(accepted);
      pending = sent == Sent::pending;
      failed = sent == Sent::failed;
      waits += pending ? 1 : 0;
    }
    if (pending || rest.size == 0) client->receive(256 * 1024);
    return failed || client->received.size() == content.size();
  }));
  EXPECT_FALSE(failed);
  EXPECT_GT(waits, 0);
  EXPECT_TRUE(client->received == content);
}

KATANA_CASE(a_file_that_ends_too_soon_fails_once_its_bytes_are_gone) {
  typename TestFixture::TestServer server;
  TestFile file("0123456789");
  file.cut(4);
  auto client = this->connect(server, server.listen(), "x");
  FilePart rest = file.all();
  Sent sent = Sent::completed;
  for (int round = 0; round < 3 && sent == Sent::completed; ++round) {
    std::size_t accepted = 0;
    sent = server.engine.send_file(server.links[0], {}, rest, accepted);
    rest.remove_prefix(accepted);
  }
  EXPECT_EQ(sent, Sent::failed);
  EXPECT_GE(rest.size, 6u);
}

KATANA_CASE(a_file_for_a_peer_that_is_gone_fails_without_a_signal) {
  std::signal(SIGPIPE, SIG_DFL);  // as in a program that says nothing about it
  typename TestFixture::TestServer server;
  TestFile file("0123456789");
  auto client = this->connect(server, server.listen(), "x");
  client->reset();
  ASSERT_TRUE(this->until(server, [&] { return !server.broken.empty(); }));
  for (int round = 0; round < 2; ++round) {  // the first may still be told of the reset itself
    std::size_t accepted = 0;
    EXPECT_EQ(server.engine.send_file(server.links[0], {}, file.all(), accepted), Sent::failed);
  }
}

#undef KATANA_CASE

REGISTER_TYPED_TEST_SUITE_P(
    EngineStreams, several_parts_are_sent_in_order,
    replies_sent_in_one_go_arrive_in_order_and_before_the_end,
    what_is_sent_right_before_the_end_of_our_side_comes_first,
    a_request_is_received_answered_and_its_connection_closed,
    more_than_a_buffer_is_delivered_in_pieces_and_read_to_the_end,
    a_large_sender_does_not_keep_others_waiting, a_slow_reader_gets_every_byte_of_a_large_reply,
    large_streams_go_both_ways_at_once_unharmed,
    sending_to_a_peer_that_is_gone_fails_without_a_signal,
    a_paused_link_delivers_nothing_until_it_is_resumed,
    a_pause_in_the_midst_of_more_than_a_buffer_stops_there,
    a_limited_link_delivers_no_more_at_a_time_and_in_the_end_everything,
    a_pause_and_a_limit_hold_together, a_paused_link_does_not_make_the_engine_spin,
    a_link_paused_when_it_is_accepted_delivers_when_it_is_resumed,
    a_peer_that_ends_its_side_is_told_after_its_bytes_and_still_receives,
    bytes_and_end_that_are_here_before_the_accept_are_both_delivered,
    the_end_of_the_input_of_a_paused_link_waits_for_its_bytes_to_be_read,
    a_half_closed_link_does_not_make_the_engine_spin,
    a_reset_by_the_peer_is_told_even_while_the_link_is_paused, a_reset_by_us_is_seen_by_the_peer,
    the_end_of_our_side_comes_after_what_was_accepted_and_the_peer_may_go_on,
    events_of_a_link_closed_in_the_same_turn_are_ignored,
    calls_for_a_link_that_is_gone_do_nothing_to_its_successor,
    a_link_closed_in_any_call_of_the_sink_has_no_further_events, the_peers_address_is_numeric,
    a_file_follows_what_was_sent_before_it_and_receiving_goes_on,
    a_slow_reader_gets_every_byte_of_a_long_file,
    a_file_that_ends_too_soon_fails_once_its_bytes_are_gone,
    a_file_for_a_peer_that_is_gone_fails_without_a_signal);

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
