// Requests and replies checked by an OpenAPI description; a mock that answers from one.
//
// Links      openapi/validation openapi/mock
#pragma once

#include "katana/openapi/mock/mock.hpp"
#include "katana/openapi/model/description.hpp"
#include "katana/openapi/validation/contract_routes.hpp"
#include "katana/openapi/validation/reply_checks.hpp"

// SPDX-License-Identifier: Apache-2.0
