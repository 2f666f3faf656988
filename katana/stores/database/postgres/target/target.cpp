#include "katana/stores/database/postgres/target/target.hpp"

#include <fmt/format.h>

namespace katana::database::postgres::target {

std::string Server::describe() const {
  return fmt::format("{}:{}", host.empty() ? address : host, port);
}

std::string Target::describe() const {
  std::string text = user + "@";
  for (const Server& server : servers) {
    if (&server != servers.data()) text += ',';
    text += server.describe();
  }
  return text + "/" + database;
}

}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
