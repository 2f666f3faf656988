// HttpClientOptions: the limits and the manners of an HttpClient.
//
// Owns       values; names of files inside of `tls`.
// Thread     a value.
// Fails      HttpClient::make() says which option is wrong and what it may be.
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

// Whether HTTP/2 is spoken.
enum class Http2 : std::uint8_t {
  never,
  by_alpn,          // over TLS, with servers that agree; http:// is HTTP/1.1
  prior_knowledge,  // and http:// at once (RFC 9113 §3.3), with servers that are known to speak it
};

struct HttpClientOptions {
  // Of each origin (scheme, host and port), on each reactor.
  std::uint32_t connections_max = 64;
  std::uint32_t idle_max = 16;       // kept for the next request; the one used last goes first
  std::uint32_t waiting_max = 1024;  // requests that wait for a connection; one more is refused
  Duration idle_timeout = seconds(30);
  // Origins that a reactor knows at a time. Those without connections are forgotten.
  std::uint32_t origins_max = 1024;

  Http2 http2 = Http2::by_alpn;
  // Requests that share a connection of HTTP/2, as far as the server allows. 1 … 1,000.
  std::uint32_t streams_max = 100;

  Duration connect_timeout = seconds(5);  // for each address of the host
  Duration tls_timeout = seconds(5);      // for the handshake, once connected
  Duration timeout = seconds(30);         // for all of a request, with its retries

  std::size_t head_bytes_max = 32 * 1024;             // of a response; at most 65,535
  std::uint64_t content_bytes_max = 8 * 1024 * 1024;  // of what fetch() returns
  // What a stream holds of content that nobody has read; beyond it the connection is not read, or
  // the server is not allowed to send more on the stream (HTTP/2, at least 65,535).
  std::size_t stream_bytes_max = 64 * 1024;

  // A request is sent again when the kept connection that it went out on ended before the first
  // byte of a reply, and its method is idempotent (RFC 9110 §9.2.2); and, whatever its method, when
  // a server of HTTP/2 says that it did nothing about it. So many times, the first time at once,
  // then after a random part of backoff_min, doubled each time up to backoff_max.
  std::uint32_t retries_max = 2;
  Duration backoff_min = milliseconds(50);
  Duration backoff_max = seconds(2);
  // And when it was answered 503 with a Retry-After of no more than this. Zero: not at all.
  Duration retry_after_max = {};

  std::string user_agent = "katana";  // empty: none is said
  tls::ClientTlsOptions tls = {};

  // Numeric addresses of hosts that are not to be looked up.
  std::map<std::string, std::vector<std::string>> hosts = {};
  // Other names are looked up by getaddrinfo, on these threads; null: two of its own, made when the
  // first name is met. Borrowed. What was found is used for so long.
  thread::Pool* resolver = nullptr;
  Duration addresses_kept = seconds(10);
  // For the random part of a backoff; 0: another one for each reactor.
  std::uint64_t seed = 0;
};

}  // namespace katana::client
