// KATANA_RARE: marks a function that an ordinary request does not call.
//
// The compiler keeps it out of line. The functions on the ordinary path then save fewer registers
// and fill fewer cache lines. A request makes some fifteen calls: a prologue that saves six
// registers for a rare branch is a measurable part of its cost.
//
// KATANA_VIEW: stands behind a member function that returns a view into its object. Clang
// (-Wdangling, on by default) then refuses a view into a destroyed object. Other compilers ignore
// it.
#pragma once

#define KATANA_RARE [[gnu::cold, gnu::noinline]]

#if defined(__clang__)
#define KATANA_VIEW [[clang::lifetimebound]]
#else
// Stands behind the parameters of a declaration; see above.
#define KATANA_VIEW
#endif

// SPDX-License-Identifier: Apache-2.0
