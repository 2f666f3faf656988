// EngineConnects: links that we begin, the same for every engine on real sockets.
//
// Owns       nothing; a module's test instantiates the suite with its forms
//            (INSTANTIATE_TYPED_TEST_SUITE_P).
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "katana/base/system/program_fixture_test.hpp"
#include "katana/net/engine/real_fixture_test.hpp"

namespace katana::engine {

template <class Form>
class EngineConnects : public EngineTest<Form> {
 protected:
  using TestServer = typename EngineTest<Form>::TestServer;

  static Link begin(TestServer& client, std::uint16_t port) {
    const auto link = client.engine.connect({.port = port});
    EXPECT_TRUE(link) << link.error().describe();
    return *link;
  }
  // Sends all of `text`, now and as room is told of.
  static void send_all(TestServer& client, Link link, const std::string& text, std::size_t& sent) {
    const auto go_on = [&client, &text, &sent](Link to, std::size_t) {
      Sent result = Sent::completed;
      while (sent < text.size() && result == Sent::completed) {
        sent += client.send(to, std::string_view(text).substr(sent), &result);
      }
    };
    client.at_sent = [&sent, go_on](Link to, std::size_t count) {
      sent += count;
      go_on(to, 0);
    };
    go_on(link, 0);
  }
};
TYPED_TEST_SUITE_P(EngineConnects);

#define KATANA_CASE(name) TYPED_TEST_P(EngineConnects, name)

KATANA_CASE(a_link_that_we_begin_carries_bytes_both_ways) {
  typename TestFixture::TestServer server, client;
  server.at_bytes = [&](Link link, Bytes) { server.send(link, "pong"); };
  const std::uint16_t port = server.listen();
  const Link link = this->begin(client, port);
  std::size_t sent = 0;
  const std::string text = "ping";
  this->send_all(client, link, text, sent);
  ASSERT_TRUE(this->until(client, [&] {
    server.engine.turn(milliseconds(1));
    return client.received == "pong";
  }));
  EXPECT_EQ(server.received, "ping");
  client.engine.close(link);
  ASSERT_TRUE(this->until(server, [&] {
    client.engine.turn(Duration{});
    return server.input_ends.size() == 1;
  }));
  EXPECT_TRUE(client.links.empty());
}

KATANA_CASE(long_output_waits_for_the_answer_and_goes_on_as_there_is_room) {
  typename TestFixture::TestServer server, client;
  const Link link = this->begin(client, server.listen());
  std::string text(100'000, 'x');
  for (std::size_t at = 0; at < text.size(); ++at) text[at] = static_cast<char>('a' + at * 7 % 26);
  std::size_t sent = 0;
  this->send_all(client, link, text, sent);
  ASSERT_TRUE(this->until(client, [&] {
    server.engine.turn(milliseconds(1));
    return server.received.size() == text.size();
  }));
  EXPECT_TRUE(server.received == text);
}

KATANA_CASE(a_refused_link_is_broken_and_says_why) {
  typename TestFixture::TestServer client;
  const std::uint16_t port = find_free_port();
  for (const bool sends : {false, true}) {
    const std::size_t before = client.broken.size();
    int failure = 0;
    client.at_closed = [&](Link link, Closed) { failure = client.engine.failure(link); };
    const Link link = this->begin(client, port);
    Sent result = Sent::pending;
    if (sends) client.send(link, "x", &result);
    if (result == Sent::failed) {  // it was known at once
      failure = client.engine.failure(link);
    } else {
      ASSERT_TRUE(this->until(client, [&] { return client.broken.size() > before; }));
      EXPECT_EQ(client.broken.back(), link);
    }
    EXPECT_EQ(failure, ECONNREFUSED) << std::strerror(failure);
    client.engine.close(link);
  }
}

KATANA_CASE(a_link_that_is_closed_before_it_is_answered_says_nothing_more) {
  typename TestFixture::TestServer server, client;
  const std::uint16_t port = server.listen();
  for (int count = 0; count < 20; ++count) {
    const Link link = this->begin(client, port);
    if (count % 2 == 0) client.send(link, "x");
    if (count % 3 == 0) client.engine.turn(Duration{});
    count % 5 == 0 ? client.engine.reset(link) : client.engine.close(link);
  }
  client.sents = 0;
  this->turn_a_little(client);
  EXPECT_EQ(client.sents, 0);
  EXPECT_TRUE(client.broken.empty());
  EXPECT_EQ(client.deliveries, 0);
}

KATANA_CASE(a_full_table_and_a_name_are_errors) {
  typename TestFixture::TestServer server, client(Options{.links_max = 1});
  const std::uint16_t port = server.listen();
  const Link link = this->begin(client, port);
  const auto full = client.engine.connect({.port = port});
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), Code::resource_exhausted);
  client.engine.close(link);
  const auto named = client.engine.connect({.address = "localhost", .port = port});
  ASSERT_FALSE(named);
  EXPECT_NE(named.error().describe().find("'localhost' is no numeric"), std::string::npos);
  this->begin(client, port);  // neither has taken the place
}

