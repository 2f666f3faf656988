// Publish and subscribe, between the reactors of a process and between processes: Bus, its
// messages, streams, and the bus of one process.
//
// Links      stores/bus
#pragma once

#include "katana/stores/bus/bus.hpp"
#include "katana/stores/bus/memory_bus.hpp"
#include "katana/stores/bus/messages.hpp"
#include "katana/stores/bus/streams.hpp"
#include "katana/stores/bus/subject.hpp"

// SPDX-License-Identifier: Apache-2.0
