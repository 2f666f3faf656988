// NATS and JetStream as a bus.
//
// Links      stores/bus/nats
#pragma once

#include "katana/stores/bus/nats/nats_bus.hpp"
#include "katana/stores/bus/nats/options.hpp"

// SPDX-License-Identifier: Apache-2.0
