// talk(): a client and a machine of some Contexts talk until neither side has anything to send.
#pragma once

#include <memory>
#include <string>

#include "katana/net/tls/contexts.hpp"
#include "katana/wire/tls/machine_fixture_test.hpp"

namespace katana::tls {

inline Certificate text_of(const TestCertificate& made) {
  return {.chain_text = made.certificate_text(), .key_text = made.key_text()};
}

// Keys that tests share, because making them takes time.
inline const TestCertificate& shared_certificate() {
  static const TestCertificate made;
  return made;
}

inline TlsOptions options_with(const TestCertificate& certificate) {
  TlsOptions options;
  options.certificates.push_back(text_of(certificate));
  return options;
}

inline std::unique_ptr<Bench> talk(const Contexts& contexts, const ClientOptions& client = {}) {
  auto bench = std::make_unique<Bench>(client, contexts.first());
  bench->pass();
  return bench;
}

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
