// Text: owned bytes in recycled memory. A handler builds the body of a reply in it. It also keeps
// bytes that must outlive the engine's buffer.
//
// Owns       its memory; move-only.
// Allocates  from the recycler: no heap call per request once warm.
// Fails      growing throws std::bad_alloc.
#pragma once

#include <cstring>
#include <utility>

#include "katana/base/memory/recycler.hpp"
#include "katana/base/system/hints.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/text/format.hpp"

namespace katana {

class Text {
 public:
  Text() noexcept = default;
  explicit Text(Bytes bytes) { append(bytes); }
  Text(Text&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  Text& operator=(Text&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~Text() {
    if (data_ != nullptr) recycler::release(data_, capacity_);
  }

  // Appends `bytes`, which may be a part of this text.
  void append(Bytes bytes) {
    if (bytes.empty()) return;
    if (bytes.size() > capacity_ - size_) {
      append_to_larger(bytes);
      return;
    }
    std::memcpy(data_ + size_, bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  void push_back(char c) { append({&c, 1}); }
  // Grows the capacity to at least `bytes`, and keeps the content.
  void grow_to(std::size_t bytes) {
    if (bytes > capacity_) reallocate(bytes);
  }
  // Sets the size. The caller writes added bytes through data().
  void resize(std::size_t bytes) {
    grow_to(bytes);
    size_ = bytes;
  }
  void clear() noexcept { size_ = 0; }

  char* data() noexcept { return data_; }
  const char* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  // The allocated size in bytes. capacity_with(): the same after an append of `more` bytes.
  std::size_t capacity() const noexcept { return capacity_; }
  std::size_t capacity_with(std::size_t more) const noexcept;
  bool empty() const noexcept { return size_ == 0; }
  Bytes bytes() const noexcept KATANA_VIEW { return {data_, size_}; }

 private:
  void reallocate(std::size_t bytes);
  void append_to_larger(Bytes bytes);

  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

// Defined in text.cpp: a file that calls fmt::format_to compiles fmt's formatting of every type,
// which costs 2 s and 80 KiB of code.
Text vformat_text(fmt::string_view pattern, fmt::format_args arguments);

// Formats as fmt::format does, into recycled memory.
template <class... Arguments>
Text format_text(fmt::format_string<Arguments...> pattern, Arguments&&... arguments) {
  return vformat_text(pattern, fmt::make_format_args(arguments...));
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
