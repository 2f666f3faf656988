// Cookies of the HTTP client: the jar that HttpClientOptions::cookies takes, and public suffixes.
//
// Links      http/client
#pragma once

#include "katana/http/client/cookie_jar.hpp"
#include "katana/http/client/public_suffixes.hpp"

// SPDX-License-Identifier: Apache-2.0
