// The routes of hello; main() and the test make it.
#pragma once

#include "katana/http.hpp"

katana::Result<katana::Service> make_service();

// SPDX-License-Identifier: Apache-2.0
