#include "katana/http/server/certificate_watch.hpp"

#include <sys/stat.h>

#include <utility>

namespace katana::server {

CertificateWatch::CertificateWatch(net::Reactor& reactor, const tls::TlsOptions& options,
                                   Duration interval, std::function<void()> changed)
    : net::TimerEntry(
          [](net::TimerEntry& entry) noexcept { static_cast<CertificateWatch&>(entry).on_tick(); }),
      reactor_(reactor),
      interval_(interval),
      changed_(std::move(changed)) {
  const auto add = [this](const std::string& file) {
    if (!file.empty()) files_.push_back(file);
  };
  for (const tls::Certificate& certificate : options.certificates) {
    add(certificate.chain_file);
    add(certificate.key_file);
  }
  add(options.client_authorities_file);
  for (const std::string& file : files_) seen_.push_back(identity_of(file));
  if (!files_.empty()) reactor_.timers().arm(*this, reactor_.now() + interval_);
}

CertificateWatch::Identity CertificateWatch::identity_of(const std::string& file) noexcept {
  struct stat found;
  if (::stat(file.c_str(), &found) != 0) return {};
  return {.device = found.st_dev,
          .inode = found.st_ino,
          .size = found.st_size,
          .modified_ns = found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec};
}

void CertificateWatch::on_tick() noexcept {
  bool changed = false;
  for (std::size_t index = 0; index < files_.size(); ++index) {
    const Identity now = identity_of(files_[index]);
    changed = changed || now != seen_[index];
    seen_[index] = now;
  }
  if (changed) changed_();
  reactor_.timers().arm(*this, reactor_.now() + interval_);
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
