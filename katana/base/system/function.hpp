// std::function, without the rest of <functional>: its searchers and binders bring hash tables and
// algorithms, 7,000 lines that a program with handlers compiles for nothing. libstdc++ has the type
// in its own header; with another standard library this is <functional>.
//
// Public headers include this one; sources include <functional>.
#pragma once

#if defined(__GLIBCXX__) || __has_include(<bits/std_function.h>)
#include <bits/std_function.h>
#else
#include <functional>
#endif

// SPDX-License-Identifier: Apache-2.0
