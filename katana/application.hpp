// Application: a program from its command line to its exit status. A database joins it by the
// header of its driver, as katana/host/sqlite/sqlite.hpp.
//
// Links      host
// Invariant  it has includes only, each from what that links.
#pragma once

#include "katana/host/application.hpp"

// SPDX-License-Identifier: Apache-2.0
