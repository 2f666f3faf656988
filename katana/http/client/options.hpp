// HttpClientOptions: limits and policies of an HttpClient.
//
// Owns       values; `tls` has names of files.
// Thread     a value.
// Fails      HttpClient::make() names the invalid option and its range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/system/function.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/coding/codec.hpp"
#include "katana/net/tls/client_options.hpp"

namespace katana::thread {
class Pool;
}

namespace katana::client {

class CookieJar;

// When HTTP/2 is used.
enum class Http2 : std::uint8_t {
  never,            // HTTP/1.1 only
  by_alpn,          // over TLS if the server agrees; HTTP/1.1 for http://
  prior_knowledge,  // also for http:// (RFC 9113 §3.3), for servers known to support it
};

// Selects the requests that are sent again after a temporary failure, in addition to those of
// HttpClientOptions::retries_max. Only idempotent methods, and Request::repeatable().
struct RetryOptions {
  // Retries after 429, 502, 503 and 504, and when no connection can be made or one is lost. The
  // pause of Retry-After is kept if it fits the deadline, and retry_after_max if that is set.
  bool transient = false;
  // Retries and hedged requests are limited, because they add to the load of a failing server. The
  // limit is the larger of a share of the requests to an origin and a number per second. It holds
  // on each reactor.
  std::uint32_t share_percent = 10;
  std::uint32_t per_second_min = 10;
};

// Stops requests to an origin that fails, on each reactor. Failures are replies of 500 or above,
// and requests without a reply: no connection, a lost one, or a passed deadline.
struct BreakerOptions {
  // Opens when this share of the requests within `window` has failed; 0: there is no circuit
  // breaker.
  std::uint32_t failures_percent = 0;
  std::uint32_t requests_min = 20;  // within the window, before it may open
  Duration window = seconds(10);
  // After this pause one request at a time passes; its success closes the breaker.
  Duration pause = seconds(5);
};

// An HTTP proxy. The environment (http_proxy and the like) is not read.
struct ProxyOptions {
  std::string url = {};  // http://host:port; empty: none
  // Basic credentials; both empty: none. Sent to the proxy, in plaintext.
  std::string user = {};
  std::string password = {};
  // Hosts that are connected to directly, with their subdomains.
  std::vector<std::string> except = {};
};

// An account at an origin that asks for Digest authentication (RFC 7616).
struct DigestOptions {
  std::string origin = {};    // http://host:port, or https
  std::string user = {};      // without a colon
  std::string password = {};  // is hashed, never sent
};

// One attempt of a request that is over. Its texts are borrowed for the call.
struct AttemptReport {
  Bytes method = {};       // "_OTHER": not a known one
  Bytes host = {};         // of the URL
  std::uint16_t port = 0;  // likewise, or that of the scheme
  unsigned status = 0;     // 0: there is no reply
  Bytes version = {};      // "1.0", "1.1" or "2"; empty: there is no reply
  Bytes error = {};        // the status from 400 on, or a code's name; empty: it succeeded
  Duration duration = {};  // of the attempt, with what it waited for a connection
};

struct HttpClientOptions {
  // For each origin (scheme, host and port), on each reactor.
  std::uint32_t connections_max = 64;
  std::uint32_t idle_max = 16;       // idle connections that are kept
  std::uint32_t waiting_max = 1024;  // requests that may wait for a connection; others fail
  Duration idle_timeout = seconds(30);
  // Origins that a reactor knows at a time; the oldest without connections are forgotten.
  std::uint32_t origins_max = 1024;

  Http2 http2 = Http2::by_alpn;
  // Concurrent requests on a connection of HTTP/2, if the server allows as many. 1 … 1,000.
  std::uint32_t streams_max = 100;

  Duration connect_timeout = seconds(5);  // for each address of the host
  Duration tls_timeout = seconds(5);      // for the handshake, once connected
  Duration timeout = seconds(30);         // for a whole request, with its retries

  // How long a request with Request::expect_continue() waits for 100 before it sends its content.
  Duration continue_timeout = seconds(1);

