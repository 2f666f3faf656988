// HTTP client: HttpClient, its options and requests.
//
// Links      client
// Invariant  it has includes only, each from what that links.
#pragma once

#include "katana/client/http_client.hpp"
#include "katana/client/request.hpp"
#include "katana/client/run.hpp"

// SPDX-License-Identifier: Apache-2.0
