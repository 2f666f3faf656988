// Fetcher: asks a running program for its pages of operations.
//
// Owns       a client and a reactor.
// Thread     one, which waits.
// Allocates  as a client does.
// Fails      with the URL and the reason; a status other than 200 with what to do about it.
#pragma once

#include <memory>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::tool {

class Fetcher {
 public:
  // `url`: of the program, "http://127.0.0.1:9100". `token`: of its operations; empty: none.
  static Result<std::unique_ptr<Fetcher>> make(const std::string& url, std::string token,
                                               Duration timeout = seconds(10));
  // The same with the token of a file; empty: none.
  static Result<std::unique_ptr<Fetcher>> with_token_file(const std::string& url,
                                                          const std::string& token_file);
  ~Fetcher();

  // GET of a path; the content of the reply.
  Result<std::string> get(const std::string& path);
  const std::string& url() const noexcept;  // without a trailing '/'

 private:
  struct State;
  explicit Fetcher(std::unique_ptr<State> state) noexcept;

  const std::unique_ptr<State> state_;
};

// The first line of a file, which holds a token.
Result<std::string> token_in(const std::string& file);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
