// TestTarget: the target of a TestServer's clients: a service, or a program that has one.
//
// Owns       the objects of its maker, including the reactor.
// Thread     one.
// Fails      a maker returns the Error that every request then reports.
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

  net::Reactor& reactor;                        // runs the service; outlives this object
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

// Called once, at the first request or before. Its objects stay in the loop for its lifetime.
using TestTargetMaker =
    std::move_only_function<Result<std::unique_ptr<TestTarget>>(TestLoop&, const TestOptions&)>;

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
