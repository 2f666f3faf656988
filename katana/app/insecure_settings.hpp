// Insecure settings: values that are allowed and that expose the program, each with its key, its
// value, what is wrong with it and what to do. For --check-config, and as errors for --strict.
//
// Owns       copies of what it names.
// Thread     any; files are looked at, and nothing is opened but the configuration's own.
// Allocates  yes.
// Fails      never: a file that cannot be looked at is an error where it is opened.
// Invariant  no text has a secret.
#pragma once

#include <string>
#include <vector>

#include "katana/app/insecure_setting.hpp"
#include "katana/app/settings.hpp"

namespace katana::app {

// What the settings do not say of the program.
struct InsecureFacts {
  bool database = false;                       // it has one
  bool client = false;                         // it has an HttpClient
  std::string config_file = {};                // that was read; empty: none
  std::vector<SecretFile> secret_files = {};   // of its parts
  std::vector<InsecureSetting> of_parts = {};  // what its parts found
};

// All of them, those of exposed_files() last.
std::vector<InsecureSetting> insecure_settings(const ApplicationSettings& settings,
                                               const InsecureFacts& facts);

// Of those, what is about files that hold secrets: keys, passwords, the configuration.
//
// Such a file belongs to the program's user or to root. No other user may read it, but of a file of
// root its group may, as PostgreSQL and Debian's ssl-cert have it. No other user may write it.
std::vector<InsecureSetting> exposed_files(const ApplicationSettings& settings,
                                           const InsecureFacts& facts);

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
