// HTTP client: HttpClient, its options and requests.
//
// Links      http/client
// Invariant  it has includes only, each from what that links.
#pragma once

#include "katana/http/client/http_client.hpp"
#include "katana/http/client/request.hpp"
#include "katana/http/client/run.hpp"

// SPDX-License-Identifier: Apache-2.0
