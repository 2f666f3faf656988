// HTTP client: HttpClient, its options and requests.
//
// Links      http/client
#pragma once

#include "katana/http/client/http_client.hpp"
#include "katana/http/client/options.hpp"
#include "katana/http/client/request.hpp"
#include "katana/http/client/run.hpp"

// SPDX-License-Identifier: Apache-2.0