KATANA_CASE(a_path_leads_to_a_unix_domain_socket) {
  const std::string path = "/tmp/katana_connect_" + std::to_string(::getpid()) + ".sock";
  ::unlink(path.c_str());
  sockaddr_un local{};
  local.sun_family = AF_UNIX;
  path.copy(local.sun_path, sizeof local.sun_path - 1);
  const int bound = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(bound, reinterpret_cast<const sockaddr*>(&local), sizeof local), 0);
  ASSERT_EQ(::listen(bound, 8), 0);
  typename TestFixture::TestServer server, client;
  server.at_bytes = [&](Link link, Bytes) { server.send(link, "pong"); };
  ASSERT_TRUE(server.engine.listen({.socket = bound}));
  const auto link = client.engine.connect({.address = path});
  ASSERT_TRUE(link) << link.error().describe();
  std::size_t sent = 0;
  const std::string text = "ping";
  this->send_all(client, *link, text, sent);
  EXPECT_TRUE(this->until(client, [&] {
    server.engine.turn(milliseconds(1));
    return client.received == "pong";
  }));
  ::close(bound);
  ::unlink(path.c_str());
  const auto nobody = client.engine.connect({.address = path});
  ASSERT_FALSE(nobody);
  EXPECT_NE(nobody.error().describe().find("connect to " + path + ": No such file"),
            std::string::npos)
      << nobody.error().describe();
  EXPECT_FALSE(client.engine.connect({.address = "/" + std::string(200, 'x')}));
}

KATANA_CASE(a_paused_link_is_told_nothing_until_it_is_resumed) {
  typename TestFixture::TestServer server, client;
  server.at_bytes = [&](Link link, Bytes) { server.send(link, "pong"); };
  const Link link = this->begin(client, server.listen());
  client.engine.pause_receive(link);
  const std::string text = "ping";
  std::size_t sent = 0;
  this->send_all(client, link, text, sent);
  ASSERT_TRUE(this->until(client, [&] {
    server.engine.turn(milliseconds(1));
    return server.received == "ping";
  }));
  for (int count = 0; count < 5; ++count) {
    server.engine.turn(milliseconds(1));
    client.engine.turn(milliseconds(1));
  }
  EXPECT_EQ(client.received, "");
  client.engine.resume_receive(link);
  ASSERT_TRUE(this->until(client, [&] { return client.received == "pong"; }));
}

#undef KATANA_CASE

REGISTER_TYPED_TEST_SUITE_P(EngineConnects, a_link_that_we_begin_carries_bytes_both_ways,
                            long_output_waits_for_the_answer_and_goes_on_as_there_is_room,
                            a_refused_link_is_broken_and_says_why,
                            a_link_that_is_closed_before_it_is_answered_says_nothing_more,
                            a_full_table_and_a_name_are_errors,
                            a_path_leads_to_a_unix_domain_socket,
                            a_paused_link_is_told_nothing_until_it_is_resumed);

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
