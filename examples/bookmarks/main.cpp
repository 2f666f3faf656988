#include "bookmarks.hpp"
#include "katana/host/application.hpp"
#include "katana/host/sqlite/sqlite.hpp"
#include "katana/service/events/events.hpp"

using namespace katana;

int main(int count, char** arguments) {
  host::Application<host::SettingsWithDatabase> app({.name = "bookmarks",
                                                     .version = "1.0",
                                                     .database = host::sqlite(),
                                                     .migrations = bookmarks::migrations()});
  app.services([](registry::Registry& registry) {
    registry.singleton<bookmarks::Accounts>(bookmarks::own_accounts);
    registry.singleton<bookmarks::Titles>(bookmarks::web_titles);
    registry.singleton<EventTopic>([] { return std::make_unique<EventTopic>(); });
  });
  app.routes(bookmarks::add_routes);
  app.job("titles", jobs::every(seconds(600)), bookmarks::find_titles);
  return app.run(count, arguments);
}
