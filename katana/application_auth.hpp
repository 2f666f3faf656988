// app::Authentication: the verification of bearer tokens that the settings `auth` describe. An
// Application has it in its registry.
//
// Links      app
#pragma once

#include "katana/app/authentication.hpp"

// SPDX-License-Identifier: Apache-2.0
