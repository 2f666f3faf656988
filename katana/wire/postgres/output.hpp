// Output: where a machine writes its messages.
//
//   Outbox outbox(blocks);
//   machine.sync(outbox);          // an Outbox, an upstream::Connection, or any class that has
//                                  // takes(bytes) and write(Bytes)
//
// Borrows    the object that it is made of; made for one call.
// Thread     its object's.
// Allocates  as its object does.
// Fails      takes() is false: there is no room for so many bytes.
// Invariant  a message is written whole, or nothing of it.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include "katana/base/text/bytes.hpp"

namespace katana::postgres {

// A class that tells whether it has room, and takes bytes.
template <class Sink>
concept OutputSink = requires(Sink& sink, std::size_t bytes, Bytes text) {
  sink.write(text);
  requires requires { bool{sink.takes(bytes)}; } || requires { bool{sink.has_capacity(bytes)}; };
};

class Output {
 public:
  template <OutputSink Sink>
    requires(!std::same_as<std::remove_cv_t<Sink>, Output>)
  Output(Sink& sink) noexcept : sink_(&sink), takes_(&takes_of<Sink>), write_(&write_of<Sink>) {}

  // Whether writes of so many bytes in all succeed.
  bool takes(std::size_t bytes) const noexcept { return takes_(sink_, bytes); }
  // REQUIRES that takes() was true for it.
  void write(Bytes text) const noexcept { write_(sink_, text); }

 private:
  template <class Sink>
  static bool takes_of(void* sink, std::size_t bytes) noexcept {
    if constexpr (requires(Sink& each) { each.has_capacity(bytes); }) {
      return static_cast<Sink*>(sink)->has_capacity(bytes);
    } else {
      return static_cast<Sink*>(sink)->takes(bytes);
    }
  }
  template <class Sink>
  static void write_of(void* sink, Bytes text) noexcept {
    static_cast<void>(static_cast<Sink*>(sink)->write(text));
  }

  void* sink_;
  bool (*takes_)(void*, std::size_t) noexcept;
  void (*write_)(void*, Bytes) noexcept;
};

}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
