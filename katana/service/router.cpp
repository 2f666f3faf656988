#include "katana/service/router.hpp"

#include <fmt/format.h>

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

// Of parameters that are not taken: nullopt when all of them are to be left out.
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
                  "{}, so that {} is not taken: take a Path<> for each, in their order, or "
                  "begin the name of what is to be left out with '_', as in {{_{}}}",
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

// One is as it is; of several each has a line.
Error all_of(const std::vector<Error>& mistakes) {
  if (mistakes.size() == 1) return mistakes.front();
  std::string text = fmt::format("{} mistakes in the routes:", mistakes.size());
  for (const Error& mistake : mistakes) text += "\n  " + mistake.describe();
  return {mistakes.front().code(), std::move(text)};
}

}  // namespace

Group& Group::use(Middleware middleware) {
  parts_->middleware.push_back(std::move(middleware));
  middleware_.push_back(&parts_->middleware.back());
  return *this;
}

Group Group::group(std::string_view prefix) const {
  Group inner(*this);
  inner.prefix_ += prefix;
  return inner;
}

void Group::add(std::optional<http::Method> method, std::string_view pattern,
                std::unique_ptr<detail::Handler> handler, std::size_t path_parameters,
                const RouteOptions& options, std::vector<std::string> secret_parameters) {
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
  const DecompressionOptions* decoding = nullptr;
  for (const Middleware* each : middleware_) {
    if (each->decoding) decoding = each->decoding.get();
  }
  const bool streams = handler->content_wanted == detail::ContentWanted::stream;
  parts_->routes.push_back(
      {.handler = std::move(handler),
       .middleware = middleware_,
       .content_bytes_max = streams ? options.streamed_bytes_max : options.content_bytes_max,
       .path_parameters = path_parameters,
       .decoding = decoding,
       .mark = std::move(mark)});
  parts_->routes.back().mark.secret_parameters = std::move(secret_parameters);
}

Result<Service> Router::build() && {
  RouteTable table = std::move(parts_->table).build();
  for (std::uint32_t index = 0; index < parts_->routes.size(); ++index) {
    if (auto mistake = mistake_of(table, index, parts_->routes[index])) {
      parts_->mistakes.push_back(*std::move(mistake));
    }
    parts_->routes[index].shows_causes = parts_->shows_causes;
  }
  if (!parts_->mistakes.empty()) return std::unexpected(all_of(parts_->mistakes));
  // Groups made from this router still share its parts: what they add from here on goes nowhere.
  auto parts = std::make_shared<detail::ServiceParts>(std::move(*parts_));
  return Service(std::move(table), std::move(parts), middleware_);
}

Service::Service(RouteTable table, std::shared_ptr<detail::ServiceParts> parts,
                 std::vector<const Middleware*> outermost)
    : table_(std::move(table)), parts_(std::move(parts)) {
  fallback_.middleware = std::move(outermost);
}

}  // namespace katana
