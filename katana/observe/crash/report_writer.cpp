#include "katana/observe/crash/report_writer.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "katana/base/system/printing.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::crash {
namespace {

constexpr char hex_digits[] = "0123456789abcdef";

}  // namespace

void ReportWriter::begin(int descriptor) noexcept {
  descriptor_ = descriptor;
  left_ = 0;
  line_used_ = 0;
  used_ = 0;
}

void ReportWriter::put(char character) noexcept {
  if (line_used_ + 1 < line_.size()) line_[line_used_++] = character;
}

void ReportWriter::word(Bytes text) noexcept {
  for (const char each : text) {
    if (each == '\n') {
      end_line();
    } else {
      put(each);
    }
  }
}

void ReportWriter::value(Bytes text, std::size_t bytes_max) noexcept {
  for (const char each : text.substr(0, bytes_max)) {
    const auto code = static_cast<unsigned char>(each);
    put(code < 0x20 || code == 0x7f ? '?' : each);
  }
}

void ReportWriter::number(std::int64_t value) noexcept {
  auto left = static_cast<std::uint64_t>(value);
  if (value < 0) {
    put('-');
    left = ~left + 1;
  }
  char text[20];
  int count = 0;
  do {
    text[count++] = hex_digits[left % 10];
    left /= 10;
  } while (left != 0);
  while (count > 0) put(text[--count]);
}

void ReportWriter::hex(std::uint64_t value, int digits_min) noexcept {
  bool begun = false;
  for (int digit = 15; digit >= 0; --digit) {
    const auto bits = static_cast<unsigned>(value >> (4 * digit)) & 0xf;
    begun = begun || bits != 0 || digit < digits_min;
    if (begun) put(hex_digits[bits]);
  }
}

void ReportWriter::hex_bytes(Bytes bytes) noexcept {
  for (const char each : bytes) {
    const auto code = static_cast<unsigned char>(each);
    put(hex_digits[code >> 4]);
    put(hex_digits[code & 0xf]);
  }
}

void ReportWriter::end_line() noexcept {
  line_[line_used_++] = '\n';
  if (line_used_ > left_) {
    left_ = 0;  // no shorter line behind it is written either
  } else {
    left_ -= line_used_;
    if (line_used_ > buffer_.size() - used_) flush();
    std::memcpy(buffer_.data() + used_, line_.data(), line_used_);
    used_ += line_used_;
  }
  line_used_ = 0;
}

void ReportWriter::field(Bytes name, std::int64_t value) noexcept {
  put(' ');
  word(name);
  put('=');
  number(value);
}

void ReportWriter::flush() noexcept {
  Bytes rest(buffer_.data(), used_);
  used_ = 0;
  if (descriptor_ == STDERR_FILENO) {  // its reader may hang
    if (print_without_waiting(descriptor_, rest, milliseconds(200)) < rest.size()) descriptor_ = -1;
    return;
  }
  while (!rest.empty() && descriptor_ >= 0) {
    const ssize_t count = ::write(descriptor_, rest.data(), rest.size());
    if (count > 0) {
      rest.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      descriptor_ = -1;  // the disk is full
    }
  }
}

}  // namespace katana::crash

// SPDX-License-Identifier: Apache-2.0
