// KATANA_RARE: marks a function that the ordinary request does not reach.
//
// Kept out of line, so that the functions on the ordinary path save few registers and fit few cache
// lines: with some fifteen calls to a request, a prologue that saves six registers for a rare
// branch
// is a measurable part of its cost.
#pragma once

#define KATANA_RARE [[gnu::cold, gnu::noinline]]
