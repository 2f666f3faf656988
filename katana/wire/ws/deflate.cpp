#include "katana/wire/ws/deflate.hpp"

#include <algorithm>

#include "katana/base/system/check.hpp"

namespace katana::ws {
namespace {

// The memory of zlib by its own account (zconf.h), and that of its states and their alignment.
constexpr std::size_t state_bytes = 16 * 1024;
constexpr std::size_t inflate_bytes = (std::size_t{1} << 15) + state_bytes;

constexpr int memory_level(int window_bits) noexcept { return std::max(1, window_bits - 7); }

std::size_t deflate_bytes(int window_bits) noexcept {
  return (std::size_t{1} << (window_bits + 2)) +
         (std::size_t{1} << (memory_level(window_bits) + 9)) + state_bytes;
}

}  // namespace

void DeflateMemory::install(z_stream& stream) noexcept {
  restart();
  stream = {};
  stream.zalloc = &DeflateMemory::take;
  stream.zfree = &DeflateMemory::give;
  stream.opaque = this;
}

void* DeflateMemory::take(void* self, unsigned count, unsigned size) noexcept {
  auto& memory = *static_cast<DeflateMemory*>(self);
  const std::size_t bytes = (std::size_t{count} * size + 63) / 64 * 64;
  if (bytes > memory.memory_.size() - memory.used_) return nullptr;
  char* const piece = memory.memory_.data() + memory.used_;
  memory.used_ += bytes;
  return piece;
}

// ---- receiving -------------------------------------------------------------------------------

void Inflater::begin() noexcept {
  blocks_ = 0;
  made_ = 0;
  if (ready_) {
    KATANA_CHECK(inflateReset(&stream_) == Z_OK);
    return;
  }
  memory_.install(stream_);
  KATANA_CHECK(inflateInit2(&stream_, -15) == Z_OK);
  ready_ = true;
}

Inflater::Outcome Inflater::inflate(Bytes input, std::span<char> output, std::size_t& consumed,
                                    std::size_t& produced) noexcept {
  // zlib's interface has no const and wants bytes.
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
  stream_.avail_in = static_cast<uInt>(input.size());
  stream_.next_out = reinterpret_cast<Bytef*>(output.data());
  stream_.avail_out = static_cast<uInt>(output.size());
  int result = Z_OK;
  do {
    result = ::inflate(&stream_, Z_BLOCK);
    const bool at_end = result == Z_STREAM_END;
    // The sender may end its stream within a message and begin another (RFC 7692 §7.2.3.4).
    if (at_end) result = inflateReset(&stream_);
    if (at_end || (stream_.data_type & 128) != 0) ++blocks_;
    const std::uint64_t made = made_ + output.size() - stream_.avail_out;
    if (blocks_ > blocks_free + made / bytes_per_block_min) return Outcome::too_many_blocks;
  } while (result == Z_OK && stream_.avail_in != 0 && stream_.avail_out != 0);
  consumed = input.size() - stream_.avail_in;
  produced = output.size() - stream_.avail_out;
  made_ += produced;
  if (result != Z_OK && result != Z_BUF_ERROR) return Outcome::failed;
  return stream_.avail_out == 0 ? Outcome::more_output : Outcome::more_input;
}

// ---- sending ---------------------------------------------------------------------------------

void Deflater::set(std::span<char> memory, int level) noexcept {
  memory_.set(memory);
  level_ = level;
}

void Deflater::begin(int window_bits) noexcept {
  if (window_bits == window_bits_) {
    KATANA_CHECK(deflateReset(&stream_) == Z_OK);
    return;
  }
  memory_.install(stream_);
  KATANA_CHECK(deflateInit2(&stream_, level_, Z_DEFLATED, -window_bits, memory_level(window_bits),
                            Z_DEFAULT_STRATEGY) == Z_OK);
  window_bits_ = window_bits;
}

bool Deflater::deflate(Bytes& input, std::span<char> output, std::size_t& produced) noexcept {
  // zlib counts in 32 bits.
  const Bytes part = input.substr(0, std::size_t{1} << 30);
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
  stream_.avail_in = static_cast<uInt>(part.size());
  stream_.next_out = reinterpret_cast<Bytef*>(output.data());
  stream_.avail_out = static_cast<uInt>(output.size());
  const int result = ::deflate(&stream_, part.size() == input.size() ? Z_SYNC_FLUSH : Z_NO_FLUSH);
  KATANA_CHECK(result == Z_OK || result == Z_BUF_ERROR);
  input.remove_prefix(part.size() - stream_.avail_in);
  produced = output.size() - stream_.avail_out;
  return stream_.avail_out == 0 || !input.empty();
}

std::size_t Deflater::bound(std::size_t bytes) noexcept {
  // A stored block has five bytes more than its content, which is at most 2^(6 + memory level)
  // bytes, here never less than 127. The flush adds a few bytes.
  return bytes + bytes / 16 + 64;
}

// ---- the pool --------------------------------------------------------------------------------

std::size_t DeflatePool::bytes_needed(const DeflateOptions& options) noexcept {
  return deflate_bytes(options.window_bits) + inflate_bytes;
}

DeflatePool::DeflatePool(const DeflateOptions& options, std::span<char> memory) noexcept
    : options_(options) {
  KATANA_REQUIRE(options.window_bits >= 9 && options.window_bits <= 15);
  KATANA_REQUIRE(memory.size() >= bytes_needed(options));
  const std::size_t deflating = deflate_bytes(options.window_bits);
  deflater_.set(memory.first(deflating), options.level);
  inflater_.set(memory.subspan(deflating, inflate_bytes));
}

}  // namespace katana::ws

// SPDX-License-Identifier: Apache-2.0
