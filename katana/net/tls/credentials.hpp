// Credentials: the certificates that a server shows to its clients, and can replace while it runs.
//
// Owns       the present Contexts, shared with the connections made of them. Also the TicketKeys,
//            which outlast a reload: clients resume their sessions as before.
// Thread     any.
// Allocates  at load() and reload().
// Fails      load() and reload() name the wrong file or option. A failed reload changes nothing.
// Invariant  a connection keeps the certificates with which it began.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/net/tls/contexts.hpp"
#include "katana/net/tls/options.hpp"
#include "katana/net/tls/ticket_keys.hpp"

namespace katana::tls {

class Credentials {
 public:
  // Reads everything once, before the server listens.
  static Result<std::unique_ptr<Credentials>> load(const TlsOptions& options);
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;

  // Reads the files again. New connections use the new contents. Returns warnings
  // (Contexts::notes()).
  Result<std::vector<std::string>> reload();

  std::shared_ptr<const Contexts> present() const;  // for new connections; takes a lock
  // Differs after each reload. Holders of present() can tell without a lock when to call it again.
  std::uint32_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }
  const TlsOptions& options() const noexcept { return options_; }

 private:
  explicit Credentials(const TlsOptions& options);

  TlsOptions options_;
  TicketKeys tickets_;
  std::mutex reloading_;      // one at a time; the second reads all that was written before it
  mutable std::mutex mutex_;  // guards present_
  std::shared_ptr<const Contexts> present_;
  std::atomic<std::uint32_t> generation_ = 1;
};

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
