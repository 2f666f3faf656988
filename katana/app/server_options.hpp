// server_options_of(): the options of a server as the settings of an application say them.
// Application adds the callbacks and the objects of the running program.
//
// Thread     any; there is no state.
// Allocates  as copies of texts do.
// Fails      never: check_options() judges the result.
// Invariant  each key of `http` and `operations` is in the result, with a few exceptions. These are
//            `engine`, which is chosen at the start, and keys of the process (`form_files_max`,
//            `forms`). Keys of the routes are not in it, either: `routes`, `rate_limit`,
//            `concurrency` and `load_shedding`.
#pragma once

#include "katana/app/settings.hpp"
#include "katana/http/server/http_server.hpp"

namespace katana::app {

server::HttpServerOptions server_options_of(const ApplicationSettings& settings);

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
