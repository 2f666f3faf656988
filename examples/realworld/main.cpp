#include "realworld.hpp"

int main(int count, char** arguments) {
  return realworld::app::run(realworld::options(), realworld::configure, count, arguments);
}

// SPDX-License-Identifier: Apache-2.0
