// Option mistakes: finds all mistakes in the options of a server, and puts them into one Error.
// Each has the name of the option or setting, its value and the valid values. The modules behind
// REQUIRE valid options, and would abort.
//
// Thread     any; there is no state.
// Fails      by value: invalid_argument.
#pragma once

#include "katana/base/system/result.hpp"

namespace katana::server {

struct HttpServerOptions;

// Call it before anything is opened. The Error has one line for each mistake.
Result<void> check_options(const HttpServerOptions& options);

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
