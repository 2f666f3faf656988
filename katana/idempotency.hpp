// Idempotency keys: a request that is sent again is not carried out again.
//
// Links      identity/idempotency identity/idempotency/database
#pragma once

#include "katana/identity/idempotency/database/key_table.hpp"
#include "katana/identity/idempotency/idempotency.hpp"
#include "katana/identity/idempotency/memory_store.hpp"

// SPDX-License-Identifier: Apache-2.0
