// RestartSettings: what `restart` of the configuration says (docs/guides/deploy.md).
//
// Owns       values only.
// Thread     values.
// Allocates  as strings do.
#pragma once

#include <string>

#include "katana/app/option_descriptions.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/rules.hpp"
#include "katana/http/server/restart.hpp"

namespace katana::app {

// Of an application, where restarts are enabled unless somebody says otherwise.
struct RestartSettings : server::RestartOptions {
  RestartSettings() { enabled = true; }
  bool launcher = false;  // see app/launcher.hpp
};
KATANA_DESCRIBE(
    RestartSettings,
    (enabled, help("SIGUSR2 has another process of the program serve, which gets the listening "
                   "sockets, before this one ends; false: the signal does nothing")),
    (program, length(0, 4000),
     help("path of the program that succeeds; empty: the path by which this one was started")),
    (ready_timeout, range(milliseconds(100), seconds(3600)),
     help("a successor that does not serve by then is ended, and this process goes on")),
    (idle, range(Duration{}, seconds(3600)),
     help("for so long an idle connection may still begin a request; at most half of "
          "http.drain_timeout")),
    (spread, range(Duration{}, seconds(3600)),
     help("over so long WebSockets are told to come back (1012); at most half of "
          "http.drain_timeout")),
    (launcher,
     help("start a small process before the program gives up its rights, which starts successors "
          "for it; needed with process.sandbox: on, and where root becomes process.user")))

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
