// Variables: finds the environment variables that name a key of a configuration. It also explains
// the other variables that begin with the program's prefix.
//
//   NOTES_HTTP__PORT           names the key http.port: the prefix, a group, `__`, and its key
//   NOTES_HTTP_PORT            names none but is meant for one: the words name NOTES_HTTP__PORT
//   NOTES_SERVICE_HOST         names none: Kubernetes sets it for a Service with the name notes
//   NOTES_PORT=tcp://10.0.0.1  likewise, although the name is that of a setting
//
// A variable that names no group belongs to another program, and never prevents the start. A
// variable that names a group is meant for this program, and its mistakes are errors.
//
// Owns       nothing.
// Thread     any; there is no state.
// Allocates  texts.
// Fails      never.
// Invariant  no text contains the value of a variable.
#pragma once

#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/data/config/shape.hpp"

namespace katana::config {

// The separator between the keys of a path.
inline constexpr Bytes variable_separator = "__";

// The keys that a variable with the prefix names, or the reason why it names none.
struct VariableKeys {
  std::vector<std::string> path = {};  // outermost group first; empty: `words` has the reason
  std::string words = {};              // empty: the path counts, even if no key has this path
};
// The keys of a variable. `name` includes the prefix.
VariableKeys keys_of_variable(Bytes name, Bytes prefix, Bytes value, const Shape& shape);

// True if Kubernetes, or a link of Docker, sets such a variable for a Service. The value is like
// "tcp://10.0.0.1:80", and the name ends as their names do.
bool is_address_of_service(Bytes name, Bytes value) noexcept;
// The words for such a variable.
inline constexpr Bytes service_words =
    "sets nothing: Kubernetes makes it of a Service of this name (enableServiceLinks: false in the "
    "pod leaves it out)";

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
