// TestTarget: what a TestServer's clients are connected to: a service, or a program that has one.
//
// Owns       what its maker gave it, the reactor included.
// Thread     one.
// Fails      a maker with the Error that every request then reports.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/testing/test_loop.hpp"

namespace katana::testing {

class TestTarget {
 public:
  explicit TestTarget(net::Reactor& of) noexcept : reactor(of) {}
  virtual ~TestTarget() = default;
  TestTarget(const TestTarget&) = delete;
  TestTarget& operator=(const TestTarget&) = delete;

  net::Reactor& reactor;                        // on which the service runs; outlives this object
  std::uint16_t port = 0;                       // of its first listener
  std::vector<ServiceDocument> documents = {};  // of its service
};

// Small pools: a test makes many reactors.
inline net::ReactorOptions test_reactor_options() {
  net::ReactorOptions options;
  options.engine.links_max = 256;
  options.output_blocks_max = 8 * 1024;
  options.output_blocks_reserve = 64;
  options.carry_large_max = 64;
  return options;
}

struct TestOptions;

// Called once, at the first request or before. Its objects are in the loop as long as it lives.
using TestTargetMaker =
    std::move_only_function<Result<std::unique_ptr<TestTarget>>(TestLoop&, const TestOptions&)>;

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
