// The name of PostgreSQL's machines within the driver, whose own namespace ends with the same word.
#pragma once

#include "katana/wire/postgres/messages.hpp"

namespace katana::database::postgres {
namespace protocol = ::katana::postgres;
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
