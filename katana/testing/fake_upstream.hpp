// FakeUpstream: a server that the program's HttpClient reaches in a test, instead of the one on the
// network.
//
//   testing::FakeUpstream mail(server, "https://mail.example", [](Router& router) {
//     router.post("/send", [] { return Reply::no_content(); });
//   });
//   server.post("/orders", order);
//   EXPECT_EQ(mail.requests().at(0).content, R"({"to":"ada"})");
//   mail.fail_next(2);                            // twice 503
//
// The client is the real one: its connections, protocols, timeouts, retries and redirects. Name
// resolution and TLS are left out: connections to an https origin are plaintext. Requests to an
// origin without a FakeUpstream fail with an Error that names it. Nothing leaves the process.
//
// Owns       its routes, its reactor on the test's network, and the requests that it received.
// Borrows    the TestServer or the TestLoop, which must outlive it.
// Thread     the test's.
// Allocates  for each request.
// Fails      problem() names the mistake in the URL or the routes. Requests to it then fail like
//            those to an unknown origin, and their Error has the mistake.
// Invariant  a request is recorded before it is answered, even if no route serves it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "katana/base/values/instant.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::testing {

// A request of the program to the upstream.
struct UpstreamRequest {
  std::string method;     // "POST"
  std::string target;     // with its query
  TestFields fields;      // as received
  std::string content;    // only of a request that a route serves
  bool complete = false;  // its content has arrived completely

  // The first field of that name, ignoring case; empty: none.
  std::string_view field(std::string_view name) const noexcept;
};

class FakeUpstream {
 public:
  // `url`: scheme, host and perhaps a port. Request bodies are recorded: no route can take a
  // ContentReader.
  FakeUpstream(TestServer& server, std::string url, const std::function<void(Router&)>& routes)
      : FakeUpstream(server.loop(), std::move(url), routes) {}
  // The same on a loop that several programs share.
  FakeUpstream(TestLoop& loop, std::string url, const std::function<void(Router&)>& routes);
  ~FakeUpstream();
  FakeUpstream(const FakeUpstream&) = delete;
  FakeUpstream& operator=(const FakeUpstream&) = delete;

  // Empty: it serves requests.
  const std::string& problem() const noexcept { return problem_; }
  // All requests, in the order of arrival.
  const std::vector<UpstreamRequest>& requests() const noexcept;
  void forget_requests() noexcept;

  // Refuses connections and resets existing ones, until come_back().
  void go_down();
  void come_back();
  // Waits so long before each reply of a route, from now on.
  void delay(Duration time) noexcept;
  // Answers the next `count` requests with this status, without content.
  void fail_next(unsigned count, unsigned status = 503) noexcept;
  // Resets the connections of the next `count` requests, without a reply.
  void reset_next(unsigned count) noexcept;

 private:
  struct Core;
  std::string problem_;
  std::unique_ptr<Core> core_;  // null: it has a problem
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
