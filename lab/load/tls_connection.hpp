// TlsConnection: the state of a TLS connection beside its descriptor. TlsSide: the state that all
// connections of a worker share.
//
// Owns       the machine, sealed bytes that the socket has not taken, and, where sessions are
//            resumed, the one that the server offered last.
// Borrows    the objects of its side.
// Thread     its worker's. make_tls: any.
// Allocates  for each handshake, by OpenSSL; afterwards some bytes for the header of a record, and
//            its buffer unless keeps_buffers(plan).
// Fails      begin() is false without memory; make_tls() names the flag and the file.
// Invariant  output() holds at most sealed_bytes_max() between calls.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "katana/base/memory/block_pool.hpp"
#include "katana/base/memory/outbox.hpp"
#include "katana/net/tls/client_context.hpp"
#include "katana/net/tls/openssl.hpp"
#include "katana/wire/tls/machine.hpp"
#include "lab/load/plan.hpp"
#include "lab/load/target.hpp"

namespace katana::load {

// The certificates that a run trusts.
struct TlsSpec {
  bool insecure = false;         // for any server
  std::string authorities_file;  // PEM; empty: the authorities that this machine trusts
};

Result<std::shared_ptr<const tls::ClientContext>> make_tls(const TlsSpec& spec,
                                                           const LoadPlan& plan);

// OpenSSL keeps the buffers of records, 34 KiB for each connection, instead of taking them anew for
// each request. Not so for very many connections.
inline bool keeps_buffers(const LoadPlan& plan) { return plan.connections <= 4096; }

struct TlsSide;

class TlsConnection final : private tls::SessionStore {
 public:
  // Sealed by this much, it waits for the socket.
  static constexpr std::size_t sealed_bytes_enough = 16 * 1024;
  static constexpr std::size_t sealed_bytes_max() {
    return sealed_bytes_enough + tls::record_bytes_max + tls::record_overhead_max;
  }

  explicit TlsConnection(TlsSide& side) noexcept;

  // A connection is opened: the hello is in output().
  bool begin(Instant now);
  // It is given up: close_notify is in output() where one is due.
  void end();

  tls::Machine& machine() noexcept { return *machine_; }
  const tls::Machine& machine() const noexcept { return *machine_; }
  Outbox& output() noexcept { return output_; }
  const Outbox& output() const noexcept { return output_; }

 private:
  using Session = std::unique_ptr<SSL_SESSION, tls::Releases<SSL_SESSION_free>>;

  void keep(SSL_SESSION& session, Instant) noexcept override { session_.reset(&session); }

  TlsSide& side_;
  Outbox output_;
  Session session_;  // longer than the machine
  std::optional<tls::Machine> machine_;
};

struct TlsSide {
  // REQUIRES target.tls.
  TlsSide(const LoadPlan& plan, const Target& target, std::size_t connections);

  std::size_t memory_bytes_max() const noexcept;

  const std::shared_ptr<const tls::ClientContext> context;
  const std::string name;  // the server's name
  const bool resumes;
  const std::size_t connection_bytes;  // the memory of OpenSSL for one connection
  BlockPool blocks;
  const std::unique_ptr<char[]> plain;     // received, of one connection at a time
  const std::unique_ptr<char[]> gathered;  // the contents of one record
  std::deque<TlsConnection> connections;
  std::string agreed;   // the result of the first handshake
  std::string problem;  // the first there was
};

// Plaintext of one receive, at most.
inline constexpr std::size_t plain_bytes = 64 * 1024;

// Returns as much from the front as fits into one record: in place, or gathered in `room`.
Bytes front_of(const Outbox& outbox, char* room) noexcept;

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
