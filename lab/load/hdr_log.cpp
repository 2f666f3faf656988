#include "lab/load/hdr_log.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "katana/base/system/check.hpp"

namespace katana::load {
namespace {

constexpr std::uint32_t cookie_v2 = 0x1c849313;
constexpr std::uint32_t cookie_v2_compressed = 0x1c849314;

template <class Unsigned>
void put_big_endian(std::string& out, Unsigned value) {
  for (int shift = 8 * (static_cast<int>(sizeof value) - 1); shift >= 0; shift -= 8) {
    out += static_cast<char>(value >> shift & 0xff);
  }
}

// Seven bits a byte, the ninth byte whole, so that 64 bits fit into nine.
void put_zigzag(std::string& out, std::int64_t value) {
  auto bits = static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
  for (int octets = 1; octets < 9 && bits >= 0x80; ++octets) {
    out += static_cast<char>((bits & 0x7f) | 0x80);
    bits >>= 7;
  }
  out += static_cast<char>(bits);
}

std::string encode_counts(const Histogram& histogram) {
  std::string out;
  std::int64_t zeros = 0;
  for (const std::uint64_t count : histogram.counts()) {
    if (count == 0) {
      ++zeros;
      continue;
    }
    // A single zero is itself; only from two on is the negative number of them shorter.
    if (zeros > 0) put_zigzag(out, zeros == 1 ? 0 : -zeros);
    zeros = 0;
    put_zigzag(out, static_cast<std::int64_t>(count));
  }
  return out;
}

std::string base64(std::string_view octets) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t at = 0; at < octets.size(); at += 3) {
    const std::size_t left = std::min<std::size_t>(3, octets.size() - at);
    std::uint32_t group = 0;
    for (std::size_t index = 0; index < 3; ++index) {
      const unsigned octet = index < left ? static_cast<unsigned char>(octets[at + index]) : 0u;
      group = group << 8 | octet;
    }
    for (std::size_t index = 0; index < 4; ++index) {
      out += index <= left ? digits[group >> (18 - 6 * index) & 63] : '=';
    }
  }
  return out;
}

}  // namespace

std::string encode_v2(const Histogram& histogram) {
  const std::string counts = encode_counts(histogram);
  std::string out;
  put_big_endian(out, cookie_v2);
  put_big_endian(out, static_cast<std::uint32_t>(counts.size()));
  put_big_endian(out, std::uint32_t{0});  // normalizing index offset
  put_big_endian(out, static_cast<std::uint32_t>(Histogram::significant_digits));
  put_big_endian(out, static_cast<std::uint64_t>(Histogram::value_min_ns));
  put_big_endian(out, static_cast<std::uint64_t>(Histogram::value_max_ns));
  put_big_endian(out, std::bit_cast<std::uint64_t>(1.0));  // integer to double
  return out + counts;
}

std::string encode_compressed_v2(const Histogram& histogram) {
  const std::string plain = encode_v2(histogram);
  uLongf size = compressBound(plain.size());
  std::string packed(size, '\0');
  const int status = compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                              reinterpret_cast<const Bytef*>(plain.data()), plain.size());
  KATANA_CHECK(status == Z_OK);  // the room is what compressBound says
  packed.resize(size);
  std::string out;
  put_big_endian(out, cookie_v2_compressed);
  put_big_endian(out, static_cast<std::uint32_t>(packed.size()));
  return base64(out + packed);
}

Result<HdrLog> HdrLog::create(const std::string& path) {
  HdrLog log;
  log.path_ = path;
  log.file_.reset(std::fopen(path.c_str(), "we"));
  if (!log.file_) {
    return fail(Code::unavailable, fmt::format("--hdr {}: {}", path, std::strerror(errno)));
  }
  return log;
}

void HdrLog::write_header(double base_epoch_s, std::string_view comment) {
  fmt::print(file_.get(),
             "#{}\n#[Values are in nanoseconds]\n#[Histogram log format version 1.3]\n"
             "#[StartTime: {:.3f} (seconds since epoch)]\n"
             "#[BaseTime: {:.3f} (seconds since epoch)]\n"
             "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
             "\"Interval_Compressed_Histogram\"\n",
             comment, base_epoch_s, base_epoch_s);
}

void HdrLog::write_interval(double begin_s, double duration_s, const Histogram& histogram) {
  constexpr double ns_per_ms = 1e6;  // the unit that such logs have for the maximum
  const double max_ms =
      static_cast<double>(std::max<std::int64_t>(0, histogram.max_ns())) / ns_per_ms;
  fmt::print(file_.get(), "{:.3f},{:.3f},{:.3f},{}\n", begin_s, duration_s, max_ms,
             encode_compressed_v2(histogram));
  std::fflush(file_.get());  // the written lines survive a crash of this process
}

Result<void> HdrLog::close() {
  std::FILE* file = file_.release();
  const bool was_fine = std::ferror(file) == 0;
  if (std::fclose(file) == 0 && was_fine) return {};
  return fail(Code::data_loss, fmt::format("--hdr {}: {}", path_, std::strerror(errno)));
}

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
