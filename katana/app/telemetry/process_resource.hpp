// Process resource: attributes of the process and of its host, container and pod. Names are those
// of the semantic conventions: host.*, os.type, process.*, container.id, k8s.*.
//
// Owns       nothing.
// Borrows    its arguments for the call.
// Thread     that of the start.
// Allocates  the attributes that it adds.
// Fails      never: attributes that are not known are left out.
#pragma once

#include <functional>
#include <string>

#include "katana/app/telemetry/otel_variables.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/observe/otlp/resource.hpp"

namespace katana::app {

// Where it is read from.
struct ProcessSources {
  Variables variables = {};  // of the environment
  // The first 64 KiB of a file; empty: it cannot be read.
  std::function<std::string(const char* path)> file = {};
};
// Sources of this process.
ProcessSources process_sources();

// In Kubernetes (KUBERNETES_SERVICE_HOST is set) POD_NAME, POD_NAMESPACE, POD_UID, NODE_NAME and
// CONTAINER_NAME name the place, as a pod's `env` may set them from its fields. Without them the
// pod is the host, and the namespace is that of its service account.
void add_process_attributes(otlp::Resource& resource, const ProcessSources& sources);

// The id of the container, 64 hexadecimal digits, in /proc/self/cgroup (version 1) or
// /proc/self/mountinfo. Empty: there is none.
std::string container_id(Bytes cgroup, Bytes mounts);

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
