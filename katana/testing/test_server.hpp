// TestServer: a Service in the process of its test, without a socket and in virtual time.
//
//   testing::TestServer server(std::move(router).build());
//   testing::TestReply reply = server.post("/users", R"({"name":"ada"})");
//   EXPECT_EQ(reply.status(), 201u) << reply;
//
//   auto pending = server.begin_get("/slow");      // a handler that sleeps for 30 s
//   server.advance(seconds(30));                   // at once
//   EXPECT_EQ(pending.reply().status(), 200u);
//
//   auto socket = server.websocket("/chat");       // see test_websocket.hpp
//   auto events = server.events("/events");        // see test_events.hpp
//
// Replies that depart from the OpenAPI documents of the service fail their tests: see
// contract_check.hpp.
//
// The service runs behind its real protocol on the simulated engine: parsing, limits, timeouts and
// flow control are those of a server. Any test framework can be used, or none.
//
// Owns       the service, a reactor, the network, and its clients' connections.
// Thread     one; handlers run on it, within the calls.
// Allocates  freely: a test's tool.
// Fails      never directly; a request without a whole reply gives a TestReply with the reason, the
//            request, the received part and the seed.
// Invariant  time passes only within calls; the same options and calls give the same run, unless
//            handlers wait for threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/session/http_options.hpp"
#include "katana/net/engine/sim/sim_faults.hpp"
#include "katana/testing/pending_reply.hpp"
#include "katana/testing/test_events.hpp"
#include "katana/testing/test_reply.hpp"
#include "katana/testing/test_target.hpp"
#include "katana/testing/test_websocket.hpp"

namespace katana::testing {

class ContractCheck;

// The protocol of all requests of a server.
enum class TestProtocol : std::uint8_t {
  http1,  // a connection for each request in progress
  http2,  // one connection for all, by prior knowledge; needs HttpOptions::http2.enabled
};

// The behaviour of the server and its client.
struct TestOptions {
  // Sent with every request that has no field of the same name, such as "authorization".
  TestFields headers = {};
  session::HttpOptions http = {};
  // The faults of network and kernel: fragments, short writes, resets … By default none. See
  // Faults.
  engine::SimFaults faults = engine::SimFaults::calm();
  std::uint64_t seed = 1;
  // The virtual time that a reply may take.
  Duration reply_timeout = seconds(120);
  // The real time that threads, such as those of databases and pools, may take for expected work of
  // a reactor (Executor::expect()). Virtual time stands still meanwhile.
  Duration thread_wait = seconds(30);
  // Called while they work. True: all of them wait for virtual time, such as for the lock of a
  // request that sleeps; time then passes. See testing/postgres.
  std::function<bool()> waits_for_time = {};
  // The most bytes of a reply's body; beyond it the request ends with a problem.
  std::size_t content_bytes_max = std::size_t{64} * 1024 * 1024;
  TestProtocol protocol = TestProtocol::http1;
  // Compares requests and replies with the OpenAPI documents of the service, if it has any: see
  // contract_check.hpp.
  bool check_contract = true;
  // The check to use instead of one made from those documents.
  std::shared_ptr<ContractCheck> contract = {};
  // The client resets its connection after so many bytes of one reply. 0: never.
  std::size_t reset_after_bytes = 0;
};

class TestServer {
 public:
  // If the service could not be built, every request gets its mistakes as reply.
  explicit TestServer(Result<Service> service, TestOptions options = {});
  // Serves a program: see testing/application.
  explicit TestServer(TestTargetMaker make, TestOptions options = {});
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  // Sends a request and returns the complete reply, in virtual time. Requests have the headers of
  // TestOptions, too.
  TestReply get(std::string_view target, const TestFields& fields = {}) {
    return send("GET", target, {}, fields);
  }
  TestReply head(std::string_view target, const TestFields& fields = {}) {
    return send("HEAD", target, {}, fields);
  }
  TestReply delete_(std::string_view target, const TestFields& fields = {}) {
    return send("DELETE", target, {}, fields);
  }
  // The body has the type application/json, unless `fields` has a Content-Type.
  TestReply post(std::string_view target, std::string_view content, const TestFields& fields = {}) {
    return send("POST", target, content, fields);
  }
  TestReply put(std::string_view target, std::string_view content, const TestFields& fields = {}) {
    return send("PUT", target, content, fields);
  }
  TestReply patch(std::string_view target, std::string_view content,
                  const TestFields& fields = {}) {
    return send("PATCH", target, content, fields);
  }
  // Sends a described struct as JSON.
  template <class T>
  TestReply post_json(std::string_view target, const T& value, const TestFields& fields = {}) {
    std::string content;
    container::write_json(value, content);
    return post(target, content, fields);
  }
  template <class T>
  TestReply put_json(std::string_view target, const T& value, const TestFields& fields = {}) {
    std::string content;
    container::write_json(value, content);
    return put(target, content, fields);
  }
  TestReply send(std::string_view method, std::string_view target, std::string_view content = {},
                 const TestFields& fields = {}) {
    return begin(method, target, content, fields).reply();
  }

  // Sends the request; the handler runs as far as it can without time passing, or until the client
  // has 256 KiB of its reply. Each such request has its own connection.
  PendingReply begin(std::string_view method, std::string_view target,
                     std::string_view content = {}, const TestFields& fields = {});
  PendingReply begin_get(std::string_view target, const TestFields& fields = {}) {
    return begin("GET", target, {}, fields);
  }
  // PendingReply::send_some() and finish() send the body: in chunks, unless `fields` has a
  // Content-Length.
  PendingReply begin_pieces(std::string_view method, std::string_view target,
                            const TestFields& fields = {});

  // Connects, and waits for the reply. See test_websocket.hpp.
  TestWebSocket websocket(std::string_view target, const TestSocketOptions& options = {});
  // Opens a stream of server-sent events, and waits for its head. See test_events.hpp.
  TestEvents events(std::string_view target, const TestFields& fields = {});

  // Lets time pass: timeouts, heartbeats and sleeps within `time` run now.
  void advance(Duration time);
  Instant now() const noexcept;
  // Connections that the server has open.
  std::uint32_t connections() const noexcept;

  // Makes the service if it does not exist yet; requests do so, too. An Error, always the same,
  // says why it cannot be made.
  Result<void> start();
  // For other objects on the network of this server, such as a FakeUpstream.
  TestLoop& loop() noexcept;
  // REQUIRES a successful start().
  net::Reactor& reactor() noexcept;

 protected:
  // Sends further requests to the listener of that port.
  void use_port(std::uint16_t port);
  // Requests in progress get a problem with `why`, and clients leave.
  void leave(std::string_view why);
  // The service is gone: further requests get a problem with `why`.
  void end(std::string why);

 private:
  struct Begin;
  struct Core;
  PendingReply begin_as(const Begin& how);
  std::unique_ptr<Core> core_;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
