// LinkMemory: buffers that the links of one thread use in turns. A link that has nothing to keep
// owns no buffer.
//
// Owns       its buffers.
// Thread     one.
// Allocates  each buffer at its first use.
// Invariant  the bytes of `input` and `plain` are those of the link that received last, until it
//            calls keep_unread().
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/memory/block_pool.hpp"
#include "katana/stores/database/postgres/protocol.hpp"
#include "katana/wire/postgres/machine.hpp"

namespace katana::database::postgres {

struct LinkMemory {
  // Bytes that one call of recv(2) takes.
  static constexpr std::size_t input_bytes = 32 * 1024;
  // Bytes of plaintext behind one recv(2): those of a record that had begun before it come on top.
  static constexpr std::size_t plain_bytes = input_bytes + 32 * 1024;
  // A larger buffer for sending is not kept.
  static constexpr std::size_t spare_bytes_max = 64 * 1024;
  // Room for more requests is not kept.
  static constexpr std::size_t spare_requests_max = 4096;

  // Bytes as they were received.
  char* input_room() { return room(input, input_bytes); }
  // Bytes that TLS has decrypted.
  char* plain_room() { return room(plain, plain_bytes); }
  // Blocks of bytes that TLS has encrypted.
  // A link keeps the pool while it lives, and may have link_blocks of it at once. The pool has as
  // many for each of its links.
  std::shared_ptr<BlockPool> blocks() {
    std::erase_if(sealed, [](const auto& pool) { return pool.use_count() == 1; });
    for (const std::shared_ptr<BlockPool>& pool : sealed) {
      if (pool.use_count() <= pool_links_max) return pool;  // one use is that of the list
    }
    return sealed.emplace_back(
        std::make_shared<BlockPool>(block_bytes, link_blocks * pool_links_max));
  }

  // The pools of blocks().
  static constexpr std::size_t block_bytes = 4096;
  static constexpr std::size_t link_blocks = 24;
  static constexpr long pool_links_max = 64;

  std::unique_ptr<char[]> input = {};                   // of input_room()
  std::unique_ptr<char[]> plain = {};                   // of plain_room()
  std::vector<std::shared_ptr<BlockPool>> sealed = {};  // of blocks()
  std::string output = {};  // empty, with room: for the next link that sends
  // Room for requests without an answer, for the next link that has many.
  std::vector<protocol::Machine::Pending> pending = {};
  std::vector<Bytes> values = {};       // of the row that is read; NULL: without data
  std::vector<std::string> texts = {};  // of its columns: what decode() writes

 private:
  static char* room(std::unique_ptr<char[]>& memory, std::size_t bytes) {
    if (memory == nullptr) memory = std::make_unique_for_overwrite<char[]>(bytes);
    return memory.get();
  }
};

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
