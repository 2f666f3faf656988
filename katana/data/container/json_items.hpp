// JsonItems: splits a JSON array, or JSON lines, into items. The text arrives in pieces.
//
//   JsonItems items(JsonItems::Form::array);
//   items.append(piece); … items.end();
//   Result<std::optional<Bytes>> item = items.next();      the text of the next one
//
// It finds the begin and the end of items; read_json() validates them. Lines are split at LF. Empty
// lines, and a CR at the end, are skipped. Every value of an array is an item.
//
// Owns       the text that was not returned yet.
// Thread     one.
// Allocates  from the recycler: an item, and the piece that it ends in.
// Fails      next() for text that is no array, an item above the limit, and input that ends within
//            an item; each Error names the item. Later calls fail, too.
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
  // The form of the text: one array with items, or one item in each line (JSON Lines).
  enum class Form : std::uint8_t { array, lines };
  explicit JsonItems(Form form, std::size_t item_bytes_max = 64 * 1024) noexcept
      : form_(form), item_bytes_max_(item_bytes_max) {}

  // Copies a piece. Do not call it after end().
  void append(Bytes piece);
  // Tells that no more pieces come.
  void end() noexcept { is_ended_ = true; }
  // The text of the next item, valid until the next call of append() or next(). Nothing: there is
  // no whole item yet, or none is left (done()).
  Result<std::optional<Bytes>> next();
  // True if all items were returned.
  bool done() const noexcept { return state_ == State::done; }
  // The number of returned items.
  std::size_t count() const noexcept { return count_; }
  // The place of the last returned item: "/3" in an array, "line 4" in lines.
  std::string place() const { return place_of(count_ - 1); }
  std::size_t held_bytes() const noexcept { return kept_.capacity(); }

 private:
  enum class State : std::uint8_t { before_array, before_item, in_item, behind_item, behind, done };

  Result<std::optional<Bytes>> next_line();
  Result<std::optional<Bytes>> next_in_array();
  // False: the item goes on behind the present text.
  bool find_item_end() noexcept;
  Bytes take_item(std::size_t end) noexcept;
  // The next byte that is no white space; nothing: there is none yet.
  std::optional<char> look() noexcept;
  std::unexpected<Error> wrong(std::string words);
  std::unexpected<Error> too_long();
  std::string place_of(std::size_t index) const;

  Form form_;
  State state_ = State::before_array;
  bool is_ended_ = false;
  bool in_text_ = false;     // the scan is inside a string of the item
  bool is_escaped_ = false;  // the next byte of the string is escaped
  std::size_t item_bytes_max_;
  std::size_t depth_ = 0;  // levels of the item's lists and objects
  std::size_t count_ = 0;
  std::size_t line_ = 0;  // line of the last returned item
  Text kept_;
  std::size_t begin_ = 0;  // begin of the text that was not returned
  std::size_t at_ = 0;     // begin of the text that was not scanned
  std::optional<Error> error_;
};

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
