// Handlers whose statements take effect together: app::in_transaction().
//
// Links      app
#pragma once

#include "katana/app/in_transaction.hpp"

// SPDX-License-Identifier: Apache-2.0
