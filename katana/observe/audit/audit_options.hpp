// AuditOptions: the file of an AuditLog, and how often it is flushed to the disk (audit_log.hpp).
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

// When written events are flushed to the disk.
//   each      before each event is acknowledged
//   interval  every sync_interval
//   never     only when the file is closed or rotated
enum class Sync : std::uint8_t { each, interval, never };
// The words of settings.
KATANA_DESCRIBE_ENUM(Sync, each, interval, never)

struct AuditOptions {
  std::string file;                     // created with mode 0600 if it does not exist
  std::string key = {};                 // of the chain: 32 bytes or more; empty: without a key
  Sync sync = Sync::each;               // each: an acknowledged event is on the disk
  Duration sync_interval = seconds(1);  // of Sync::interval: the most that a power cut loses
  std::uint64_t file_bytes_max = std::uint64_t{64} << 20;  // rotated at this size, never deleted
  std::size_t waiting_max = 1024;                          // events that are not written yet
  Duration lock_wait = seconds(5);  // for another process's lock; later events then fail
};

}  // namespace katana::audit

// SPDX-License-Identifier: Apache-2.0
