#include "katana/app/telemetry/process_resource.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>

namespace katana::app {
namespace {

constexpr std::size_t id_digits = 64;
constexpr const char* account_namespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

std::string start_of_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(64 * 1024, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

bool is_digit(char c) noexcept { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

// The first run of exactly 64 hexadecimal digits.
Bytes id_in(Bytes line) noexcept {
  std::size_t run = 0;
  for (std::size_t at = 0; at <= line.size(); ++at) {
    if (at < line.size() && is_digit(line[at])) {
      ++run;
    } else if (run == id_digits) {
      return line.substr(at - run, run);
    } else {
      run = 0;
    }
  }
  return {};
}

// The processor that the program was compiled for, by the names of the conventions (host.arch).
constexpr Bytes arch =
#if defined(__x86_64__)
    "amd64";
#elif defined(__aarch64__)
    "arm64";
#else
    "";
#endif

void add_kubernetes(otlp::Resource& resource, const ProcessSources& sources, Bytes host) {
  const auto variable = [&](const char* name) {
    const char* const value = sources.variables(name);
    return value != nullptr ? Bytes(value) : Bytes();
  };
  if (variable("KUBERNETES_SERVICE_HOST").empty()) return;
  std::string space(variable("POD_NAMESPACE"));
  if (space.empty()) space = sources.file(account_namespace);
  while (space.ends_with('\n')) space.pop_back();
  resource.set("k8s.pod.name", variable("POD_NAME").empty() ? host : variable("POD_NAME"));
  resource.set("k8s.namespace.name", space);
  resource.set("k8s.pod.uid", variable("POD_UID"));
  resource.set("k8s.node.name", variable("NODE_NAME"));
  resource.set("k8s.container.name", variable("CONTAINER_NAME"));
}

}  // namespace

ProcessSources process_sources() {
  return {.variables = [](const char* name) { return std::getenv(name); }, .file = &start_of_file};
}

// Mounts of other containers may be among them. The mounts of the host's name, hosts and
// resolv.conf are those of this container.
std::string container_id(Bytes cgroup, Bytes mounts) {
  if (const Bytes id = id_in(cgroup); !id.empty()) return std::string(id);
  while (!mounts.empty()) {
    const std::size_t end = std::min(mounts.find('\n'), mounts.size());
    const Bytes line = mounts.substr(0, end);
    mounts.remove_prefix(std::min(end + 1, mounts.size()));
    if (line.find("/hostname ") == Bytes::npos && line.find("/resolv.conf ") == Bytes::npos) {
      continue;
    }
    if (const Bytes id = id_in(line); !id.empty()) return std::string(id);
  }
  return {};
}

void add_process_attributes(otlp::Resource& resource, const ProcessSources& sources) {
  std::array<char, 256> host{};  // Linux has names of 64 bytes at most
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  resource.set("host.name", host.data());
  resource.set("host.arch", arch);
  resource.set("os.type", "linux");
  resource.set("process.pid", std::to_string(::getpid()));
  resource.set("process.executable.name", program_invocation_short_name);
  resource.set("container.id", container_id(sources.file("/proc/self/cgroup"),
                                            sources.file("/proc/self/mountinfo")));
  add_kubernetes(resource, sources, host.data());
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
