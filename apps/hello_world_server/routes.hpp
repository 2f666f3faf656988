// The routes of hello_world_server, apart from the program so that tests can serve them in the
// simulator.
#pragma once

#include <functional>

#include "katana/http.hpp"

namespace hello {

// GET / and /plaintext, /json, /hello/{name}, /bytes/{n}; any method on /echo; WebSocket on
// /ws, which sends every message back.
// The routes that `add` adds are served, too.
katana::Result<katana::Service> make_service(const std::function<void(katana::Group&)>& add =
                                                 [](katana::Group&) {});

}  // namespace hello

// SPDX-License-Identifier: Apache-2.0