  std::size_t head_bytes_max = 32 * 1024;             // of a response; at most 65,535
  std::uint64_t content_bytes_max = 8 * 1024 * 1024;  // of what fetch() returns
  // Unread content that a ResponseStream holds; beyond it the connection is not read, or the
  // window of the stream is closed (HTTP/2, at least 65,535).
  std::size_t stream_bytes_max = 64 * 1024;

  // The number of retries when a kept connection is lost before the first byte of the reply. Only
  // idempotent methods are retried (RFC 9110 §9.2.2). The first retry follows at once. Each later
  // one waits a random part of backoff_min, which doubles each time up to backoff_max.
  // A server may state over HTTP/2 that it did not process a request (GOAWAY, REFUSED_STREAM). Such
  // a request is sent again with any method, and does not count as a retry. This happens up to 32
  // times, from the fifth on with the same pauses. 0: nothing is sent again.
  std::uint32_t retries_max = 2;
  Duration backoff_min = milliseconds(50);
  Duration backoff_max = seconds(2);
  // Also retries a 503 whose Retry-After is at most this. Zero: never.
  Duration retry_after_max = {};
  RetryOptions retry = {};
  BreakerOptions breaker = {};
  // fetch() sends an idempotent request a second time when no reply is complete after this time.
  // The first reply wins, and the other request is cancelled. Zero: never. See
  // Request::hedge_after().
  Duration hedge_after = {};

  // The number of redirects that are followed for a request; 0: a reply of 3xx is returned to the
  // caller. See Request::redirects().
  std::uint32_t redirects_max = 0;
  // Follows redirects from https to http. Refused by default: the request would be sent in
  // plaintext.
  bool redirects_to_plaintext = false;
  // Sends a Bearer token to an http URL. Refused by default, except to this machine: anyone on the
  // way can use the token (RFC 6750 §5.3).
  bool tokens_in_plaintext = false;
  // Headers that are not sent to another origin after a redirect, in addition to credentials
  // (wire/http/secret_names.hpp): Authorization, Cookie, X-API-Key and the like.
  std::vector<std::string> secret_fields = {};

  // fetch() sends Accept-Encoding and decodes the body; content_bytes_max limits the decoded size.
  // This does not apply to a request with its own Accept-Encoding.
  bool decode = true;
  // Codecs to decode with; coding::brotli() and coding::zstd() are separate components.
  coding::Codecs codecs = {};
  // The codings to ask for, by name; empty: all that the program has.
  std::vector<std::string> codings = {};

  // Keeps cookies between requests, and sends them with requests that have no Cookie header. Null:
  // cookies are left to the caller.
  std::shared_ptr<CookieJar> cookies = {};

  std::string user_agent = "katana";  // empty: the field is not sent
  // A request without a traceparent gets the one of the current trace, its tracestate and baggage.
  bool trace_context = true;
  tls::ClientTlsOptions tls = {};  // certificate authorities, client certificate and names of TLS

  ProxyOptions proxy = {};  // an empty URL: no proxy

  // Accounts with which the client answers a 401 of these origins, unless the request has
  // Authorization. The password is not sent. Basic and Bearer are headers of a Request.
  std::vector<DigestOptions> digest = {};

  // Numeric addresses by host name, used instead of name resolution.
  std::map<std::string, std::vector<std::string>> hosts = {};
  // Threads that resolve other names, with getaddrinfo. Borrowed. Null: two own threads, started
  // with the first name. The result is used for addresses_kept,
  // because getaddrinfo does not say how long it is valid.
  thread::Pool* resolver = nullptr;
  Duration addresses_kept = seconds(10);
  // A name that cannot be resolved fails for this long without a new attempt. All reactors share
  // the results.
  Duration failures_kept = seconds(1);
  std::uint32_t names_max = 1024;
  // Called with each attempt that is over, on its reactor. It must not block. Null: none.
  std::function<void(const AttemptReport&)> on_attempt = {};
  // Seed of the random part of the backoff; 0: a random one for each reactor.
  std::uint64_t seed = 0;
};

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
