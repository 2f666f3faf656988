// FakeSources: an environment, files and a user that a test gives.
//
// Owns       variables and files; the sources borrow it.
// Thread     one.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "katana/stores/database/postgres/target/sources.hpp"

namespace katana::database::postgres::target::test {

struct FakeSources {
  struct File {
    std::string content = {};
    bool is_private = true;
    bool is_plain = true;
    SourceFile::State state = SourceFile::State::read;
  };

  std::map<std::string, std::string> variables = {};
  std::map<std::string, File> files = {};
  std::string user = "system_user";
  std::string home = "/app";
  std::string socket_folder = "/var/run/postgresql";

  Sources sources() const {
    Sources made;
    made.variable = [this](const char* name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      if (found == variables.end()) return std::nullopt;
      return found->second;
    };
    made.file = [this](const std::string& path) -> SourceFile {
      const auto found = files.find(path);
      if (found == files.end()) return {};
      const File& file = found->second;
      return {.state = file.state,
              .is_plain = file.is_plain,
              .is_private = file.is_private,
              .content = SecretText(file.content)};
    };
    made.user = user;
    made.home = home;
    made.socket_folder = socket_folder;
    made.system_folder = "/etc/postgresql-common";
    return made;
  }
};

}  // namespace katana::database::postgres::target::test

// SPDX-License-Identifier: Apache-2.0
