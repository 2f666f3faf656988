// FakeUpstream: a server that the program's HttpClient reaches in a test, in the place of the one
// on the network.
//
//   testing::FakeUpstream mail(server, "https://mail.example", [](Router& router) {
//     router.post("/send", [] { return Reply::no_content(); });
//   });
//   server.post("/orders", order);
//   EXPECT_EQ(mail.requests().at(0).content, R"({"to":"ada"})");
//   mail.fail_next(2);                            // twice 503
//
// The client is the real one: its connections, protocols, timeouts, retries and redirects. Name
// resolution and TLS are left out: an https origin is spoken to in plaintext. Requests to an origin
// without a FakeUpstream fail with an Error that names it, and nothing leaves the process.
//
// Owns       its routes, its reactor on the test's network, and the requests that it received.
// Borrows    the TestServer, which must outlive it.
// Thread     the test's.
// Allocates  for each request.
// Fails      problem() names what is wrong with the URL or the routes; requests to it then fail as
//            to an origin that is not there, and say that as well.
// Invariant  a request is recorded before it is answered, also if no route serves it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "katana/base/values/instant.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::testing {

// What the program has asked of the upstream.
struct UpstreamRequest {
  std::string method;     // "POST"
  std::string target;     // with its query
  TestFields fields;      // as they came
  std::string content;    // of a route; what none serves is not read
  bool complete = false;  // its content has come

  // The first field of that name, ignoring case; empty: none.
  std::string_view field(std::string_view name) const noexcept;
};

class FakeUpstream {
 public:
  // `url`: scheme, host and perhaps a port. Contents are recorded, so no route takes a
  // ContentReader.
  FakeUpstream(TestServer& server, std::string url, const std::function<void(Router&)>& routes);
  ~FakeUpstream();
  FakeUpstream(const FakeUpstream&) = delete;
  FakeUpstream& operator=(const FakeUpstream&) = delete;

  // Empty: it serves.
  const std::string& problem() const noexcept { return problem_; }
  // In the order in which they came.
  const std::vector<UpstreamRequest>& requests() const noexcept;
  void forget_requests() noexcept;

  // Connections are refused, and those that there are reset, until come_back().
  void go_down();
  void come_back();
  // Before each reply of a route, from now on.
  void delay(Duration time) noexcept;
  // The next `count` requests are answered so, with no content.
  void fail_next(unsigned count, unsigned status = 503) noexcept;
  // The next `count` requests get no reply: their connections are reset.
  void reset_next(unsigned count) noexcept;

 private:
  struct Core;
  std::string problem_;
  std::unique_ptr<Core> core_;  // null: a problem
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
