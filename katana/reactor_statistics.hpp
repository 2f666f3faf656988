// Figures of the reactors of a server, as Observability::ask_reactors() has them.
//
// Links      http/server
#pragma once

#include "katana/http/server/reactor_probe.hpp"

// SPDX-License-Identifier: Apache-2.0
