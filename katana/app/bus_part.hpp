// The bus of a program that adds no other. It connects the reactors of the process.
//
// Owns       the bus, from start() to stop().
// Thread     as Part says.
// Allocates  the bus.
// Fails      never.
#pragma once

#include <memory>

#include "katana/app/part.hpp"
#include "katana/data/config/compiled_group.hpp"
#include "katana/stores/bus/bus.hpp"

namespace katana::app {

// `bus`.
struct MemoryBusSettings : bus::BusOptions {};

// The part "bus" of every program that has no other of this name.
std::unique_ptr<Part> memory_bus();

}  // namespace katana::app

KATANA_CONFIG_DECLARE_GROUP(katana::app::MemoryBusSettings)

// SPDX-License-Identifier: Apache-2.0
