// Describing: the Embedding of a program that only prints the document of its routes
// (--print-openapi).
//
// Services are made, parts are started and routes are added. Nothing listens, no database is
// opened, no log is written, and only the program itself starts threads. Neither the environment
// nor files that --config does not name are read: the document is the same on every machine.
//
// Owns       functions.
// Thread     one.
// Allocates  as functions do.
// Fails      every call of the database: unavailable. A pool refuses every job.
#pragma once

#include "katana/app/embedding.hpp"

namespace katana::app {

// To start an application with, for its document alone.
Embedding describing();

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
