// CSV: rows of files that are read and written in pieces.
//
// Links      data/container
#pragma once

#include "katana/data/container/csv.hpp"

// SPDX-License-Identifier: Apache-2.0
