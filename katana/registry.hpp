// Registry: the services of a program, made at its start.
//
// Links      base/registry
// Invariant  it has includes only, each from what that links.
#pragma once

#include "katana/base/registry/registry.hpp"

// SPDX-License-Identifier: Apache-2.0
