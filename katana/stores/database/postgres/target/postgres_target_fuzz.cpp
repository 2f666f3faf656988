// Invariant: a connection string is refused, or has the values that libpq finds in it. Its target
// is complete, and no error or description has the password. Service and password files with any
// content are read to their end.
#include <cstddef>
#include <cstdint>
#include <string>

#include "katana/base/system/check.hpp"
#include "katana/stores/database/postgres/target/libpq_fixture_test.hpp"
#include "katana/stores/database/postgres/target/password_file.hpp"
#include "katana/stores/database/postgres/target/read_target.hpp"
#include "katana/stores/database/postgres/target/service_file.hpp"
#include "katana/stores/database/postgres/target/sources_fixture_test.hpp"

namespace {

using namespace katana;
using namespace katana::database::postgres::target;

void read_string(const std::string& text) {
  if (test::is_comparable(text)) {
    KATANA_CHECK(test::parse_by_libpq(text) == test::parse_by_katana(text));
  }
  const test::FakeSources fake;
  const auto target = read_target(text, fake.sources());
  if (!target) {
    KATANA_CHECK(!target.error().describe().empty());
    return;
  }
  KATANA_CHECK(!target->servers.empty() && target->servers.size() <= servers_max);
  KATANA_CHECK(!target->user.empty() && !target->database.empty());
  for (const Server& server : target->servers) {
    KATANA_CHECK(server.port > 0);
    KATANA_CHECK(!server.host.empty() || !server.address.empty());
  }
}

// A password that stands nowhere else in the input is in no error.
void read_secret(const std::string& text) {
  constexpr std::string_view secret = "Zx9-never-shown";
  if (text.find(secret) != std::string::npos) return;
  for (const std::string& whole : {"password=" + std::string(secret) + " " + text,
                                   "postgresql://u:" + std::string(secret) + "@" + text}) {
    const test::FakeSources fake;
    const auto target = read_target(whole, fake.sources());
    const std::string shown = target ? target->describe() : target.error().describe();
    KATANA_CHECK(shown.find(secret) == std::string::npos);
  }
}

void read_files(const std::string& text) {
  Settings settings;
  const auto is_found = add_section(settings, text, "shop", "file");
  if (is_found && !*is_found) KATANA_CHECK(test::values_of(settings).empty());
  const auto password =
      find_password(text, {.host = "localhost", .port = 5432, .database = "shop", .user = "app"});
  if (password) KATANA_CHECK(password->size() <= text.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read_string(text);
  read_secret(text);
  read_files(text);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
