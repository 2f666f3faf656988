// add_live_pages(): what the program does right now, as pages of operations.
//
//   GET /operations                the page for browsers, which asks the pages below
//   GET /operations/state          everything, with the oldest requests and statements; ?limit=20
//   GET /operations/requests       requests in flight, oldest first; ?route= ?client= ?older=1s
//                                  ?limit=100
//   GET /operations/connections    connections, oldest first; ?client= ?older= ?paused=true ?limit=
//   GET /operations/coroutines     suspended coroutines and what they await, longest waiting first;
//                                  ?route= ?older=1s ?limit=100
//   GET /operations/statements     statements of the database that run; ?limit=
//   GET /operations/history        the last quarter of an hour, in columns of ten seconds
//   GET /operations/log            the last records of the log
//   GET /operations/configuration  every setting with its origin, as --print-config prints it
//
// Owns       nothing.
// Borrows    the state, which outlives the service.
// Thread     any reactor's.
// Allocates  replies.
// Fails      400 names the parameter that is wrong.
// Invariant  a list is written in parts: a reactor is not kept from its requests for longer than a
//            part takes. Secrets are not shown.
#pragma once

#include "katana/app/live_state.hpp"
#include "katana/http/handlers/router.hpp"

namespace katana::app {

// `shell`: the group of the files of the page, which say nothing of the program. `group`: that of
// what it shows.
void add_live_pages(Group& group, Group& shell, const LiveState& state);

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
