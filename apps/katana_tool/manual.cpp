#include "katana_tool/manual.hpp"

#include <fmt/format.h>

#include <string_view>

#include "apps/option_words.hpp"
#include "katana_tool/template_text.hpp"
#include "katana_tool_templates.hpp"

namespace katana::tool {
namespace {

using namespace command_line;

// troff reads a backslash, a hyphen, and a line that begins with a dot or an apostrophe. Characters
// beyond ASCII have names.
std::string escaped(std::string_view text) {
  std::string page;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\') {
      page += "\\e";
    } else if (text[at] == '-') {
      page += "\\-";
    } else if (text.substr(at).starts_with("…")) {
      page += "...";
      at += std::string_view("…").size() - 1;
    } else {
      page += text[at];
    }
  }
  return page;
}

// Lines of at most 79 bytes, which is the style of pages; none begins like a request of troff.
std::string paragraph(std::string_view text) {
  std::string lines;
  std::size_t column = 0;
  for (const std::string& word : CLI::detail::split(escaped(text), ' ')) {
    const bool fits = column > 0 && column + 1 + word.size() <= 79;
    if (!lines.empty()) lines += fits ? ' ' : '\n';
    if (!fits && (word.starts_with('.') || word.starts_with('\''))) lines += "\\&";
    lines += word;
    column = fits ? column + 1 + word.size() : word.size();
  }
  return lines;
}

std::string flag_line(const CLI::Option& flag) {
  std::string line;
  for (const std::string& name : flag.get_snames()) line += fmt::format("\\fB\\-{}\\fR, ", name);
  for (const std::string& name : flag.get_lnames()) {
    line += fmt::format("\\fB\\-\\-{}\\fR, ", escaped(name));
  }
  line.resize(line.size() - 2);
  const std::string value = value_name(flag);
  return value.empty() ? line : fmt::format("{} \\fI{}\\fR", line, escaped(value));
}

void add_entry(std::string& page, const std::string& head, const CLI::Option& option) {
  page += fmt::format(".TP\n{}\n{}\n", head, paragraph(meaning_of(option)));
}

std::string synopsis(const CLI::App& app, const std::string& name) {
  std::string line = fmt::format("\\fB{}\\fR", escaped(name));
  if (flags_of(app).size() > 1) line += " [\\fIflags\\fR]";  // more than --help
  for (const CLI::Option* const each : positionals_of(app)) {
    const bool more = each->get_items_expected_max() > 1;
    const std::string word =
        fmt::format("\\fI{}\\fR{}", escaped(each->get_name(true)), more ? " ..." : "");
    line += each->get_required() ? " " + word : fmt::format(" [{}]", word);
  }
  return line;
}

// A command that only has subcommands is described by them.
void add_command(std::string& page, const CLI::App& app, const std::string& name) {
  const auto below = subcommands_of(app);
  if (below.empty()) {
    page += fmt::format(".SS {}\n{}\n.PP\n{}\n", escaped(name), paragraph(app.get_description()),
                        synopsis(app, name));
    for (const CLI::Option* const each : positionals_of(app)) {
      add_entry(page, fmt::format("\\fI{}\\fR", escaped(each->get_name(true))), *each);
    }
    for (const CLI::Option* const each : flags_of(app)) {
      if (each != app.get_help_ptr()) add_entry(page, flag_line(*each), *each);
    }
  }
  for (const CLI::App* const each : below) {
    add_command(page, *each, fmt::format("{} {}", name, each->get_name()));
  }
}

}  // namespace

std::string manual_page(const CLI::App& app) {
  std::string commands, flags;
  for (const CLI::App* const each : subcommands_of(app)) {
    add_command(commands, *each, fmt::format("{} {}", app.get_name(), each->get_name()));
  }
  for (const CLI::Option* const each : flags_of(app)) add_entry(flags, flag_line(*each), *each);
  TemplateValues values;
  values.values = {{"version", KATANA_VERSION}, {"commands", commands}, {"flags", flags}};
  return fill_template(embedded::file_katana_1_in, values);
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
