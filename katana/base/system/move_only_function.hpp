// std::move_only_function, without the rest of <functional>, as function.hpp has std::function.
#pragma once

#if defined(__GLIBCXX__) || __has_include(<bits/move_only_function.h>)
#include <bits/move_only_function.h>
#else
#include <functional>
#endif

// SPDX-License-Identifier: Apache-2.0
