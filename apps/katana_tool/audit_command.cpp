#include "katana_tool/audit_command.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/command_line.hpp"
#include "katana/observe/audit/verify.hpp"

namespace katana::tool {
namespace {

struct AuditFlags {
  std::vector<std::string> files;
  std::string key_file;
  std::string anchor;
};

int fail_audit(int status, std::string_view message) {
  return command_line::fail("katana audit", status, message);
}

std::optional<std::string> content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Without its end of line, as the program reads it.
std::optional<std::string> key_of(const std::string& path) {
  auto key = content_of(path);
  if (key && key->ends_with('\n')) key->pop_back();
  return key;
}

int run(const AuditFlags& flags) {
  std::string key;
  if (!flags.key_file.empty()) {
    auto read = key_of(flags.key_file);
    if (!read) return fail_audit(2, fmt::format("'{}' cannot be read", flags.key_file));
    key = *std::move(read);
  }
  std::string anchor = flags.anchor;
  const std::string head_file = flags.files.back() + ".head";
  if (anchor.empty() && std::filesystem::exists(head_file)) {
    anchor = content_of(head_file).value_or("");
  }
  const auto head = audit::parse_head(anchor);
  if (!head) return fail_audit(2, fmt::format("'{}' is no anchor, as NUMBER:CHAIN", anchor));
  const auto verified = audit::verify_audit(flags.files, key, head);
  if (!verified) return fail_audit(1, verified.error().describe());
  fmt::print(
      "lines {} to {} are as they were written{}\n{}\n", verified->first, verified->head.next - 1,
      flags.anchor.empty() ? "; what was cut off with its .head only --anchor would show" : "",
      audit::write_head(verified->head));
  return 0;
}

}  // namespace

void add_audit_command(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* const audit = app.add_subcommand("audit", "Verify audit logs.");
  audit->require_subcommand(1);
  auto flags = std::make_shared<AuditFlags>();
  CLI::App* const verify = audit->add_subcommand(
      "verify", "Check that no record of an audit log was changed or removed.");
  verify->add_option("FILE", flags->files, "files of the log, oldest first")
      ->type_name("FILE")
      ->required();
  verify->add_option("--key-file", flags->key_file, "key of the chain (audit.key_file)")
      ->type_name("FILE");
  verify
      ->add_option("--anchor", flags->anchor,
                   "a line NUMBER:CHAIN that was stored elsewhere; default: the one in FILE.head")
      ->type_name("NUMBER:CHAIN");
  verify->callback([flags, &chosen] { chosen = [flags] { return run(*flags); }; });
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
