// Application: a program from its command line to its exit status. A database joins it by the
// header of its driver, as katana/app/sqlite/sqlite.hpp.
//
// Links      app
#pragma once

#include "katana/app/application.hpp"

// SPDX-License-Identifier: Apache-2.0
