// Variables: which variables of the environment name a key of a configuration, and what is said of
// the others that begin with the program's prefix.
//
//   NOTES_HTTP__PORT           of the key http.port: the prefix, a group, `__`, and a key of it
//   NOTES_HTTP_PORT            of none, and meant as one: the words name NOTES_HTTP__PORT
//   NOTES_SERVICE_HOST         of none: Kubernetes makes it of a Service that is called notes
//   NOTES_PORT=tcp://10.0.0.1  likewise, although the name is that of a setting
//
// A variable that names no group is another's, whom the program has no say in, and never keeps it
// from starting. One that names a group is meant for the program, and its mistakes are errors.
//
// Owns       nothing.
// Thread     any; there is no state.
// Allocates  texts.
// Fails      never.
// Invariant  no text has the value of a variable.
#pragma once

#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/data/config/shape.hpp"

namespace katana::config {

// What stands between the keys of a path.
inline constexpr Bytes variable_separator = "__";

// For a variable with the prefix: the keys that it names, or why it names none.
struct VariableKeys {
  std::vector<std::string> path = {};  // the outermost group comes first; empty: `words` says why
  std::string words = {};              // empty: the path is meant, whether it leads anywhere or not
};
// `name`: with the prefix.
VariableKeys keys_of_variable(Bytes name, Bytes prefix, Bytes value, const Shape& shape);

// Whether Kubernetes, or a link of Docker, makes such a variable of a Service: "tcp://10.0.0.1:80"
// for a name that ends as theirs do.
bool is_address_of_service(Bytes name, Bytes value) noexcept;
// What is said of one.
inline constexpr Bytes service_words =
    "sets nothing: Kubernetes makes it of a Service of this name (enableServiceLinks: false in the "
    "pod leaves it out)";

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
