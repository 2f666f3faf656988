// Pages: the dashboard and its files, which are part of the program.
//
// Owns       nothing.
// Thread     as a router.
// Allocates  when routes are added.
// Fails      never.
// Invariant  a page loads nothing from anywhere else: its Content-Security-Policy allows only what
//            this server serves.
#pragma once

#include "katana/http.hpp"

namespace katana::fullstack {

// Adds GET /, /dashboard.css and /dashboard.js.
void add_pages(Group routes);

}  // namespace katana::fullstack

// SPDX-License-Identifier: Apache-2.0
