// Testing kit: TestServer, its clients and replies.
//
// Links      testing
#pragma once

#include "katana/testing/contract_check.hpp"
#include "katana/testing/fake_upstream.hpp"
#include "katana/testing/test_call.hpp"
#include "katana/testing/test_faults.hpp"
#include "katana/testing/test_server.hpp"

// SPDX-License-Identifier: Apache-2.0
