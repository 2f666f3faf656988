// Engines: the choice of one, by name, at start.
//
// Thread     any.
// Fails      choose_engine() names the engines there are, or says why io_uring does not run here.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "katana/base/system/result.hpp"

namespace katana::net {
class Reactor;
struct ReactorOptions;
}  // namespace katana::net

namespace katana::engine {
struct UringOptions;
}

namespace katana::server {

// One row of the table in engines.cpp each, which is all that programs, tests and the laboratory
// know of the engines there are (--list-engines).
enum class EngineKind : std::uint8_t { epoll_edge, epoll_level, io_uring };
// All engines that this program has, whether they run here or not.
std::span<const EngineKind> engines() noexcept;

// What a configuration names: an engine, or the choice of one.
enum class EngineName : std::uint8_t { epoll_edge, epoll_level, io_uring, automatic };

// The engine that runs, and why it is not another.
struct EngineChoice {
  EngineKind kind = EngineKind::epoll_edge;  // for make_reactor()
  // For the log, in one line: why "auto" did not take io_uring, or what of io_uring this kernel
  // lacks. Empty when there is nothing to say.
  std::string note = {};
};

// "epoll-edge", "epoll-level", "io_uring", or "auto": io_uring, which the laboratory found cheapest
// (docs/decisions/0016), and where it does not run epoll-edge. invalid_argument: the name is
// unknown; other codes: io_uring was asked for and does not run here.
Result<EngineChoice> choose_engine(std::string_view name);
// The same without the note.
Result<EngineKind> parse_engine(std::string_view name);
std::string_view engine_name(EngineKind kind) noexcept;
// "epoll-edge, epoll-level, io_uring or auto", for help and errors.
std::string engine_names();
// A line for each engine: its name and "available", or "unavailable: " and why.
std::string list_engines();

// REQUIRES that the kernel can run it (choose_engine()). `session_bytes_max`: of the largest
// session.
std::unique_ptr<net::Reactor> make_reactor(EngineKind kind, const net::ReactorOptions& options,
                                           std::size_t session_bytes_max);

// One translation unit each, because each holds a reactor and an engine compiled into one.
std::unique_ptr<net::Reactor> make_epoll_edge_reactor(const net::ReactorOptions& options,
                                                      std::size_t session_bytes_max);
std::unique_ptr<net::Reactor> make_epoll_level_reactor(const net::ReactorOptions& options,
                                                       std::size_t session_bytes_max);
std::unique_ptr<net::Reactor> make_uring_reactor(const net::ReactorOptions& options,
                                                 std::size_t session_bytes_max,
                                                 const engine::UringOptions& rings);

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
