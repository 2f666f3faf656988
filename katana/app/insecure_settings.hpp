// Insecure settings: values that are allowed and that expose the program. Each has its key, its
// value, the danger and the remedy. For --check-config, and as errors for --strict.
//
// Owns       copies of the values that it names.
// Thread     any; files are examined, and only those of the configuration are opened.
// Allocates  yes.
// Fails      never: a file that cannot be looked at is an error where it is opened.
// Invariant  no text has a secret.
#pragma once

#include <string>
#include <vector>

#include "katana/app/insecure_setting.hpp"
#include "katana/app/settings.hpp"

namespace katana::app {

// Facts about the program that the settings do not have.
struct InsecureFacts {
  bool database = false;                       // it has one
  bool client = false;                         // it has an HttpClient
  std::string config_file = {};                // that was read; empty: none
  std::vector<SecretFile> secret_files = {};   // of its parts
  std::vector<InsecureSetting> of_parts = {};  // findings of its parts
};

// All of them, those of exposed_files() last.
std::vector<InsecureSetting> insecure_settings(const ApplicationSettings& settings,
                                               const InsecureFacts& facts);

// The insecure settings about files that hold secrets: keys, passwords, the configuration.
//
// Such a file belongs to the program's user or to root. No other user may read or write it. But the
// group of a file of root may read it, as PostgreSQL and Debian's ssl-cert have it.
std::vector<InsecureSetting> exposed_files(const ApplicationSettings& settings,
                                           const InsecureFacts& facts);

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
