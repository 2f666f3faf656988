// NatsOptions: the NATS servers of a bus, the user, and the timeouts. NatsObserver: receives the
// events of a bus.
//
// Owns       values, and the secrets of the credentials.
// Borrows    the observer, for as long as the bus lives.
// Thread     a value. The observer is called on the bus's home reactor.
// Fails      parse_nats_url() with an Error that names the URL, the mistake and the expected form.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/net/tls/client_options.hpp"
#include "katana/net/upstream/options.hpp"
#include "katana/stores/bus/bus.hpp"
#include "katana/stores/bus/nats/credentials.hpp"
#include "katana/stores/bus/sequence.hpp"

namespace katana::bus {

// Receives the events of a whole bus, for logs and metrics; subscribers are told by notices. Must
// not block.
class NatsObserver {
 public:
  virtual ~NatsObserver() = default;
  // `again`: not the first time. `away`: since it was lost; 0 the first time.
  virtual void on_connected(const std::string& server, bool again, Duration away) noexcept = 0;
  // A connection that was up has ended; attempts go on.
  virtual void on_disconnected(const std::string& server, const Error& why) noexcept = 0;
  // An attempt failed; not told again for the same reason.
  virtual void on_unreachable(const std::string& server, const Error& why) noexcept = 0;
  // The server refused something: a subscription, a publication.
  virtual void on_server_error(const std::string& server, const std::string& text) noexcept = 0;
  virtual void on_missed(Bytes pattern, Bytes subject, std::uint64_t count) noexcept = 0;
  // Streams; called on the reactor of the consumer, or on the home reactor for submitted messages.
  // `what` names the stream, and the consumer if it is durable.
  // The stream cannot go on; told again only for another reason. Retries go on until
  // on_stream_going().
  virtual void on_stream_stalled(const std::string& what, const Error& why) noexcept {
    (void)what, (void)why;
  }
  // The stream goes on, after it was lost `away` ago.
  virtual void on_stream_going(const std::string& what, Duration away) noexcept {
    (void)what, (void)away;
  }
  // Messages were lost, as `gap` says.
  virtual void on_stream_gap(const std::string& what, const Error& gap) noexcept {
    (void)what, (void)gap;
  }
  // `count` submitted messages are lost with the process: no stream has acknowledged them.
  virtual void on_not_stored(std::uint64_t count) noexcept { (void)count; }
};

struct NatsOptions {
  std::vector<upstream::Server> servers = {};  // at least one; it names those of its cluster
  // None: the connection is plain, and a server that asks for TLS is given up.
  std::optional<tls::ClientTlsOptions> tls = std::nullopt;
  Credentials credentials = {};  // the same for all servers
  // Every subject is "PREFIX.subject" on the server, but for "_INBOX.…" and "$…". The prefix is
  // tokens; empty: no prefix.
  std::string prefix = {};
  std::string client_name = "katana";
  AwayOptions away = {};
  // The interval of PING. The server counts as gone when the next PING is due and there was no
  // answer: after twice the interval at the latest.
  Duration ping_interval = seconds(2);
  Duration connect_timeout = seconds(2);
  Duration backoff_min = milliseconds(20);
  Duration backoff_max = seconds(2);
  // Bytes written and not yet taken by the kernel. Beyond them messages are kept as while the
  // server is away.
  std::size_t outgoing_bytes_max = std::size_t{4} * 1024 * 1024;
  // False: messages carry no numbers, and gaps are not found.
  bool numbers = true;
  SequencerOptions sequencer = {};
  std::size_t gap_entries_max = 64 * 1024;
  BusOptions bus = {};
  upstream::ResolverOptions resolver = {};
  NatsObserver* observer = nullptr;
  // The seed of the jitter; 0: a random one.
  std::uint64_t seed = 0;
};

// "nats://a:4222,b,nats://c:4223": servers, which are added to the options. "tls://…" asks
// for TLS. Passwords and tokens are refused: they have files.
Result<void> parse_nats_url(Bytes url, NatsOptions& options);

// The port of a server whose address has none.
inline constexpr std::uint16_t nats_port = 4222;

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
