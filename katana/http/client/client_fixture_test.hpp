// ClientTest: an HttpClient on a reactor of net/reactor's FakeEngine; the test is the server.
//
// Owns       reactor, client, and the requests that were started.
// Thread     one.
// Invariant  only the test causes events: no clock, no kernel, no randomness.
#pragma once

#include <gmock/gmock.h>

#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "katana/http/client/http_client.hpp"
#include "katana/net/reactor/reactor_fixture_test.hpp"

namespace katana::client {

inline const std::string ok = "HTTP/1.1 200 OK\r\n";

inline HttpClientOptions test_options() {
  HttpClientOptions options;
  options.user_agent = "";
  options.decode = false;
  options.seed = 1;
  options.hosts = {{"server.test", {"192.0.2.1"}}, {"two.test", {"192.0.2.2", "192.0.2.3"}}};
  options.tls.system_authorities = false;
  return options;
}

class ClientTest : public net::ReactorTest {
 protected:
  using Reply = Task<Result<Response>>;

  explicit ClientTest(const HttpClientOptions& options = test_options())
      : net::ReactorTest(with_room()) {
    use(options);
    turn();  // the reactor of this thread
  }
  ~ClientTest() override { replies.clear(); }

  static net::ReactorOptions with_room() {
    net::ReactorOptions options = small_options();
    options.engine.links_max = 8192;
    options.engine.receive_bytes_max = 32 * 1024;
    options.carry_extra_bytes = 64 * 1024;
    return options;
  }

  void use(const HttpClientOptions& options) {
    auto made = HttpClient::make(options);
    ASSERT_TRUE(made) << made.error().describe();
    client_ = std::make_unique<HttpClient>(*std::move(made));
  }
  HttpClient& http() { return *client_; }

  // Starts the request, in its own turn.
  Reply& fetch(Request request) {
    replies.push_back(http().fetch(std::move(request)));
    replies.back().start();
    turn();
    return replies.back();
  }
  Reply& get(const std::string& url = "http://server.test/") { return fetch(Request(url)); }

  // From now on the server receives the bytes that are sent on that link.
  void answer(std::uint32_t index) {
    world_.links[index].writable = SIZE_MAX;
    if (world_.links[index].sending) complete(index);
    turn();
  }
  // The server sends `text`.
  void say(std::uint32_t index, const std::string& text) {
    bytes(index, text);
    turn();
    turn();
  }
  std::string take_sent(std::uint32_t index) { return std::exchange(world_.links[index].sent, {}); }
  void close_by_server(std::uint32_t index) {
    input_end(index);
    turn();
    turn();
  }
  // The connection is lost, with that errno.
  void lose(std::uint32_t index, int failure) {
    world_.links[index].failure = failure;
    broken(index);
    turn();
    turn();
  }
  std::size_t links() const { return world_.links.size(); }
  bool open(std::uint32_t index) const { return world_.links[index].open; }
  // Call it once. REQUIRES that the reply is done.
  static std::string error_of(Reply& reply) {
    if (!reply.done()) return "it is not done";
    auto result = reply.result();
    return result ? "status " + std::to_string(result->status()) : result.error().describe();
  }
  // Returns the result of the task; an error fails the test. Call it once.
  template <class T>
  static T taken(Task<Result<T>>& task) {
    if (!task.done()) throw std::logic_error("it is not done");
    auto result = task.result();
    EXPECT_TRUE(result) << result.error().describe();
    return std::move(result).value();
  }
  // A connection that has served one request.
  void warm_up() {
    Reply& reply = get();
    const auto index = static_cast<std::uint32_t>(links() - 1);
    answer(index);
    say(index, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    ASSERT_TRUE(reply.done());
    take_sent(index);
  }

  std::deque<Reply> replies;

 private:
  std::unique_ptr<HttpClient> client_;
};

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
