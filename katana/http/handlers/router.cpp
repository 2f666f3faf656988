#include "katana/http/handlers/router.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/base/registry/services.hpp"
#include "katana/http/handlers/built_service.hpp"
#include "katana/http/handlers/error_documents.hpp"
#include "katana/http/handlers/request_documentation.hpp"

namespace katana {
namespace {

session::RouteMark mark_of(std::optional<http::Method> method, const std::string& pattern,
                           std::size_t number) {
  const std::string name(method ? http::name_of(*method) : Bytes("ANY"));
  return {.name = name + " " + pattern,
          .method = name,
          .pattern = pattern,
          .number = static_cast<std::uint32_t>(number),
          .secret_parameters = {}};
}

// Reports parameters that the handler does not take. Returns nothing if all their names begin with
// '_'.
std::optional<Error> untaken(const RouteTable& table, std::uint32_t index, std::size_t taken,
                             const std::string& route) {
  std::string left;
  const auto names = table.parameter_names(index);
  for (std::size_t place = taken; place < names.size(); ++place) {
    if (names[place].starts_with('_')) continue;
    left += fmt::format("{}{{{}}}", left.empty() ? "" : ", ", names[place]);
  }
  if (left.empty()) return std::nullopt;
  return Error(
      Code::invalid_argument,
      fmt::format("route '{}': its handler takes {} Path parameters, its pattern names "
                  "{}: {} is not taken. Take a Path<> for each, in their order, or begin the name "
                  "of the one to leave out with '_', as in {{_{}}}",
                  route, taken, names.size(), left, left.substr(1, left.find('}') - 1)));
}

std::optional<Error> mistake_of(const RouteTable& table, std::uint32_t index,
                                const detail::Route& route) {
  const std::size_t wanted = route.path_parameters;
  const std::size_t named = table.parameter_names(index).size();
  if (wanted == detail::looks_up_by_name || wanted == named) return std::nullopt;
  if (wanted < named) return untaken(table, index, wanted, route.mark.name);
  return Error(Code::invalid_argument,
               fmt::format("route '{}': its handler takes {} Path parameters, its pattern names "
                           "{}: add a {{name}} to the pattern for each",
                           route.mark.name, wanted, named));
}

// Checks the needs of a route: the values that a request has while its middleware runs.
class NeedsCheck {
 public:
  NeedsCheck(const detail::Route& route, const registry::Singletons* services,
             std::vector<Error>& mistakes)
      : route_(route), services_(services), mistakes_(mistakes) {}

  void run() {
    for (const Middleware* each : route_.middleware) {
      if (each->function == nullptr) continue;
      check(each->function->needs, "a middleware of it");
      if (each->function->provides != nullptr) provided_.push_back(each->function->provides);
    }
    check(route_.needs, "its handler");
    if (route_.functions_want_content &&
        route_.handler->content_wanted == detail::ContentWanted::stream) {
      report(
          "a middleware of it reads the content as a whole, and its handler in pieces "
          "(ContentReader): take the content in one of them");
    }
  }

 private:
  void check(const std::vector<detail::Need>& needs, std::string_view who) {
    for (const detail::Need& need : needs) {
      if (need.kind == detail::Need::Kind::context) {
        if (std::ranges::find(provided_, need.type) != provided_.end()) continue;
        report(
            fmt::format("{} takes FromContext<{}>, which no middleware in front of it provides. "
                        "use() a function that returns one, before the route is added, and in an "
                        "earlier or the same phase",
                        who, need.type->name));
      } else if (services_ == nullptr) {
        report(
            fmt::format("{} takes Inject<{}>, and the router has no services: call "
                        "Router::services()",
                        who, need.type->name));
      } else if (!need.is_registered(*services_)) {
        const Bytes how = services_->remedy(need.type);
        report(fmt::format(
            "{} takes Inject<{}>, which is not registered as a singleton: {}", who, need.type->name,
            how.empty() ? fmt::format("call singleton<{}>() of the registry", need.type->name)
                        : std::string(how)));
      }
    }
  }
  void report(std::string_view what) {
    mistakes_.emplace_back(Code::invalid_argument,
                           fmt::format("route '{}': {}", route_.mark.name, what));
  }

