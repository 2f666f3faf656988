#include <cstdio>
#include <string>

#include "katana/log.hpp"

using namespace katana;

struct Order {
  int number = 0;
  std::string customer;
};
KATANA_DESCRIBE(Order, number, customer)

int main(int count, char** arguments) {
  const std::string path = count > 1 ? arguments[1] : "shop.log";
  log::Options options;
  log::Rotation daily;
  daily.period = seconds(86'400);
  daily.keep = 14;
  options.sinks = {log::console(), log::file(path, daily), log::json_file(path + ".json")};
  options.sinks[0].level = log::Level::warn;  // the terminal gets what needs somebody
  auto started = log::Log::start(options);
  if (!started) return std::puts(started.error().describe().c_str()), 2;
  log::Log& log = **started;
  if (auto ready = log::flush_on_crash(); !ready) return std::puts("no crash handler"), 2;

  const log::Logger shop = log.logger("shop");
  const log::Logger stock = log.logger("stock");
  shop.info("open with {} shelves", 12);

  // Fields are kept as they are: 200 is a number in the JSON line.
  shop.info("request done in {:.1f} ms", 1.25, log::field("status", 200));

  // A described struct is copied member by member.
  const Order order{7, "Ada"};
  shop.info("accepted {}", order, log::field("order", order));

  // Until the end of the block every record of this thread carries the id.
  {
    const log::Context context(log::field("request_id", "a1b2"));
    const log::Scope scope(context);
    stock.warn("{} left of {}", 3, "tea");
  }

  // At most two records of this place in an hour. The next one says how many were held back.
  for (int attempt = 0; attempt < 100; ++attempt) {
    shop.error(KATANA_AT_MOST(2, seconds(3600)), "no printer, attempt {}", attempt);
  }

  // From here on stock is quiet and shop tells more.
  if (auto set = log.set_levels("info,stock=error,shop=debug"); !set) return 2;
  stock.info("nobody reads this");
  shop.debug("closing");
}
