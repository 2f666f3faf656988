// TlsTransforms: TLS for the connections of one listener on one reactor, as the reactor's
// Transform.
//
// Owns       its counters, and a share of the present Contexts of Credentials.
// Borrows    the Credentials, which outlive it.
// Thread     its reactor's; counters() may be read when the reactor has stopped, or on its thread.
// Allocates  for each connection: its machine, and the memory of OpenSSL.
// Fails      make() is null when there is no memory.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/net/reactor/transform.hpp"
#include "katana/net/tls/credentials.hpp"
#include "katana/wire/tls/failure.hpp"

namespace katana::tls {

// The counts of the connections of one listener on one reactor.
struct TlsCounters {
  std::uint64_t handshakes_1_2 = 0;  // complete
  std::uint64_t handshakes_1_3 = 0;  // complete
  std::uint64_t resumed = 0;         // of both versions
  std::uint64_t truncated = 0;       // connections that ended without close_notify
  // Handshakes and connections that failed, by Failure.
  std::array<std::uint64_t, failure_count> failures{};

  TlsCounters& operator+=(const TlsCounters& other) noexcept {
    handshakes_1_2 += other.handshakes_1_2;
    handshakes_1_3 += other.handshakes_1_3;
    resumed += other.resumed;
    truncated += other.truncated;
    for (std::size_t each = 0; each < failures.size(); ++each)
      failures[each] += other.failures[each];
    return *this;
  }
};

class TlsTransforms final : public net::TransformFactory {
 public:
  explicit TlsTransforms(const Credentials& credentials);

  std::unique_ptr<net::Transform> make(BlockPool& blocks) noexcept override;
  // The memory of an idle connection (memory_test.cpp), and one record's buffer in each direction.
  std::size_t heap_bytes_each() const noexcept override { return std::size_t{52} * 1024; }

  // Makes a factory with the same counters, for a listener whose ALPN chooses from other protocols
  // than TlsOptions::protocols. Fails for names that do not fit RFC 7301. This object outlives it.
  Result<std::unique_ptr<net::TransformFactory>> speaking(
      const std::vector<std::string>& protocols);

  // Read on the reactor's thread, or when the reactor has stopped.
  const TlsCounters& counters() const noexcept { return counters_; }

 private:
  friend class TlsTransform;
  class Speaking;

  // `protocols`: the result of encode_protocols(); empty: the context's.
  std::unique_ptr<net::Transform> make(BlockPool& blocks, Bytes protocols) noexcept;

  const Credentials& credentials_;
  std::uint32_t generation_;
  std::shared_ptr<const Contexts> contexts_;
  TlsCounters counters_;
};

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
