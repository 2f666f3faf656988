// The bus of a program by NATS servers: bus.url is "nats://HOST:PORT,…", or "memory:" for a bus of
// the process alone. Described in the guide bus.md.
//
//   app.use(app::nats());
//
// Thread     any.
// Allocates  the part.
// Fails      never; the part names the setting, or the file, that it cannot use.
#pragma once

#include <memory>

#include "katana/app/nats/bus_settings.hpp"
#include "katana/app/part.hpp"

namespace katana::app {

// Its name is "bus", as that of the group of its settings, BusSettings.
std::unique_ptr<Part> nats();

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
