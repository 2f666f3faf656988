// StreamPlace: a place among the streams of a connection (SETTINGS_MAX_CONCURRENT_STREAMS) for work
// whose stream is over: its client reset it, and its handler goes on.
//
// Owns       the place.
// Borrows    its StreamPlaces, whose destructor detaches the place.
// Thread     that of its connection.
// Allocates  never.
// Fails      never.
// Invariant  the place is given back by its destructor, and by nothing else. It may outlive its
//            connection; then it is not counted.
#pragma once

#include <cstdint>

#include "katana/base/memory/linked_list.hpp"

namespace katana::http2 {

class StreamPlaces;

class [[nodiscard]] StreamPlace : private ListHook<StreamPlace> {
 public:
  StreamPlace() noexcept = default;
  StreamPlace(StreamPlace&& other) noexcept { take(other); }
  StreamPlace& operator=(StreamPlace&& other) noexcept {
    if (this == &other) return *this;
    leave();
    take(other);
    return *this;
  }
  ~StreamPlace() { leave(); }

 private:
  friend class LinkedList<StreamPlace>;
  friend class StreamPlaces;
  explicit StreamPlace(StreamPlaces& of) noexcept;
  void take(StreamPlace& other) noexcept;
  void leave() noexcept;

  StreamPlaces* of_ = nullptr;  // null: no place, or its connection is gone
};

// The places of one connection.
class StreamPlaces {
 public:
  StreamPlaces() noexcept = default;
  StreamPlaces(const StreamPlaces&) = delete;
  StreamPlaces& operator=(const StreamPlaces&) = delete;
  ~StreamPlaces() {
    while (!list_.empty()) list_.pop_front().of_ = nullptr;
  }

  // A new place, counted until its destructor runs. It does not check the limit.
  StreamPlace take() noexcept { return StreamPlace(*this); }
  // Places at present; they count towards the limit of open streams.
  std::uint32_t taken() const noexcept { return static_cast<std::uint32_t>(list_.size()); }

 private:
  friend class StreamPlace;
  LinkedList<StreamPlace> list_;
};

inline StreamPlace::StreamPlace(StreamPlaces& of) noexcept : of_(&of) { of.list_.push_back(*this); }

inline void StreamPlace::take(StreamPlace& other) noexcept {
  if (other.of_ == nullptr) return;
  of_ = other.of_;
  of_->list_.push_back(*this);
  other.leave();
}

inline void StreamPlace::leave() noexcept {
  if (of_ == nullptr) return;
  of_->list_.remove(*this);
  of_ = nullptr;
}

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
