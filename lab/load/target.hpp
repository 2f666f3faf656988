// Target: whom the load is for, and every request that is sent, as bytes that are written once.
//
// Owns       its requests and the resolved address.
// Thread     made by one, then read by all.
// Allocates  when made.
// Fails      make() says which part of the input is wrong.
#pragma once

#include <sys/socket.h>

#include <memory>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana::tls {
class ClientContext;
}

namespace katana::load {

struct Url {
  std::string host;       // without brackets
  std::string authority;  // as it goes into Host
  std::string path;       // with its query
  std::uint16_t port = 80;
  bool tls = false;
};

// http[s]://host[:port][/path][?query]; without a scheme it is http. A fragment is not sent.
Result<Url> parse_url(std::string_view text);

struct RequestSpec {
  std::string method = "GET";
  std::vector<std::string> headers;  // "Name: value"
  std::string body;
  bool announces_close = true;  // by the last request on a connection
};

struct Request {
  std::string octets;
  std::string closing_octets;  // for the last on its connection; Connection: close if announced
  bool is_head = false;
  std::string method;
  std::string path;
  // The header block of HTTP/2: see http2_requests.hpp.
  std::string block;
  std::string content;
};

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

struct Target {
  Url url;
  Address address;
  std::vector<Request> requests;                            // sent in turn
  std::shared_ptr<const tls::ClientContext> tls = nullptr;  // null: no TLS
  std::string upgrade = {};  // WebSocket: the request of the handshake
};

Result<Address> resolve(const Url& url);
// `url_list`: lines of `[METHOD] URL-or-path`, empty ones and those that begin with # left out; the
// empty list stands for the URL alone.
Result<std::vector<Request>> make_requests(const Url& url, const RequestSpec& spec,
                                           std::string_view url_list);

// `lines`: a request each as `katana openapi requests` writes it, {"method", "target", "fields",
// "content"} as JSON. The headers of `spec` are added to each.
Result<std::vector<Request>> read_requests(const Url& url, const RequestSpec& spec,
                                           std::string_view lines);

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
