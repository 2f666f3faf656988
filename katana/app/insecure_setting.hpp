// InsecureSetting: a value that is allowed and that exposes the program. SecretFile: a file whose
// rights are looked at, because it holds a secret.
//
// Owns       its texts.
// Thread     values.
// Allocates  as strings do.
// Fails      never; its texts have no secret.
#pragma once

#include <string>

namespace katana::app {

// One finding.
struct InsecureSetting {
  std::string key;      // of the configuration, or the flag that names the file
  std::string value;    // as it is configured; of a secret "***"
  std::string problem;  // a sentence without its end
  std::string remedy;   // likewise

  // "http.address is 0.0.0.0: …; set …"
  std::string describe() const;
};

// A file with a secret, whose mode the start checks.
struct SecretFile {
  std::string key;   // of the configuration
  std::string file;  // empty: none is set
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
