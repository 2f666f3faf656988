// A disk for the SQLite files of a test, which crashes, fails and fills up.
//
// Links      testing/disk
#pragma once

#include "katana/testing/disk/simulated_disk.hpp"

// SPDX-License-Identifier: Apache-2.0
