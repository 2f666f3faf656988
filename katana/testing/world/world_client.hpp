// WorldClient: a user of a world's programs. WorldCall: one of its requests.
//
//   world.script("ada", [](WorldClient& ada) -> Task<void> {
//     const Operation got = co_await ada.get("api", "/seats");
//     co_await ada.sleep(milliseconds(20));
//     ada.post("api", "/bookings", R"({"seat":7})");      // begun, and not awaited
//   });
//
// Owns       its address on the network; a request's connection.
// Borrows    its world.
// Thread     the world's.
// Allocates  for each request.
// Fails      never: the outcome of a request says what the client knows.
// Invariant  each request is in World::history(), has a connection and is over after
//            WorldOptions::request_timeout at the latest.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "katana/base/coroutine/activity.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/testing/world/history.hpp"

namespace katana::testing {

namespace detail {
struct WorldCore;
}

class World;

// A request that has been sent. Awaiting it in a script of a client gives the operation when it is
// over; a call that is not awaited goes on without it.
class WorldCall final {
 public:
  ~WorldCall();
  WorldCall(const WorldCall&) = delete;
  WorldCall& operator=(const WorldCall&) = delete;

  // The operation so far.
  const Operation& operation() const noexcept { return operation_; }

  bool await_ready() const noexcept { return operation_.is_over(); }
  void await_suspend(std::coroutine_handle<> waiting);
  Operation await_resume() const { return operation_; }

 private:
  friend class World;
  friend struct detail::WorldCore;
  friend class WorldClient;
  WorldCall(World& world, const Operation& operation) noexcept
      : world_(world), operation_(operation) {}

  World& world_;
  const Operation& operation_;
  Waiting waiting_;
};

class WorldClient {
 public:
  WorldClient(const WorldClient&) = delete;
  WorldClient& operator=(const WorldClient&) = delete;

  // As the history has it.
  const std::string& name() const noexcept { return name_; }

  // Sends a request to the node of that name. A body has the type application/json, unless `fields`
  // has a Content-Type.
  WorldCall send(std::string_view node, std::string_view method, std::string_view target,
                 std::string_view content = {}, const TestReply::Fields& fields = {});
  WorldCall get(std::string_view node, std::string_view target,
                const TestReply::Fields& fields = {}) {
    return send(node, "GET", target, {}, fields);
  }
  WorldCall post(std::string_view node, std::string_view target, std::string_view content,
                 const TestReply::Fields& fields = {}) {
    return send(node, "POST", target, content, fields);
  }
  WorldCall put(std::string_view node, std::string_view target, std::string_view content,
                const TestReply::Fields& fields = {}) {
    return send(node, "PUT", target, content, fields);
  }
  WorldCall delete_(std::string_view node, std::string_view target,
                    const TestReply::Fields& fields = {}) {
    return send(node, "DELETE", target, {}, fields);
  }
  // Virtual time passes; in scripts.
  [[nodiscard]] net::Sleep sleep(Duration time) const noexcept { return net::sleep_for(time); }
  // Sent with every request that has no field of the same name.
  TestReply::Fields& headers() noexcept { return headers_; }

 private:
  friend class World;
  friend struct detail::WorldCore;
  WorldClient(World& world, std::string name, std::uint32_t address)
      : world_(world), name_(std::move(name)), address_(address) {}

  World& world_;
  const std::string name_;
  const std::uint32_t address_;
  TestReply::Fields headers_;
  std::size_t sent_ = 0;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
