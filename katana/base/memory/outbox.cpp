#include "katana/base/memory/outbox.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace katana {

bool Outbox::write(Bytes text) noexcept {
  const std::size_t here = tail_ != nullptr ? space_left(*tail_) : 0;
  if (text.size() > here) {
    const std::size_t per_block = reserve_bytes_max();
    const std::size_t wanted = (text.size() - here + per_block - 1) / per_block;
    if (wanted > blocks_->available()) return false;
  }
  while (!text.empty()) {
    const std::size_t free = tail_ != nullptr ? space_left(*tail_) : 0;
    if (free == 0) {
      KATANA_CHECK(add_block());
      continue;
    }
    const std::size_t count = std::min(text.size(), free);
    std::memcpy(bytes(*tail_) + tail_->bytes_end, text.data(), count);
    commit(count);
    text.remove_prefix(count);
  }
  return true;
}

bool Outbox::refer(Bytes text) noexcept { return text.empty() || add_reference(text, nullptr); }

bool Outbox::refer(Bytes text, Retained& memory) noexcept {
  if (text.empty()) return true;
  if (!add_reference(text, &memory)) return false;
  memory.retain();
  retains_ = true;
  return true;
}

bool Outbox::refer(const FilePart& part) noexcept {
  if (part.size == 0) return true;
  KATANA_REQUIRE(part.file->descriptor >= 0);
  // A file's offset in place of an address: it is never dereferenced.
  const auto* const offset =
      reinterpret_cast<const char*>(static_cast<std::uintptr_t>(part.offset));
  if (!add_reference({offset, static_cast<std::size_t>(part.size)}, part.file)) return false;
  part.file->retain();
  retains_ = has_files_ = true;
  return true;
}

FilePart Outbox::file_behind(std::size_t skipped) const noexcept {
  for (Block* block = head_; has_files_ && block != nullptr; block = block->next) {
    for (std::size_t index = block->segments_begin; index != block->segments_end; ++index) {
      if (skipped-- != 0) continue;
      const Segment& found = segment(*block, index);
      return is_file(found) ? part_of(found) : FilePart{};
    }
  }
  return {};
}

bool Outbox::add_reference(Bytes text, Retained* memory) noexcept {
  const bool fits = tail_ != nullptr && space_left(*tail_) > 0;
  if (!fits && !add_block()) return false;
  segment(*tail_, tail_->segments_end++) = {text.data(), text.size(), memory};
  pending_ += text.size();
  return true;
}

void Outbox::let_go_of_all() noexcept {
  retains_ = has_files_ = false;
  for (Block* block = head_; block != nullptr; block = block->next) {
    for (std::size_t index = block->segments_begin; index != block->segments_end; ++index) {
      Segment& each = segment(*block, index);
      if (each.memory != nullptr) each.memory->let_go();
    }
  }
}

std::size_t Outbox::gather_all(std::span<iovec> out) const noexcept {
  std::size_t count = 0;
  for (Block* block = head_; block != nullptr; block = block->next) {
    for (std::size_t index = block->segments_begin; index != block->segments_end; ++index) {
      const Segment& each = segment(*block, index);
      if (count == out.size() || is_file(each)) return count;
      out[count++] = entry_of(each);
    }
  }
  return count;
}

void Outbox::advance_part(std::size_t count) noexcept {
  pending_ -= count;
  while (count > 0) {
    Segment& first = segment(*head_, head_->segments_begin);
    const std::size_t step = std::min(count, first.size);
    // A place in memory, or in a file.
    first.data = reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(first.data) + step);
    first.size -= step;
    count -= step;
    if (first.size != 0) continue;
    if (first.memory != nullptr) first.memory->let_go();
    if (++head_->segments_begin == head_->segments_end) drop_head();
  }
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
