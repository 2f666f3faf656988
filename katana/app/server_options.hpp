// server_options_of(): the options of a server as the settings of an application say them. What a
// running program adds (callbacks, what it lends) is added by Application.
//
// Thread     any; there is no state.
// Allocates  as copies of texts do.
// Fails      never: check_options() judges the result.
// Invariant  each key of `http` and `operations` is in the result, but for `engine`, which is
//            chosen at the start, what is of the process (`form_files_max`, `forms`), and what is
//            of the routes (`routes`, `rate_limit`, `concurrency`, `load_shedding`).
#pragma once

#include "katana/app/settings.hpp"
#include "katana/http/server/http_server.hpp"

namespace katana::app {

server::HttpServerOptions server_options_of(const ApplicationSettings& settings);

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
