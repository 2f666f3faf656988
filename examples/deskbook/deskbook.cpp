#include "deskbook.hpp"

#include "katana/application_nats.hpp"
#include "katana/error_documents.hpp"
#include "migrations.hpp"  // made from migrations/ by the build
#include "parts.hpp"

namespace deskbook {

app::ApplicationOptions options() {
  return {.name = "deskbook", .database = app::postgres(), .migrations = embedded::migrations()};
}

void configure(Program& app) {
  app.use(app::nats());
  app.services([](registry::Registry& registry) {
    add_accounts(registry);
    add_desks(registry);
    add_bookings(registry);
  });
  app.routes([](const registry::Services& services, Router& router) -> Result<void> {
    router.deny_by_default();
    router.error_documents(html_error_pages("Ask facilities@example.org."));
    KATANA_TRY(Groups groups, make_groups(services, router));
    add_account_routes(groups);
    add_desk_routes(groups);
    add_booking_routes(groups);
    return {};
  });
  app.on_start([&app](const registry::Services&) -> Result<void> {
    KATANA_TRY_DONE(app.spawn(make_first_account, "the first account"));
    return app.spawn(follow_events, "events");
  });
  app.job("release", jobs::every(seconds(60)), release_desks,
          {.retry = {.retries_max = 3, .delay = seconds(5)}, .one_instance = true});
}

}  // namespace deskbook

// SPDX-License-Identifier: Apache-2.0
