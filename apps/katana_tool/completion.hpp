// What may stand where the cursor is, for the shells: their scripts in completion/ ask
// `katana --complete WORD…`, so that they know what the program that is called knows.
//
// Owns       nothing.
// Thread     one.
// Allocates  the result.
// Fails      never: what is wrong, or unknown, completes to nothing.
// Invariant  every line is a word that begins with the last of `words`, a tab and what it means,
//            or, last, ":file" or ":folder": names of those as well.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>

namespace katana::tool {

// `words`: those behind the program's name, up to the cursor; the last may be empty.
std::string complete(const CLI::App& app, std::span<const char* const> words);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
