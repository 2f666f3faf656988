// JsonItems: the items of a JSON array, or of JSON lines, whose text comes in pieces.
//
//   JsonItems items(JsonItems::Form::array);
//   items.append(piece); … items.end();
//   Result<std::optional<Bytes>> item = items.next();      the text of the next one
//
// It finds where items begin and end; what is between is for read_json() to judge. Lines are split
// at LF; empty ones, and a CR at the end, are left out. Every value of an array is an item.
//
// Owns       what came and was not given yet.
// Thread     one.
// Allocates  from the recycler: an item, and the piece that it ends in.
// Fails      next(): what is no array, an item above the limit, and input that ends within one;
//            each with the item it is about. It then fails for ever.
// Invariant  the items do not depend on how the text was cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/text/text.hpp"

namespace katana::container {

class JsonItems {
 public:
  // One array whose items are read, or one item in each line (JSON Lines).
  enum class Form : std::uint8_t { array, lines };
  explicit JsonItems(Form form, std::size_t item_bytes_max = 64 * 1024) noexcept
      : form_(form), item_bytes_max_(item_bytes_max) {}

  // Copies the piece. Not after end().
  void append(Bytes piece);
  // Nothing more comes.
  void end() noexcept { is_ended_ = true; }
  // Nothing: there is no whole one, or none any more (done()). Valid until the next call of
  // append() or next().
  Result<std::optional<Bytes>> next();
  // Everything was given.
  bool done() const noexcept { return state_ == State::done; }
  // The items that were given.
  std::size_t count() const noexcept { return count_; }
  // Where the item that was given last stands: "/3" of an array, "line 4" of lines.
  std::string place() const { return place_of(count_ - 1); }
  std::size_t held_bytes() const noexcept { return kept_.capacity(); }

 private:
  enum class State : std::uint8_t { before_array, before_item, in_item, behind_item, behind, done };

  Result<std::optional<Bytes>> next_line();
  Result<std::optional<Bytes>> next_in_array();
  // False: the item goes on behind what there is.
  bool find_item_end() noexcept;
  Bytes take_item(std::size_t end) noexcept;
  // The next byte that is no space; nothing: there is none yet.
  std::optional<char> look() noexcept;
  std::unexpected<Error> wrong(std::string words);
  std::unexpected<Error> too_long();
  std::string place_of(std::size_t index) const;

  Form form_;
  State state_ = State::before_array;
  bool is_ended_ = false;
  bool in_text_ = false;     // of the item
  bool is_escaped_ = false;  // the next byte of it
  std::size_t item_bytes_max_;
  std::size_t depth_ = 0;  // of the item's lists and objects
  std::size_t count_ = 0;
  std::size_t line_ = 0;  // of the item that was given last
  Text kept_;
  std::size_t begin_ = 0;  // of what was not given
  std::size_t at_ = 0;     // of what was not looked at
  std::optional<Error> error_;
};

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
