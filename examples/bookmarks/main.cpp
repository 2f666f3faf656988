#include "bookmarks.hpp"

int main(int count, char** arguments) {
  bookmarks::Program app(bookmarks::options());
  bookmarks::configure(app);
  return app.run(count, arguments);
}

// SPDX-License-Identifier: Apache-2.0
