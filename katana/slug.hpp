// The part of a URL that a title makes: slug_of().
//
// Links      base
#pragma once

#include "katana/base/text/slug.hpp"

// SPDX-License-Identifier: Apache-2.0
