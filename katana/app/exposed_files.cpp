// Finds files with secrets that other users may read or write.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "katana/app/insecure_settings.hpp"
#include "katana/app/sandbox/privileges.hpp"
#include "katana/base/values/secrets.hpp"

namespace katana::app {
namespace {

// The user of the program once it serves.
uid_t user_of(const ProcessSettings& process) {
  if (process.user.empty() || !sandbox::is_root()) return ::geteuid();
  const auto identity = sandbox::find_identity(process.user, process.group);
  return identity ? identity->user : ::geteuid();
}

class FileCheck {
 public:
  FileCheck(uid_t user, std::vector<InsecureSetting>& found) : user_(user), found_(found) {}

  void look_at(std::string key, const std::string& file) {
    struct stat status{};
    if (file.empty() || ::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
    const unsigned mode = status.st_mode & 07777;
    if (status.st_uid != user_ && status.st_uid != 0) {
      add(std::move(key), file,
          fmt::format("it belongs to user {}, who may replace it", status.st_uid),
          "give it to root, or to the user of the program (chown)");
      return;
    }
    const unsigned forbidden = status.st_uid == 0 ? 0037 : 0077;
    if ((mode & forbidden) == 0) return;
    add(std::move(key), file,
        fmt::format("its mode is {:04o}: others than the program may {} it", mode,
                    (mode & 0022) != 0 ? "read or change" : "read"),
        fmt::format("chmod {}", status.st_uid == 0 ? "640" : "600"));
  }

 private:
  void add(std::string key, const std::string& file, std::string problem, std::string remedy) {
    found_.push_back({std::move(key), file, std::move(problem), std::move(remedy)});
  }

  const uid_t user_;
  std::vector<InsecureSetting>& found_;
};

// Values that are secrets, by key.
std::vector<std::pair<std::string, std::string_view>> secrets_of(
    const ApplicationSettings& settings, const InsecureFacts& facts) {
  std::vector<std::pair<std::string, std::string_view>> secrets = {
      {"operations.token", settings.operations.token},
      {"client.proxy.password", settings.client.proxy.password},
      {"audit.key", settings.audit.key}};
  for (const std::string& each : settings.sessions.keys) {
    secrets.emplace_back("sessions.keys", each);
  }
  for (const tls::Certificate& each : settings.http.tls.certificates) {
    secrets.emplace_back("http.tls.certificates", each.key_text);
  }
  const std::string_view url = settings.database.url;
  if (facts.database && url.find('@') != url.npos) {
    const std::string_view user = url.substr(0, url.find('@'));
    const std::size_t slashes = user.find("://");
    if (slashes != user.npos && user.find(':', slashes + 3) != user.npos) {
      secrets.emplace_back("database.url", user.substr(user.find(':', slashes + 3) + 1));
    }
  }
  return secrets;
}

// Only of a file that has secrets is it wrong that all may read it.
bool holds_a_secret(const ApplicationSettings& settings, const InsecureFacts& facts) {
  std::ifstream file(facts.config_file, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  bool found = false;
  for (const auto& [key, secret] : secrets_of(settings, facts)) {
    if (!secret.empty() && text.find(secret) != text.npos) found = true;
  }
  erase_secret(text);
  return found;
}

}  // namespace

std::vector<InsecureSetting> exposed_files(const ApplicationSettings& settings,
                                           const InsecureFacts& facts) {
  std::vector<InsecureSetting> found;
  FileCheck check(user_of(settings.process), found);
  const auto& certificates = settings.http.tls.certificates;
  for (std::size_t index = 0; index < certificates.size(); ++index) {
    check.look_at(fmt::format("http.tls.certificates[{}].key", index),
                  certificates[index].key_file);
  }
  check.look_at("client.tls.certificate.key", settings.client.tls.certificate.key_file);
  if (facts.database) {
    check.look_at("database.password_file", settings.database.password_file);
  }
  check.look_at("auth.bearer.keys_file", settings.auth.bearer.keys_file);
  check.look_at("sessions.keys_file", settings.sessions.keys_file);
  check.look_at("audit.key_file", settings.audit.key_file);
  for (const SecretFile& each : facts.secret_files) check.look_at(each.key, each.file);
  check.look_at("redis.password_file", settings.redis.password_file);
  check.look_at("redis.tls.certificate.key", settings.redis.tls.certificate.key_file);
  check.look_at("cache.redis.password_file", settings.cache.redis.password_file);
  check.look_at("cache.redis.tls.certificate.key", settings.cache.redis.tls.certificate.key_file);
  if (!facts.config_file.empty() && holds_a_secret(settings, facts)) {
    check.look_at("--config", facts.config_file);
  }
  return found;
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
