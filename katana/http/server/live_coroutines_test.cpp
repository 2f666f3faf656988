#include "katana/http/server/live_coroutines.hpp"

#include <gtest/gtest.h>

namespace katana::server {
namespace {

TEST(LiveCoroutines, a_function_has_its_name_without_types_in_the_spelling_of_each_compiler) {
  EXPECT_EQ(short_name("katana::Task<int> shop::find(int)"), "shop::find");
  EXPECT_EQ(short_name("Task<std::vector<Row> > shop::Orders::list(katana::Query<Filter>) const"),
            "shop::Orders::list");
  EXPECT_EQ(short_name("auto main()::(anonymous class)::operator()(int) const"),
            "main()::(anonymous class)");
  EXPECT_EQ(
      short_name("void main()::<lambda(int)>::operator()(main()::<lambda(int)>::_Z4main.Frame*)"),
      "main()::<lambda(int)>");
  EXPECT_EQ(short_name("katana::Task<T> katana::net::with_timeout(Task<T>) [with T = int]"),
            "katana::net::with_timeout");
  EXPECT_EQ(short_name("void {anonymous}::add_routes(const katana::registry::Services&, "
                       "katana::Router&)::<lambda(katana::Path<int>)>::operator()(main.Frame*)"),
            "{anonymous}::add_routes()::<lambda(katana::Path<int>)>");
  EXPECT_EQ(short_name("auto shop::(anonymous namespace)::add(Router &)::(anonymous "
                       "class)::operator()(Path<int>) const"),
            "shop::(anonymous namespace)::add()::(anonymous class)");
  EXPECT_EQ(short_name("plain"), "plain");
  EXPECT_EQ(short_name(""), "");
  EXPECT_EQ(short_name(")"), ")");
}

TEST(LiveCoroutines, a_path_has_its_last_two_parts) {
  EXPECT_EQ(short_path("/srv/build/shop/orders.cpp"), "shop/orders.cpp");
  EXPECT_EQ(short_path("orders.cpp"), "orders.cpp");
  EXPECT_EQ(short_path("/orders.cpp"), "orders.cpp");
  EXPECT_EQ(short_path(""), "");
}

}  // namespace
}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
