// app::Caches and HttpCache: caches that the settings `cache` describe. An Application has both in
// its registry.
//
// Links      app
#pragma once

#include "katana/app/caches.hpp"

// SPDX-License-Identifier: Apache-2.0
