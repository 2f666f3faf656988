// Groups of settings whose table is compiled once (table.hpp), rather than in every source that
// loads a configuration with them.
//
//   KATANA_CONFIG_DECLARE_GROUP(shop::StoreSettings)   // in a header, behind the description and
//                                                      // outside of every namespace
//   KATANA_CONFIG_DEFINE_GROUP(shop::StoreSettings)    // in one source
//
// Another source does without the description, too. A type with commas may be given as it stands.
//
// Allocates  nothing; the tables are those of table.hpp.
#pragma once

#include "katana/data/config/table.hpp"

// In a header: sources that include it do not compile the table of this type.
#define KATANA_CONFIG_DECLARE_GROUP(...) \
  extern template const katana::config::Type& katana::config::type_of<__VA_ARGS__>();
// In one source, where the description of the type is visible.
#define KATANA_CONFIG_DEFINE_GROUP(...) \
  template const katana::config::Type& katana::config::type_of<__VA_ARGS__>();

// SPDX-License-Identifier: Apache-2.0
