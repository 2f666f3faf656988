// RestartSettings: the section `restart` of the configuration (docs/guides/deploy.md).
//
// Owns       values only.
// Thread     values.
// Allocates  as strings do.
#pragma once

#include <string>

#include "katana/http/server/restart.hpp"

namespace katana::app {

// The section `restart` of an application, where restarts are enabled by default.
struct RestartSettings : server::RestartOptions {
  RestartSettings() { enabled = true; }
  bool launcher = false;  // see app/launcher.hpp
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
