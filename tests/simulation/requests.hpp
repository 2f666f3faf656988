// Requests: the parts of which plans are made.
//
// Allocates  as std::string does.
// Thread     any.
// Invariant  the planned reply follows from the routes of hello_world_server and Trial.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "katana/base/values/random.hpp"
#include "tests/simulation/client.hpp"

namespace katana::simulation {

// Content that differs at every place, so that a reply that mixes two up shows it.
std::string content_of(std::size_t octets, std::uint64_t key = 0);

// A head with a Host field, `fields` (whole lines), and nothing else.
std::string head_of(std::string_view method, std::string_view target, std::string_view fields = {});

// A request without content, and the expected reply.
Planned get(std::string target, std::string reply);
Planned get(std::string target, unsigned status);
// The same request as HEAD.
Planned as_head(Planned request);
// HTTP/1.0, which ends the connection unless it is to be kept alive.
Planned as_http10(Planned request, bool keep_alive);

// Content with its length, or in chunks cut by `random`.
Planned post(std::string target, const std::string& content, std::string reply,
             std::string_view fields = {});
Planned post_chunked(std::string target, const std::string& content, std::string reply,
                     Random& random, std::string_view fields = {});
// With Expect: 100-continue, if it has content; `waits`: for the 100.
Planned expecting(Planned request, bool waits);

// Bytes that the protocol refuses.
Planned refused(std::string name, std::string bytes, unsigned status);
// A request of which nothing more comes after `octets`; 408 when time is up, 400 when the client
// ends its side.
Planned cut_short(Planned request, std::size_t octets, unsigned status);

// The replies of hello_world_server.
std::string hello_bytes(std::size_t octets);

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
