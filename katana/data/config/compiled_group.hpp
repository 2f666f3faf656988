// Groups of settings with a table that is compiled once (table.hpp), and not in every source that
// loads a configuration with them.
//
//   KATANA_CONFIG_DECLARE_GROUP(shop::StoreSettings)   // in a header, behind the description and
//                                                      // outside of every namespace
//   KATANA_CONFIG_DEFINE_GROUP(shop::StoreSettings)    // in one source
//
// Other sources do not need the description either. The type may contain commas.
//
// Allocates  nothing; the tables are those of table.hpp.
#pragma once

#include "katana/data/config/table.hpp"

// Use it in a header: sources that include the header do not compile the table of this type.
#define KATANA_CONFIG_DECLARE_GROUP(...) \
  extern template const katana::config::Type& katana::config::type_of<__VA_ARGS__>();
// Use it in one source, where the description of the type is visible.
#define KATANA_CONFIG_DEFINE_GROUP(...) \
  template const katana::config::Type& katana::config::type_of<__VA_ARGS__>();

// SPDX-License-Identifier: Apache-2.0
