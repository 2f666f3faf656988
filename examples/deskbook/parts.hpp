// The parts that deskbook.cpp puts together. Each registers its services and adds its routes to
// groups: `open` is for anybody, `pages` for browsers, `api` for browsers and programs.
#pragma once

#include "deskbook.hpp"
#include "katana/auth.hpp"
#include "katana/found.hpp"
#include "katana/http.hpp"

namespace deskbook {

using database::found, database::Queries, database::Transaction;
using Db = Inject<database::Database>;
using Id = Path<std::int64_t>;
using Who = FromContext<auth::Principal>;

enum class Role : std::uint8_t { member, administrator };
KATANA_DESCRIBE_ENUM(Role, member, administrator)

struct Groups {
  Group open, pages, api, administration;
};

// accounts.cpp: people, sessions of browsers, tokens of programs.
void add_accounts(registry::Registry& registry);
Result<Groups> make_groups(const registry::Services& services, Router& router);
void add_account_routes(Groups& groups);
Task<Result<void>> make_first_account(const registry::Services& services);

// desks.cpp: desks, their photographs, and CSV of all of them.
void add_desks(registry::Registry& registry);
void add_desk_routes(Groups& groups);

// bookings.cpp: bookings, events about them, and the release of desks without a check-in.
void add_bookings(registry::Registry& registry);
void add_booking_routes(Groups& groups);
Task<Result<void>> release_desks(const registry::Services& services);
Task<void> follow_events(const registry::Services& services);

}  // namespace deskbook

// SPDX-License-Identifier: Apache-2.0
