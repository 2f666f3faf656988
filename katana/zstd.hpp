// Zstd: a content coding for compression(), decompression() and HttpClient.
//
// Links      http/coding/zstd
#pragma once

#include "katana/http/coding/zstd/zstd.hpp"

// SPDX-License-Identifier: Apache-2.0
