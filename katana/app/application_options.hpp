// ApplicationOptions: the properties of a program that do not depend on its configuration.
//
// Owns       values and functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "katana/app/database_driver.hpp"
#include "katana/base/system/failure.hpp"
#include "katana/base/system/function.hpp"
#include "katana/http/coding/codec.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/observe/log/sink.hpp"
#include "katana/openapi/document/docs_page.hpp"
#include "katana/stores/database/migrations.hpp"
#include "katana/stores/database/statement_observer.hpp"

namespace katana::app {

// The properties of a program that do not depend on its configuration.
struct ApplicationOptions {
  std::string name = "katana";   // in messages, and of the log's first logger
  std::string version = "0";     // for --version
  std::string about = {};        // for --help
  std::string config_file = {};  // read when --config is not given, and the file exists
  // The databases that the program can use, as {app::sqlite()}; the scheme of database.url picks
  // one. Empty: no database, and none is linked. The program's Settings describe `database`, as
  // SettingsWithDatabase does.
  DatabaseDrivers database = {};
  // True: the registry has a client::HttpClient, made from the settings `client`.
  bool http_client = false;
  // Codecs with which that client decodes bodies; compression() and decompression() have their own.
  coding::Codecs http_client_codecs = {};
  // Migrations that the program carries; applied when database.migrations names no folder.
  std::vector<database::MigrationFile> migrations = {};
  // Outputs of the log that the program has itself, beside those of the settings.
  std::vector<log::SinkOptions> sinks = {};
  // Variables that begin so are configuration; empty: none are. Not taken from the name, because
  // Kubernetes sets USERS_PORT and the like for every service of a namespace.
  std::string environment_prefix = "KATANA_";
  // Variables that begin with the prefix and are no settings.
  std::vector<std::string> environment_others = {};
  // For process.sandbox: files and folders that the program uses and that no setting names. `reads`
  // are those to read, such as the folders of static_files(), and `writes` those to write.
  std::vector<std::string> reads = {};
  std::vector<std::string> writes = {};
  // The renderer of the page that shows its OpenAPI documents where the settings `docs` say so:
  // openapi::swagger_ui(). Empty: there is no such page.
  std::optional<openapi::DocsAssets> docs = {};
  // Checks replies against the program's OpenAPI documents where the setting
  // requests.check_replies says so: openapi::check_replies (openapi/validation/reply_checks.hpp).
  // Null: only replies of openapi::ContractRoutes are checked.
  void (*check_replies)(Router& router, ReplyChecks checks) = nullptr;
  // Called with every failure of a handler or a job, on its thread; see failure_log.hpp.
  std::function<void(const Failure&)> on_error = {};
  // Called with each statement of the database that is over; see statement_telemetry.hpp.
  std::function<void(const database::StatementReport&)> on_statement = {};
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
