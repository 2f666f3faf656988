// The words that may stand at the cursor, for the shells: their scripts in completion/ ask `katana
// --complete WORD…`. They then know the options of the program that is called.
//
// Owns       nothing.
// Thread     one.
// Allocates  the result.
// Fails      never: wrong or unknown words complete to nothing.
// Invariant  every line is a word that begins with the last of `words`, a tab and its meaning. The
//            last line may be ":file" or ":folder": names of those as well.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>

namespace katana::tool {

// `words`: those behind the program's name, up to the cursor; the last may be empty.
std::string complete(const CLI::App& app, std::span<const char* const> words);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
