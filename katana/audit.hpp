// The audit log: a chain in which a removed record is detected.
//
// Links      observe/audit
#pragma once

#include "katana/observe/audit/audit_log.hpp"
#include "katana/observe/audit/verify.hpp"

// SPDX-License-Identifier: Apache-2.0
