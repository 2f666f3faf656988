// The library for clients that `katana openapi generate` writes.
//
// Links      openapi/client
#pragma once

#include "katana/openapi/client/operation_call.hpp"

// SPDX-License-Identifier: Apache-2.0
