// NameAuthority and others: the other servers of a chat, as a hub sees them. A name is unique among
// all of them, and messages said here reach their members.
//
// Thread     as each says.
#pragma once

#include <cstdint>

#include "katana/base/memory/batch.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana::chat {

struct Relayed;

// Asks the other servers. Calls come from reactors.
class NameAuthority {
 public:
  // Asks whether a member of another server has the name. Hub::order() brings the answer to the hub
  // of that index, with the token: soon, even if the others do not answer.
  virtual void claim(unsigned hub, std::uint64_t token, Bytes name) = 0;
  // No member here has it any more.
  virtual void release(Bytes name) = 0;

 protected:
  ~NameAuthority() = default;
};

// Takes batches that are relayed to a hub, in place of members. Calls come from its reactor.
class BatchTap {
 public:
  // `batch` is that of relayed.block; who keeps it longer than the call takes a share.
  virtual void on_relayed(const Relayed& relayed, Batch& batch) = 0;

 protected:
  ~BatchTap() = default;
};

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
