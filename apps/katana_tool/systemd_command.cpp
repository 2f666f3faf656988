#include "katana_tool/systemd_command.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "katana/base/system/result.hpp"
#include "katana_tool/files.hpp"
#include "katana_tool/new_command.hpp"
#include "katana_tool/program_command.hpp"
#include "katana_tool_templates.hpp"

namespace katana::tool {
namespace {

Result<int> write_units() {
  const auto name = project_name();
  if (!name) return std::unexpected(name.error());
  const TemplateValues values = values_of_project(*name);
  const auto path_of = [&name](std::string_view kind) {
    return std::filesystem::path(fmt::format("systemd/{}.{}", *name, kind));
  };
  if (const auto path = path_of("socket"); std::filesystem::exists(path)) {
    return fail(Code::already_exists,
                fmt::format("'{}' exists already; nothing was written", path.string()));
  }
  for (const auto& [kind, text] : {std::pair("service", embedded::file_unit_service_in),
                                   std::pair("socket", embedded::file_unit_socket_in)}) {
    const std::filesystem::path path = path_of(kind);
    const auto written = write_new_file(path, fill_template(text, values));
    if (!written) return std::unexpected(written.error());
    fmt::print("{}\n", path.string());
  }
  return 0;
}

}  // namespace

void add_systemd_command(CLI::App& add, std::function<int()>& chosen) {
  CLI::App* const command =
      add.add_subcommand("systemd", "Add hardened systemd units for the program and its port.");
  command->callback([&chosen] {
    chosen = [] {
      const auto status = write_units();
      if (status) return *status;
      fmt::print(stderr, "katana add: {}\n", status.error().describe());
      return status.error().code() == Code::unavailable ? 1 : 2;
    };
  });
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
