// The audit log: a chain that nothing can be taken out of unseen.
//
// Links      observe/audit
#pragma once

#include "katana/observe/audit/audit_log.hpp"
#include "katana/observe/audit/verify.hpp"

// SPDX-License-Identifier: Apache-2.0
