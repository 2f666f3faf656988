// Groups of settings that are compiled once: what a configuration makes of a described struct takes
// the compiler a second or so, in every file that loads it.
//
//   KATANA_CONFIG_DECLARE_GROUP(shop::StoreSettings)   // in a header, behind the description and
//                                                      // outside of every namespace
//   KATANA_CONFIG_DEFINE_GROUP(shop::StoreSettings)    // in one source
//
// Allocates  nothing; the functions are those of reader.hpp, printer.hpp, shape.hpp and config.hpp.
#pragma once

#include <string>

#include "katana/data/config/config.hpp"
#include "katana/data/config/printer.hpp"
#include "katana/data/config/reader.hpp"
#include "katana/data/config/schema.hpp"
#include "katana/data/config/shape.hpp"

#define KATANA_CONFIG_GROUP_(PREFIX, T)                                                           \
  PREFIX template katana::config::Shape katana::config::shape_of<T>(katana::Bytes, bool);         \
  PREFIX template void katana::config::read_group<T>(                                             \
      katana::config::Reading&, const katana::config::Node*, T&, const katana::config::Shape&);   \
  PREFIX template void katana::config::print_group<T>(katana::config::Printing&, const T&, bool); \
  PREFIX template void katana::config::detail::print_defaults<T>(std::string&, const T&,          \
                                                                 const std::string&);             \
  PREFIX template void katana::config::detail::write_group_schema<T>(                             \
      katana::config::detail::SchemaText&, const T&);                                             \
  PREFIX template void katana::config::detail::merge_group<T>(katana::config::detail::Merging&,   \
                                                              T&, const T&, bool, bool);
#define KATANA_CONFIG_DECLARE_GROUP(T) KATANA_CONFIG_GROUP_(extern, T)
#define KATANA_CONFIG_DEFINE_GROUP(T) KATANA_CONFIG_GROUP_(, T)

// SPDX-License-Identifier: Apache-2.0
