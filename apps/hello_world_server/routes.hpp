// The routes of hello_world_server, apart from the program so that tests can serve them in the
// simulator.
#pragma once

#include "katana/service/router.hpp"

namespace hello {

// GET / and /plaintext, /json, /hello/{name}, /bytes/{n}; any method on /echo.
katana::Result<katana::Service> make_service();

}  // namespace hello
