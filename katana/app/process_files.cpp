// Which files a program uses, by its settings: the rules of process.sandbox.
#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "katana/app/process_rules.hpp"
#include "katana/http/server/listener_options.hpp"

namespace katana::app {
namespace {

namespace fs = std::filesystem;

// Paths that the C library, OpenSSL, the metrics and the placement of reactors read. Missing ones
// are left out.
constexpr const char* of_the_system[] = {
    "/usr",
    "/lib",
    "/lib64",
    "/etc/ssl",
    "/etc/pki",
    "/etc/ca-certificates",
    "/etc/hosts",
    "/etc/resolv.conf",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/group",
    "/etc/localtime",
    "/etc/ld.so.cache",
    "/proc/self",
    "/proc/stat",
    "/proc/meminfo",
    "/proc/sys/kernel",
    "/proc/sys/net",
    "/proc/sys/vm",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/fs/cgroup",
    "/dev/null",
    "/dev/urandom",
};

// Folders of files for name resolution. The files are replaced while the program runs, and a rule
// for a file does not cover its replacement: therefore rules name the folders.
constexpr const char* of_name_resolution[] = {"/etc", "/run/systemd/resolve", "/run/resolvconf",
                                              "/run/nscd"};

class Paths {
 public:
  explicit Paths(std::vector<std::string>& paths) : paths_(paths) {}

  void add(const fs::path& path) {
    std::error_code failure;
    std::string absolute = fs::absolute(path, failure).lexically_normal().string();
    while (absolute.size() > 1 && absolute.ends_with('/')) absolute.pop_back();
    if (failure || std::ranges::find(paths_, absolute) != paths_.end()) return;
    paths_.push_back(std::move(absolute));
  }
  // The folder that a file is in, and the one that a link leads to.
  void add_folder_of(const std::string& file) {
    if (file.empty()) return;
    std::error_code failure;
    const fs::path absolute = fs::absolute(file, failure);
    add(absolute.parent_path());
    const fs::path target = fs::canonical(absolute, failure);
    if (!failure) add(target.parent_path());
  }

