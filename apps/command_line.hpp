// The command line of the small programs: parsing it, its help, and failing in one line.
//
// Owns       nothing.
// Thread     one, before others are begun.
// Allocates  freely.
// Fails      wrong usage is a line on standard error and status 2.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace command_line {

// Prints the message as one line, whatever it looks like, and returns the status.
int fail(std::string_view program, int status, std::string_view message);

// "; did you mean 'port'?" with the name that is near to `typed`, or empty.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& names);

// The status to exit with, if the program is to end here: --help, --version, or wrong usage. A
// program that needs a command and was given nothing prints its help on standard error: status 2.
std::optional<int> parse(CLI::App& app, int count, char** arguments);

// For a program that parses the command line itself: gives `app` the help of parse(), and returns a
// mistake in the words of parse().
void use_words(CLI::App& app);
std::string words_of_mistake(const CLI::App& app, const CLI::ParseError& error);

}  // namespace command_line

// SPDX-License-Identifier: Apache-2.0
