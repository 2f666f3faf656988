// Laboratory: options that take back one decision of an engine or the reactor, so that the
// laboratory can say what it is worth.
//
//   hello_world_server --lab first_read=off --lab accepts_per_event=1
//   hello_world_server --engine io_uring --lab multishot_receive=off
//
// Thread     one.
// Fails      names the option, its value and what it may be; or the engine, when it has none.
#pragma once

#include <string>
#include <vector>

#include "katana/base/result.hpp"
#include "katana/host/http_server.hpp"

namespace hello {

// KEY=VALUE each; nothing is changed when there is none.
katana::Result<void> take_back(const std::vector<std::string>& settings,
                               katana::host::HttpServerOptions& options);

}  // namespace hello
