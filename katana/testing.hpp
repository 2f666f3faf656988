// Testing kit: TestServer, its clients and replies.
//
// Links      testing
// Invariant  it has includes only, each from what that links.
#pragma once

#include "katana/testing/test_server.hpp"

// SPDX-License-Identifier: Apache-2.0
