// TLS: options and credentials of servers and clients, and certificates for development.
//
// Links      tls
// Invariant  it has includes only, each from what that links.
#pragma once

#include "katana/tls/client_options.hpp"
#include "katana/tls/credentials.hpp"
#include "katana/tls/development.hpp"
#include "katana/tls/options.hpp"

// SPDX-License-Identifier: Apache-2.0