 private:
  std::vector<std::string>& paths_;
};

constexpr std::string_view sqlite_scheme = "sqlite:";

void add_database(const DatabaseSettings& database, Paths& read, Paths& write) {
  read.add_folder_of(database.password_file);
  if (!database.migrations.empty()) read.add(database.migrations);
  if (!database.url.starts_with(sqlite_scheme)) return;
  const std::string file = database.url.substr(sqlite_scheme.size());
  if (file == ":memory:") {
    write.add("/dev/shm");
  } else {
    write.add_folder_of(file);
  }
  std::error_code failure;  // SQLite sorts in files without names, when a result is large
  write.add(fs::temp_directory_path(failure));
  write.add("/var/tmp");
}

std::vector<std::string> listener_addresses(const ApplicationSettings& settings) {
  std::vector<std::string> addresses = {settings.http.address};
  for (const server::ListenerOptions& each : settings.http.listeners) {
    addresses.push_back(each.address);
  }
  return addresses;
}

// None: some port is the kernel's choice, and further listeners then bind that one.
std::optional<std::vector<std::uint16_t>> ports_of(const ApplicationSettings& settings) {
  std::vector<std::uint16_t> ports = {settings.http.port};
  for (const server::ListenerOptions& each : settings.http.listeners) {
    if (!each.address.starts_with(server::unix_prefix)) ports.push_back(each.port);
  }
  if (std::ranges::find(ports, 0) != ports.end()) return std::nullopt;
  if (settings.operations.port != 0) ports.push_back(settings.operations.port);
  return ports;
}

bool allows(const ApplicationSettings& settings, SandboxUse use) {
  const auto& all = settings.process.sandbox_allow;
  return std::ranges::find(all, use) != all.end();
}

bool connects(const ApplicationSettings& settings, const ProcessNeeds& needs) {
  const bool far = needs.database && !settings.database.url.starts_with(sqlite_scheme);
  return needs.connections || far || !settings.monitor.upstreams.empty() ||
         !settings.auth.bearer.jwks_url.empty() || needs.parts.connections ||
         settings.redis.given() || settings.cache.redis.given() ||
         allows(settings, SandboxUse::connections);
}

// Whether a URL names an abstract socket, as postgresql:///name?host=@server or
// postgresql://%40server/name.
bool names_abstract_socket(std::string_view url) {
  for (const std::string_view each : {"host=@", "host=%40", "://%40", ",%40", ",@", "@%40"}) {
    if (url.find(each) != url.npos) return true;
  }
  return false;
}

void add_read(const ApplicationSettings& settings, const ProcessNeeds& needs, Paths& read) {
  for (const char* each : of_the_system) read.add(each);
  if (connects(settings, needs)) {
    for (const char* each : of_name_resolution) read.add(each);
  }
  read.add_folder_of(needs.config_file);
  for (const tls::Certificate& each : settings.http.tls.certificates) {
    read.add_folder_of(each.chain_file);
    read.add_folder_of(each.key_file);
  }
  read.add_folder_of(settings.http.tls.client_authorities_file);
  read.add_folder_of(settings.client.tls.authorities_file);
  read.add_folder_of(settings.client.tls.certificate.chain_file);
  read.add_folder_of(settings.client.tls.certificate.key_file);
  for (const auto& [name, upstream] : settings.monitor.upstreams) {
    read.add_folder_of(upstream.authorities_file);
  }
  read.add_folder_of(settings.auth.bearer.keys_file);
  read.add_folder_of(settings.sessions.keys_file);
  read.add_folder_of(settings.audit.key_file);
  for (const std::string& each : needs.parts.files) read.add_folder_of(each);
  for (const std::string& each : needs.parts.reads) read.add(each);
  for (const RedisSettings* redis : {&settings.redis, &settings.cache.redis}) {
    read.add_folder_of(redis->password_file);
    read.add_folder_of(redis->tls.authorities_file);
    read.add_folder_of(redis->tls.certificate.chain_file);
    read.add_folder_of(redis->tls.certificate.key_file);
  }
  for (const std::string& each : needs.reads) read.add(each);
  for (const std::string& each : settings.process.sandbox_read) read.add(each);
}

void add_write(const ApplicationSettings& settings, const ProcessNeeds& needs, Paths& write) {
  for (const std::string* file :
       {&settings.log.file, &settings.log.json_file, &settings.log.binary_file}) {
    write.add_folder_of(*file);
  }
  if (const std::string folder = crash_folder_of(settings); !folder.empty()) write.add(folder);
  write.add_folder_of(settings.audit.file);
  write.add(settings.http.forms.folder);
  for (const std::string& address : listener_addresses(settings)) {
    if (address.starts_with(server::unix_prefix)) {
      write.add_folder_of(address.substr(server::unix_prefix.size()));
    }
  }
  write.add("/dev/null");
  for (const std::string& each : needs.writes) write.add(each);
  for (const std::string& each : needs.parts.writes) write.add(each);
  for (const std::string& each : settings.process.sandbox_write) write.add(each);
}

}  // namespace

sandbox::LandlockRules file_rules_of(const ApplicationSettings& settings,
                                     const ProcessNeeds& needs) {
  sandbox::LandlockRules rules;
  Paths read(rules.read);
  Paths write(rules.write);
  add_read(settings, needs, read);
  add_write(settings, needs, write);
  if (needs.database) add_database(settings.database, read, write);
  rules.execute = allows(settings, SandboxUse::subprocesses);
  rules.bind = ports_of(settings);
  rules.connect = connects(settings, needs);
  rules.abstract_sockets = allows(settings, SandboxUse::connections) ||
                           (needs.database && names_abstract_socket(settings.database.url));
  return rules;
}

sandbox::CallRules call_rules_of(const ApplicationSettings& settings, const ProcessNeeds& needs) {
  const server::EngineName engine = settings.http.engine;
  sandbox::CallRules rules;
  rules.io_uring =
      engine == server::EngineName::io_uring || engine == server::EngineName::automatic;
  rules.connections = connects(settings, needs);
  rules.subprocesses = allows(settings, SandboxUse::subprocesses);
  rules.libraries = allows(settings, SandboxUse::libraries);
  rules.timers = settings.profile.enabled;
  rules.refusal = settings.process.refused_call == RefusedCall::end ? sandbox::Refusal::end
                                                                    : sandbox::Refusal::error;
  if (settings.process.sandbox == Sandbox::report) rules.refusal = sandbox::Refusal::report;
  return rules;
}

bool needs_root_to_bind(const ApplicationSettings& settings) {
  const std::uint16_t free = sandbox::first_free_port();
  std::vector<std::uint16_t> ports = {settings.http.port, settings.operations.port};
  for (const server::ListenerOptions& each : settings.http.listeners) ports.push_back(each.port);
  return std::ranges::any_of(ports,
                             [free](std::uint16_t port) { return port != 0 && port < free; });
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
