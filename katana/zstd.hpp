// Zstd: a content coding for compression(), decompression() and HttpClient.
//
// Links      http/coding/zstd
// Invariant  it has includes only, each from what that links.
#pragma once

#include "katana/http/coding/zstd/zstd.hpp"

// SPDX-License-Identifier: Apache-2.0
