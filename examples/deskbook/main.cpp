#include "deskbook.hpp"

int main(int count, char** arguments) {
  return deskbook::app::run(deskbook::options(), deskbook::configure, count, arguments);
}

// SPDX-License-Identifier: Apache-2.0
