// TestText: a first test program of the service of one tag, which becomes the user's file.
//
// Owns       its text.
// Borrows    the options, for its life.
// Thread     one.
// Allocates  freely.
// Fails      never; an operation without a sampled request has a test that is skipped and says why.
#pragma once

#include <string>

#include "katana/openapi/generate/operation_plan.hpp"
#include "katana/openapi/generate/options.hpp"

namespace katana::openapi::generate {

class TestText {
 public:
  TestText(const GeneratorOptions& options, std::string tag)
      : options_(options), tag_(std::move(tag)) {}

  // One more operation.
  void add(const OperationPlan& plan);
  // "pets_api_test.cpp"
  std::string file_name() const;
  std::string source() const;

 private:
  const GeneratorOptions& options_;
  std::string tag_;
  std::string operations_;
  std::string tests_;
};

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
