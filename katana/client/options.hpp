// HttpClientOptions: limits and policies of an HttpClient.
//
// Owns       values; `tls` has names of files.
// Thread     a value.
// Fails      HttpClient::make() names the invalid option and its range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "katana/base/instant.hpp"
#include "katana/tls/client_options.hpp"

namespace katana::thread {
class Pool;
}

namespace katana::client {

// When HTTP/2 is used.
enum class Http2 : std::uint8_t {
  never,
  by_alpn,          // over TLS if the server agrees; HTTP/1.1 for http://
  prior_knowledge,  // also for http:// (RFC 9113 §3.3), for servers known to support it
};

struct HttpClientOptions {
  // For each origin (scheme, host and port), on each reactor.
  std::uint32_t connections_max = 64;
  std::uint32_t idle_max = 16;       // idle connections that are kept
  std::uint32_t waiting_max = 1024;  // requests that may wait for a connection; others fail
  Duration idle_timeout = seconds(30);
  // Origins that a reactor knows at a time; those without connections are forgotten when needed.
  std::uint32_t origins_max = 1024;

  Http2 http2 = Http2::by_alpn;
  // Concurrent requests on a connection of HTTP/2, if the server allows as many. 1 … 1,000.
  std::uint32_t streams_max = 100;

  Duration connect_timeout = seconds(5);  // for each address of the host
  Duration tls_timeout = seconds(5);      // for the handshake, once connected
  Duration timeout = seconds(30);         // for a whole request, with its retries

  std::size_t head_bytes_max = 32 * 1024;             // of a response; at most 65,535
  std::uint64_t content_bytes_max = 8 * 1024 * 1024;  // of what fetch() returns
  // Unread content that a ResponseStream holds; beyond it the connection is not read, or the
  // window of the stream is closed (HTTP/2, at least 65,535).
  std::size_t stream_bytes_max = 64 * 1024;

  // How often a request is sent again: when a kept connection is lost before the first byte of the
  // reply and the method is idempotent (RFC 9110 §9.2.2), or, with any method, when an HTTP/2
  // server states that it did not process the request. The first retry follows at once, the others
  // after a random part of backoff_min, which doubles each time up to backoff_max.
  std::uint32_t retries_max = 2;
  Duration backoff_min = milliseconds(50);
  Duration backoff_max = seconds(2);
  // Also retries a 503 whose Retry-After is at most this. Zero: never.
  Duration retry_after_max = {};

  std::string user_agent = "katana";  // empty: the field is not sent
  tls::ClientTlsOptions tls = {};

  // Numeric addresses by host name, used instead of name resolution.
  std::map<std::string, std::vector<std::string>> hosts = {};
  // Threads that resolve other names, with getaddrinfo. Borrowed. Null: two threads of its own,
  // started with the first name. The result is used for addresses_kept.
  thread::Pool* resolver = nullptr;
  Duration addresses_kept = seconds(10);
  // Of the random part of the backoff; 0: a random seed for each reactor.
  std::uint64_t seed = 0;
};

}  // namespace katana::client
