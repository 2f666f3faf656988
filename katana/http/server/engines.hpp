// Engines: selection of an engine by name, at start.
//
// Thread     any.
// Fails      choose_engine() names the available engines, or says why io_uring does not run here.
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

// Each is a row of the table in engines.cpp, from which programs, tests and the laboratory take the
// list of engines (--list-engines).
enum class EngineKind : std::uint8_t { epoll_edge, epoll_level, io_uring };
// All engines of this program, whether they run here or not.
std::span<const EngineKind> engines() noexcept;

// The engine in a configuration: its name, or "auto".
enum class EngineName : std::uint8_t { epoll_edge, epoll_level, io_uring, automatic };

// The selected engine, and why it is not another.
struct EngineChoice {
  EngineKind kind = EngineKind::epoll_edge;  // for make_reactor()
  // One line for the log: why "auto" did not take io_uring, or which features of io_uring this
  // kernel lacks. Empty when there is nothing to report.
  std::string note = {};
};

// Selects an engine: "epoll-edge", "epoll-level", "io_uring", or "auto". "auto" is io_uring, the
// cheapest in the laboratory (docs/decisions/0016), and epoll-edge where io_uring does not run.
// invalid_argument: the name is unknown. Other codes: io_uring was asked for and does not run here.
Result<EngineChoice> choose_engine(std::string_view name);
// The same without the note.
Result<EngineKind> parse_engine(std::string_view name);
std::string_view engine_name(EngineKind kind) noexcept;
// "epoll-edge, epoll-level, io_uring or auto", for help and errors.
std::string engine_names();
// A line for each engine: its name and "available", or "unavailable: " and the reason.
std::string list_engines();

// REQUIRES that the kernel can run it (choose_engine()). `session_bytes_max`: the size of the
// largest session.
std::unique_ptr<net::Reactor> make_reactor(EngineKind kind, const net::ReactorOptions& options,
                                           std::size_t session_bytes_max);

// Each is in a separate translation unit, because each compiles a reactor and an engine into one.
std::unique_ptr<net::Reactor> make_epoll_edge_reactor(const net::ReactorOptions& options,
                                                      std::size_t session_bytes_max);
std::unique_ptr<net::Reactor> make_epoll_level_reactor(const net::ReactorOptions& options,
                                                       std::size_t session_bytes_max);
std::unique_ptr<net::Reactor> make_uring_reactor(const net::ReactorOptions& options,
                                                 std::size_t session_bytes_max,
                                                 const engine::UringOptions& rings);

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
