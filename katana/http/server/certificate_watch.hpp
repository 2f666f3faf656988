// CertificateWatch: notices that the files of certificates, keys and authorities have changed.
//
// Each file is asked what it is, behind all links, so one that was replaced by a rename or by a
// link to another folder (Kubernetes) is noticed like one that was written. No descriptor is held.
//
// Owns       names of files, and what they were.
// Borrows    the reactor, whose thread and timers it uses.
// Thread     its reactor's.
// Allocates  when it is made.
// Fails      never: a file that is not there is a file that changed, once.
// Invariant  changed() is called once for each look that finds something else than the last.
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
  std::vector<Identity> seen_;  // of each
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
