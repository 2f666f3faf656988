// ClientExchange: one request of a test and what has come of its reply; ClientConnection: what
// carries exchanges, by HTTP/1.1 or by HTTP/2.
//
// Owns       an exchange what was received; a connection its end of the network, and a share of
//            the exchanges that are under way on it.
// Borrows    the network, which must outlive connections.
// Thread     one: that of its TestServer.
// Allocates  freely: a test's tool.
// Fails      by ClientExchange::reply, whose problem names the request, what came and the seed.
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
#include "katana/net/engine/sim/sim_network.hpp"
#include "katana/testing/test_reply.hpp"

namespace katana::testing::detail {

class ClientConnection;

struct ClientExchange {
  std::string request;  // its method and target
  bool to_head = false;
  bool upgrades = false;  // to WebSocket
  bool in_pieces = false;

  unsigned status = 0;  // 0: no head has come
  TestReply::Fields fields;
  std::string content;  // so far, unless it was taken
  std::vector<TestReply> interims;
  TestReply::Fields trailers;
  std::size_t received = 0;       // bytes of the reply
  bool is_tunnel = false;         // upgraded: content is bytes of the other protocol, both ways
  std::function<void()> on_more;  // content of a tunnel has come

  // What is wrong with a whole reply, whatever its status; empty: nothing. Null: not asked for.
  std::function<std::string(const TestReply&)> judge;
  bool content_was_taken = false;  // some of it

  ClientConnection* connection = nullptr;  // null: not under way
  std::optional<TestReply> reply;
};

// A request as it goes out, with every field.
struct ClientRequest {
  std::string_view method;
  std::string_view target;
  const TestReply::Fields& fields;
  std::string_view content;
  bool has_content = false;
  bool in_pieces = false;  // content follows by send()
};

struct ClientOptions {
  std::uint16_t port = 0;
  std::size_t content_bytes_max = 0;
  std::size_t reset_after_bytes = 0;  // 0: never
};

class ClientConnection {
 public:
  virtual ~ClientConnection() = default;

  // Nothing is under way, and nothing can be begun any more.
  virtual bool is_over() const = 0;
  virtual bool may_begin() const = 0;
  virtual void begin(std::shared_ptr<ClientExchange> exchange, const ClientRequest& request) = 0;
  // More content of a request in pieces, or of a tunnel. REQUIRES an exchange under way, as do
  // those below.
  virtual void send(ClientExchange& exchange, Bytes bytes, bool last) = 0;
  // The client's side breaks off: the exchange alone where the protocol can.
  virtual void reset(ClientExchange& exchange, std::string_view why) = 0;
  // The client sends no more on this connection, and still receives.
  virtual void half_close() = 0;
  virtual void set_reading(ClientExchange& exchange, bool reads) = 0;
  // Everything under way gets a problem.
  virtual void give_up(std::string_view why) = 0;
};

std::unique_ptr<ClientConnection> make_http1_connection(engine::SimNetwork& network,
                                                        const ClientOptions& options);
std::unique_ptr<ClientConnection> make_http2_connection(engine::SimNetwork& network,
                                                        const ClientOptions& options);

bool is_same_name(std::string_view left, std::string_view right);
// The first value; null: there is none.
const std::string* find_field(const TestReply::Fields& fields, std::string_view name);
// The fields of the lines of a head, behind its first line.
TestReply::Fields fields_of(std::string_view head);
// The problem of an exchange that came to nothing.
TestReply failed(const ClientExchange& exchange, std::string_view why, std::uint64_t seed);
// The reply as it is complete; takes what the exchange has.
TestReply completed(ClientExchange& exchange);

}  // namespace katana::testing::detail

// SPDX-License-Identifier: Apache-2.0
