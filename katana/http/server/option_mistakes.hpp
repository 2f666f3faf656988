// Option mistakes: what is wrong with the options of a server, every one of them in one Error, each
// with the option's or the setting's name, what it is and what it may be. The modules behind
// REQUIRE the same of what they are given, and would abort.
//
// Thread     any; there is no state.
// Fails      by value: invalid_argument.
#pragma once

#include "katana/base/system/result.hpp"

namespace katana::server {

struct HttpServerOptions;

// Before anything is opened. The Error has one line for each mistake.
Result<void> check_options(const HttpServerOptions& options);

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
