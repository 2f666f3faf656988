// Several programs, their clients and the network between them, with faults and crashes by a seed.
//
// Links      testing/world
#pragma once

#include "katana/testing/world/linearizability.hpp"
#include "katana/testing/world/properties.hpp"
#include "katana/testing/world/simulate.hpp"
#include "katana/testing/world/world.hpp"

// SPDX-License-Identifier: Apache-2.0
