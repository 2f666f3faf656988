// TLS: options and credentials of servers and clients, and certificates for development.
//
// Links      net/tls
#pragma once

#include "katana/net/tls/client_options.hpp"
#include "katana/net/tls/credentials.hpp"
#include "katana/net/tls/development.hpp"
#include "katana/net/tls/options.hpp"

// SPDX-License-Identifier: Apache-2.0
