// Credentials: what a server shows to its clients, and may show anew while it runs.
//
// Owns       the present Contexts, shared with the connections made of them, and the TicketKeys,
//            which outlast a reload: clients resume their sessions as before.
// Thread     any.
// Allocates  at load() and reload().
// Fails      load() and reload() name the file or option that is wrong. A reload that fails changes
//            nothing.
// Invariant  a connection goes on with what it began with.
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

  // Reads the files again. New connections get what they hold now. Returns what should be known of
  // them (Contexts::notes()).
  Result<std::vector<std::string>> reload();

  std::shared_ptr<const Contexts> present() const;  // what new connections get; takes a lock
  // Differs after each reload, so that who keeps present() knows without a lock when to ask again.
  std::uint32_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }
  const TlsOptions& options() const noexcept { return options_; }

 private:
  explicit Credentials(const TlsOptions& options);

  TlsOptions options_;
  TicketKeys tickets_;
  std::mutex reloading_;      // one at a time; the second reads what was written before it
  mutable std::mutex mutex_;  // guards present_
  std::shared_ptr<const Contexts> present_;
  std::atomic<std::uint32_t> generation_ = 1;
};

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
