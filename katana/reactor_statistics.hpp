// Statistics of the reactors of a server, from Observability::ask_reactors().
//
// Links      http/server
#pragma once

#include "katana/http/server/reactor_probe.hpp"

// SPDX-License-Identifier: Apache-2.0
