// compress() and decompress() of pprof.hpp.
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <climits>
#include <stdexcept>

#include "katana/observe/profile/pprof.hpp"

namespace katana::profile {
namespace {

constexpr int gzip_window = 15 + 16;  // zlib's number for the largest window and gzip's header

Bytef* zlib_bytes(Bytes bytes) noexcept {
  return const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));  // zlib only reads it
}

struct Deflater {
  z_stream stream{};
  Deflater() {
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::runtime_error("zlib has no memory");
    }
  }
  ~Deflater() { deflateEnd(&stream); }
};

struct Inflater {
  z_stream stream{};
  Inflater() {
    if (inflateInit2(&stream, gzip_window) != Z_OK) throw std::runtime_error("zlib has no memory");
  }
  ~Inflater() { inflateEnd(&stream); }
};

}  // namespace

std::string compress(Bytes bytes) {
  Deflater deflater;
  z_stream& stream = deflater.stream;
  std::array<char, 64 * 1024> buffer;
  std::string result;
  stream.next_in = zlib_bytes(bytes);
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    if (stream.avail_in == 0) {
      const std::size_t part = std::min<std::size_t>(bytes.size(), INT_MAX);
      stream.avail_in = static_cast<uInt>(part);
      bytes.remove_prefix(part);
    }
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    status = deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
    result.append(buffer.data(), buffer.size() - stream.avail_out);
  }
  return result;
}

Result<std::string> decompress(Bytes bytes, std::size_t bytes_max) {
  Inflater inflater;
  z_stream& stream = inflater.stream;
  std::array<char, 64 * 1024> buffer;
  std::string result;
  if (bytes.size() > INT_MAX) return fail(Code::invalid_argument, "gzip: too long");
  stream.next_in = zlib_bytes(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    status = inflate(&stream, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END) {
      return fail(Code::invalid_argument, "gzip: the bytes are not gzip, or are cut");
    }
    result.append(buffer.data(), buffer.size() - stream.avail_out);
    if (result.size() > bytes_max) {
      return fail(Code::invalid_argument, fmt::format("gzip: more than {} bytes", bytes_max));
    }
  }
  return result;
}

}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
