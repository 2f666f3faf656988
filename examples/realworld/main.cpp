#include "realworld.hpp"

int main(int count, char** arguments) {
  realworld::Program app(realworld::options());
  realworld::configure(app);
  return app.run(count, arguments);
}

// SPDX-License-Identifier: Apache-2.0
