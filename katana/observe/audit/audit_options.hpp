// AuditOptions: where an AuditLog writes, and how often it flushes the disk (audit_log.hpp).
//
// Owns       values only.
// Thread     a value.
// Allocates  as its members do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "katana/base/values/described.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::audit {

// When what was written is flushed to the disk: before it is acknowledged; every sync_interval;
// when the file is closed or rotated.
enum class Sync : std::uint8_t { each, interval, never };
// As settings say it.
KATANA_DESCRIBE_ENUM(Sync, each, interval, never)

struct AuditOptions {
  std::string file;                     // mode 0600. It is made if it is not there
  std::string key = {};                 // of the chain: 32 bytes or more; empty: it is not keyed
  Sync sync = Sync::each;               // with each an event that was acknowledged is on the disk
  Duration sync_interval = seconds(1);  // of Sync::interval: what a power cut may take
  std::uint64_t file_bytes_max = std::uint64_t{64} << 20;  // then it is rotated; none is deleted
  std::size_t waiting_max = 1024;                          // events that are not written yet
  Duration lock_wait = seconds(5);  // for another process that writes the file; then they fail
};

}  // namespace katana::audit

// SPDX-License-Identifier: Apache-2.0
