// ablation_server: hello_world_server with decisions of its engine taken back, one flag for each,
// so that the laboratory can measure what a decision is worth.
#include <string>
#include <vector>

#include "ablation_server/decisions.hpp"
#include "hello_world_server/server.hpp"

int main(int count, char** arguments) {
  std::vector<std::string> decisions;
  return hello::run(
      {.name = "ablation_server",
       .add_flags =
           [&](CLI::App& app) {
             app.add_option("--decision", decisions,
                            "KEY=VALUE: take a decision of the engine back, as first_read=off; may "
                            "be given again. Only with --engine epoll-edge or io_uring; a wrong "
                            "KEY lists those that the engine has")
                 ->allow_extra_args(false);
           },
       .adjust = [&](auto& options) { return ablation::take_back(decisions, options); }},
      count, arguments);
}

// SPDX-License-Identifier: Apache-2.0
