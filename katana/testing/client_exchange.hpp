// ClientExchange: one request of a test and the received part of its reply; ClientConnection:
// carries exchanges, by HTTP/1.1 or by HTTP/2.
//
// Owns       an exchange its received bytes; a connection its end of the network, and a share of
//            the exchanges in progress on it.
// Borrows    the network, which must outlive connections.
// Thread     one: that of its TestServer.
// Allocates  freely: a test's tool.
// Fails      by ClientExchange::reply, whose problem names the request, the received part and the
//            seed.
// Invariant  `reply` is set once, and `connection` is null from then on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/testing/test_reply.hpp"

namespace katana::engine {
class SimNetwork;
}

namespace katana::testing::detail {

class ClientConnection;

struct ClientExchange {
  std::string request;  // its method and target
  bool to_head = false;
  bool upgrades = false;  // to WebSocket
  bool in_pieces = false;

  unsigned status = 0;  // 0: no head has arrived
  TestReply::Fields fields;
  std::string content;  // so far, unless it was taken
  std::vector<TestReply> interims;
  TestReply::Fields trailers;
  std::size_t received = 0;       // bytes of the reply
  bool is_tunnel = false;         // upgraded: content is the other protocol's bytes, both ways
  std::function<void()> on_more;  // bytes of a tunnel have arrived

  // Returns the mistake of a whole reply, whatever its status; empty: none. Null: no check.
  std::function<std::string(const TestReply&)> judge;
  bool content_was_taken = false;  // a part of it was taken

  ClientConnection* connection = nullptr;  // null: not in progress
  std::optional<TestReply> reply;
  bool was_refused = false;        // by the connection: the request did not go out
  std::function<void()> on_reply;  // `reply` was set; must not destroy the connection
};

// A request as it goes out, with every field.
struct ClientRequest {
  std::string_view method;
  std::string_view target;
  const TestReply::Fields& fields;
  std::string_view content;
  bool has_content = false;
  bool in_pieces = false;  // send() sends the body
};

struct ClientOptions {
  std::uint16_t port = 0;
  std::uint32_t from = 0;  // the hosts of a world; 0: those without a number
  std::uint32_t to = 0;
  std::size_t content_bytes_max = 0;
  std::size_t reset_after_bytes = 0;  // 0: never
};

class ClientConnection {
 public:
  virtual ~ClientConnection() = default;

  // Nothing is in progress, and no exchange can be begun.
  virtual bool is_over() const = 0;
  virtual bool may_begin() const = 0;
  virtual void begin(std::shared_ptr<ClientExchange> exchange, const ClientRequest& request) = 0;
  // Sends a further part of a request body or of a tunnel. REQUIRES an exchange in progress, as do
  // the functions below.
  virtual void send(ClientExchange& exchange, Bytes bytes, bool last) = 0;
  // The client breaks off: only this exchange, where the protocol can.
  virtual void reset(ClientExchange& exchange, std::string_view why) = 0;
  // The client sends no more on this connection, and still receives.
  virtual void half_close() = 0;
  virtual void set_reading(ClientExchange& exchange, bool reads) = 0;
  // All exchanges in progress get a problem.
  virtual void give_up(std::string_view why) = 0;
};

std::unique_ptr<ClientConnection> make_http1_connection(engine::SimNetwork& network,
                                                        const ClientOptions& options);
std::unique_ptr<ClientConnection> make_http2_connection(engine::SimNetwork& network,
                                                        const ClientOptions& options);

bool is_same_name(std::string_view left, std::string_view right);
// The first value; null: no such field.
const std::string* find_field(const TestReply::Fields& fields, std::string_view name);
// The fields of a head, without its first line.
TestReply::Fields fields_of(std::string_view head);
// The problem of an exchange that has failed.
TestReply failed(const ClientExchange& exchange, std::string_view why, std::uint64_t seed);
// The complete reply; takes the contents of the exchange.
TestReply completed(ClientExchange& exchange);

}  // namespace katana::testing::detail

// SPDX-License-Identifier: Apache-2.0
