// Describing: what a program has in place of its process while it only says what it serves
// (--print-openapi).
//
// Services are made, parts are started and routes are added. Nothing listens, no database is
// opened, no log is written, no thread is started but those of the program's own, and neither the
// environment nor files that --config does not name are looked at: the document is the same on
// every machine.
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
