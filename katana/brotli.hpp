// Brotli: a content coding for compression(), decompression() and HttpClient.
//
// Links      http/coding/brotli
#pragma once

#include "katana/http/coding/brotli/brotli.hpp"

// SPDX-License-Identifier: Apache-2.0
