// The spans of a program in its test: TestApplication::spans().
//
// Links      testing/application
#pragma once

#include "katana/testing/application/span_capture.hpp"
#include "katana/testing/application/test_application.hpp"

// SPDX-License-Identifier: Apache-2.0
