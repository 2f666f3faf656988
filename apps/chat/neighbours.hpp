// What a hub needs of the other servers of its chat: that names are one's own among all of them,
// and that what is said here reaches those who are there.
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
  // Whether somebody has the name there. Hub::order() brings the answer to the hub of that index,
  // with the token: soon, whatever becomes of the others.
  virtual void claim(unsigned hub, std::uint64_t token, Bytes name) = 0;
  // No member here has it any more.
  virtual void release(Bytes name) = 0;

 protected:
  ~NameAuthority() = default;
};

// Takes what is relayed to a hub, in place of members. Calls come from its reactor.
class BatchTap {
 public:
  // `batch` is that of relayed.block; who keeps it longer than the call takes a share.
  virtual void on_relayed(const Relayed& relayed, Batch& batch) = 0;

 protected:
  ~BatchTap() = default;
};

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
