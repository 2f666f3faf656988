// hello_world_server: the smallest program on KATANA, and the one that its cost is measured with.
#include "hello_world_server/server.hpp"

int main(int count, char** arguments) {
  return hello::run({.name = "hello_world_server"}, count, arguments);
}

// SPDX-License-Identifier: Apache-2.0
