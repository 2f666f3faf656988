// Publish and subscribe, between the reactors of a process and between processes: Bus, its
// messages, streams, and the bus of one process.
//
// Links      bus
// Invariant  it has includes only, each from what that links.
#pragma once

#include "katana/bus/bus.hpp"
#include "katana/bus/memory_bus.hpp"
#include "katana/bus/messages.hpp"
#include "katana/bus/streams.hpp"
#include "katana/bus/subject.hpp"

// SPDX-License-Identifier: Apache-2.0
