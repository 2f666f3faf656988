// An application with processes that exchange messages by NATS.
//
// Links      app/nats
#pragma once

#include "katana/app/application_core.hpp"
#include "katana/app/nats/nats.hpp"

// SPDX-License-Identifier: Apache-2.0
