// Decisions of an engine or the reactor that can be taken back one by one, so that the laboratory
// can measure what each is worth.
//
//   ablation_server --decision first_read=off --decision accepts_per_event=1
//   ablation_server --engine io_uring --decision multishot_receive=off
//
// Thread     one.
// Fails      names the option, its value and the valid values; or the engine, when it has none.
#pragma once

#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/http/server/http_server.hpp"

namespace ablation {

// KEY=VALUE each; nothing is changed when there is none.
katana::Result<void> take_back(const std::vector<std::string>& settings,
                               katana::server::HttpServerOptions& options);

}  // namespace ablation

// SPDX-License-Identifier: Apache-2.0
