// BinaryReader: reads entries from the output of BinaryLayout, or from any bytes: the input is not
// trusted.
//
// Owns       the contents of sites and names.
// Borrows    the bytes, for as long as it lives; an Entry until the next call.
// Thread     one.
// Allocates  for sites and names; never more than the input's size justifies.
// Fails      next(): data_loss, with the offset of the unreadable bytes. The next call goes on at
//            the next session of the file. A frame that the input's end cuts is no failure: next()
//            returns nothing more, and cut_bytes() is the size of its rest.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/observe/log/binary_format.hpp"
#include "katana/observe/log/entry.hpp"

namespace katana::log {

class BinaryReader {
 public:
  explicit BinaryReader(Bytes octets) noexcept : octets_(octets) {}

  // Returns nothing at the end of the input.
  Result<std::optional<Entry>> next();
  std::size_t offset() const noexcept { return at_; }
  std::size_t cut_bytes() const noexcept { return cut_bytes_; }

 private:
  struct OwnedSite {
    Site site;
    std::vector<Slot> slots;
    std::vector<Bytes> names;
  };

  Error damaged(Bytes what);
  Result<bool> read_frame(FrameType type, Bytes payload, Entry& entry);
  bool read_site(Bytes payload);
  bool read_name(Bytes payload);
  bool read_record(Bytes payload, Entry& entry);
  bool read_context(Bytes context, Entry& entry);

  Bytes octets_;
  std::size_t at_ = 0;
  std::size_t cut_bytes_ = 0;
  bool in_session_ = false;
  std::unordered_map<std::uint32_t, OwnedSite> sites_;
  std::unordered_map<std::uint32_t, Bytes> names_;
  Decoder decoder_;
};

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
