// KATANA_RARE: marks a function that the ordinary request does not reach.
//
// Kept out of line, so that the functions on the ordinary path save few registers and fit few cache
// lines: with some fifteen calls to a request, a prologue that saves six registers for a rare
// branch is a measurable part of its cost.
//
// KATANA_VIEW: behind a member function, says that what it returns is a view into its object: clang
// (-Wdangling, on by default) refuses a view into an object that is gone by then. Other compilers
// pass over it.
#pragma once

#define KATANA_RARE [[gnu::cold, gnu::noinline]]

#if defined(__clang__)
#define KATANA_VIEW [[clang::lifetimebound]]
#else
// On a declaration, behind its parameters; see above.
#define KATANA_VIEW
#endif

// SPDX-License-Identifier: Apache-2.0
