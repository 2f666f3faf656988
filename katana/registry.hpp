// Registry: the services of a program, made at its start.
//
// Links      base/registry
#pragma once

#include "katana/base/registry/registry.hpp"
#include "katana/base/registry/services.hpp"

// SPDX-License-Identifier: Apache-2.0
