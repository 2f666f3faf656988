// CertificateWatch: notices that the files of certificates, keys and authorities have changed.
//
// The watch reads the identity of each file behind all links. It notices a file that was written,
// and one that was replaced by a rename or by a link to another folder (Kubernetes). No descriptor
// is held.
//
// Owns       the names of the files, and their last identities.
// Borrows    the reactor, whose thread and timers it uses.
// Thread     its reactor's.
// Allocates  at construction.
// Fails      never: a missing file counts as changed, once.
// Invariant  changed() is called once for each check that finds a difference from the one before.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "katana/net/reactor/reactor.hpp"
#include "katana/net/tls/options.hpp"

namespace katana::server {

class CertificateWatch final : private net::TimerEntry {
 public:
  CertificateWatch(net::Reactor& reactor, const tls::TlsOptions& options, Duration interval,
                   std::function<void()> changed);

 private:
  struct Identity {
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = -1;  // there is no such file
    std::int64_t modified_ns = 0;
    bool operator==(const Identity&) const = default;
  };
  static Identity identity_of(const std::string& file) noexcept;
  void on_tick() noexcept;

  net::Reactor& reactor_;
  const Duration interval_;
  const std::function<void()> changed_;
  std::vector<std::string> files_;
  std::vector<Identity> seen_;  // one for each file
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