  const detail::Route& route_;
  const registry::Singletons* const services_;
  std::vector<Error>& mistakes_;
  std::vector<const registry::TypeInfo*> provided_;
};

using MiddlewareList = std::vector<const Middleware*>;

// Moves each middleware of an earlier phase in front of the first one of a later phase; the others
// keep their order.
MiddlewareList in_order(const MiddlewareList& given) {
  MiddlewareList ordered;
  for (const Middleware* each : given) {
    const auto is_later = [each](const Middleware* other) { return other->phase > each->phase; };
    const auto place =
        each->phase == Phase::any ? ordered.end() : std::ranges::find_if(ordered, is_later);
    ordered.insert(place, each);
  }
  return ordered;
}

bool may_answer(const Middleware& middleware) noexcept {
  return middleware.before || middleware.admit ||
         (middleware.function != nullptr && middleware.function->may_answer);
}

// Returns the first middleware that may refuse a request but would be bypassed by a shared reply;
// null: none.
const Middleware* find_passed_by(const MiddlewareList& ordered) noexcept {
  auto each = std::ranges::find(ordered, Phase::shared, &Middleware::phase);
  each = std::find_if(each, ordered.end(), [](const Middleware* behind) {
    return behind->phase == Phase::any && !behind->limits_work && may_answer(*behind);
  });
  return each == ordered.end() ? nullptr : *each;
}

std::string passed_by(const std::string& route, const Middleware& middleware) {
  return fmt::format(
      "route '{}': a middleware of it ({}) may refuse a request, and stands behind a response "
      "cache "
      "or idempotency keys. A reply that these repeat would pass it by. use() it in front of them. "
      "If it only limits the work of the handler, set Middleware::limits_work",
      route, middleware.function != nullptr ? "a function" : "with `before` or `admit`");
}

// Returns one mistake unchanged; several become one Error with a line for each.
Error all_of(const std::vector<Error>& mistakes) {
  if (mistakes.size() == 1) return mistakes.front();
  std::string text = fmt::format("{} mistakes in the routes:", mistakes.size());
  for (const Error& mistake : mistakes) text += "\n  " + mistake.describe();
  return {mistakes.front().code(), std::move(text)};
}

}  // namespace

Group& Group::use(Middleware middleware) {
  if (!middleware.mistake.empty()) {
    parts_->mistakes.emplace_back(Code::invalid_argument, middleware.mistake);
  }
  parts_->middleware.push_back(std::move(middleware));
  middleware_.push_back(&parts_->middleware.back());
  return *this;
}

Group Group::group(std::string_view prefix) const {
  Group inner(*this);
  inner.prefix_ += prefix;
  return inner;
}

Group Group::anonymous() const {
  Group open(*this);
  std::erase_if(open.middleware_, [](const Middleware* each) { return each->security != nullptr; });
  open.denies_by_default_ = false;
  return open;
}

std::vector<const SecurityDocumentation*> Group::security() const {
  std::vector<const SecurityDocumentation*> words;
  for (const Middleware* each : middleware_) {
    if (each->security != nullptr) words.push_back(each->security.get());
  }
  return words;
}

std::vector<const RequestDocumentation*> Group::words(http::Method method) const {
  std::vector<const RequestDocumentation*> words;
  for (const Middleware* each : middleware_) {
    if (each->words == nullptr) continue;
    const std::vector<http::Method>& methods = each->words->methods;
    const bool is_of_all = methods.empty();
    if (is_of_all || std::ranges::find(methods, method) != methods.end()) {
      words.push_back(each->words.get());
    }
  }
  return words;
}

void Group::use_functions(detail::MiddlewareFunctions functions, Phase phase) {
  for (auto& each : functions) use({.function = std::move(each), .phase = phase});
}

void Group::add(std::optional<http::Method> method, std::string_view pattern,
                std::unique_ptr<detail::Handler> handler, detail::HandlerTraits traits,
                const RouteOptions& options) {
  const std::string whole = prefix_ + std::string(pattern);
  const auto added =
      method ? parts_->table.add(*method, whole) : parts_->table.add_any_method(whole);
  if (!added) {
    parts_->mistakes.push_back(added.error());
    return;
  }
  session::RouteMark mark = mark_of(method, whole, parts_->routes.size());
  if (const std::string wrong = handler->mistake(); !wrong.empty()) {
    parts_->mistakes.emplace_back(Code::invalid_argument,
                                  fmt::format("route '{}': {}", mark.name, wrong));
  }
  if (denies_by_default_ && std::ranges::none_of(security(), &SecurityDocumentation::decides)) {
    parts_->mistakes.emplace_back(
        Code::invalid_argument,
        fmt::format("route '{}': its group denies by default, and no policy allows anyone. "
                    "use(auth::require(…)) before the route is added, or add it by anonymous()",
                    mark.name));
  }
  Group behind(*this);
  behind.middleware_ = in_order(middleware_);
  if (const Middleware* const passed = find_passed_by(behind.middleware_)) {
    parts_->mistakes.emplace_back(Code::invalid_argument, passed_by(mark.name, *passed));
  }
  behind.use_functions(std::move(traits.awaited), Phase::any);
  if (parts_->innermost != nullptr) behind.middleware_.push_back(parts_->innermost);
  const DecompressionOptions* decoding = nullptr;
  bool has_functions = false, functions_want_content = false;
  for (const Middleware* each : behind.middleware_) {
    if (each->decoding) decoding = each->decoding.get();
    has_functions |= each->function != nullptr;
    functions_want_content |= each->function != nullptr && each->function->wants_content;
  }
  const bool streams = handler->content_wanted == detail::ContentWanted::stream;
  parts_->routes.push_back(
      {.handler = std::move(handler),
       .middleware = std::move(behind.middleware_),
       .content_bytes_max =
           streams ? options.streamed_bytes_max.value_or(parts_->defaults.streamed_bytes_max)
                   : options.content_bytes_max.value_or(parts_->defaults.content_bytes_max),
       .path_parameters = traits.path_parameters,
       .decoding = decoding,
       .has_functions = has_functions,
       .functions_want_content = functions_want_content,
       .needs = std::move(traits.needs),
       .mark = std::move(mark)});
  parts_->routes.back().mark.secret_parameters = std::move(traits.secret_parameters);
  parts_->routes.back().mark.timeout = options.timeout;
}

Group& Group::document(std::function<Result<ServiceDocument>()> make) {
  parts_->make_documents.push_back(std::move(make));
  return *this;
}

Group& Group::on_documents(std::function<void(const std::vector<ServiceDocument>&)> tell) {
  parts_->on_documents.push_back(std::move(tell));
  return *this;
}

bool Group::has_document() const noexcept { return !parts_->make_documents.empty(); }

ReplyChecks Group::reply_checks() const noexcept { return parts_->reply_checks; }

std::uint64_t Group::check_steps_max() const noexcept { return parts_->defaults.check_steps_max; }

Router::Router() : Group(std::make_shared<detail::ServiceParts>()) {}

Router& Router::development(bool on) noexcept {
  parts_->development = on;
  return *this;
}

Router& Router::defaults(const RouteDefaults& defaults) noexcept {
  parts_->defaults = defaults;
  return *this;
}

Router& Router::check_replies(ReplyChecks checks) noexcept {
  parts_->reply_checks = checks;
  return *this;
}

Router& Router::services(const registry::Services& services) noexcept {
  parts_->services = &services;
  return *this;
}

Router& Router::innermost(Middleware middleware) {
  parts_->middleware.push_back(std::move(middleware));
  parts_->innermost = &parts_->middleware.back();
  return *this;
}

Router& Router::error_documents(ErrorForm form) {
  parts_->middleware.push_back(detail::error_documents(std::move(form)));
  parts_->error_documents = &parts_->middleware.back();
  return *this;
}

Result<Service> Router::build() && {
  RouteTable table = std::move(parts_->table).build();
  for (std::uint32_t index = 0; index < parts_->routes.size(); ++index) {
    if (auto mistake = mistake_of(table, index, parts_->routes[index])) {
      parts_->mistakes.push_back(*std::move(mistake));
    }
    NeedsCheck(parts_->routes[index], parts_->services, parts_->mistakes).run();
    parts_->routes[index].services = parts_->services;
    parts_->routes[index].development = parts_->development;
    if (parts_->error_documents == nullptr) continue;
    // The place is behind compression and counting, and in front of checks against a document.
    std::vector<const Middleware*>& all = parts_->routes[index].middleware;
    const bool has_innermost = !all.empty() && all.back() == parts_->innermost;
    all.insert(all.end() - (has_innermost ? 1 : 0), parts_->error_documents);
  }
  for (const auto& make : parts_->make_documents) {
    auto made = make();
    if (made) {
      parts_->documents.push_back(*std::move(made));
    } else {
      parts_->mistakes.push_back(std::move(made).error());
    }
  }
  for (const auto& tell : parts_->on_documents) tell(parts_->documents);
  parts_->make_documents.clear();  // they may own these parts
  parts_->on_documents.clear();
  if (!parts_->mistakes.empty()) return std::unexpected(all_of(parts_->mistakes));
  // Groups made from this router still share its parts: routes that they add from now on are lost.
  auto built = std::make_shared<detail::BuiltService>(
      detail::BuiltService{.table = std::move(table),
                           .parts = std::make_shared<detail::ServiceParts>(std::move(*parts_))});
  built->fallback.middleware = in_order(middleware_);
  if (built->parts->error_documents != nullptr) {
    built->fallback.middleware.push_back(built->parts->error_documents);
  }
  return Service(std::move(built));
}

std::size_t Service::route_count() const noexcept { return built_->parts->routes.size(); }

const session::RouteMark& Service::mark(std::uint32_t index) const noexcept {
  return built_->route(index).mark;
}

const std::vector<ServiceDocument>& Service::documents() const noexcept {
  return built_->parts->documents;
}
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
