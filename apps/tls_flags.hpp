// TlsFlags: the flags by which a program here is told to speak TLS.
//
// Thread     a value.
// Fails      options() names the flags that do not go together.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/net/tls/options.hpp"

namespace katana::apps {

class TlsFlags {
 public:
  void describe(CLI::App& app);
  // None: TLS is not wanted.
  Result<std::optional<tls::TlsOptions>> options() const;
  Duration handshake_timeout() const {
    return nanoseconds(static_cast<std::int64_t>(handshake_s_ * 1e9));
  }

 private:
  std::vector<std::string> certificates_, keys_;
  bool development_ = false;
  std::string version_min_ = "1.2";
  std::string client_authorities_;
  double handshake_s_ = 10;
};

}  // namespace katana::apps

// SPDX-License-Identifier: Apache-2.0
