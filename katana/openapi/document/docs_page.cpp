#include "katana/openapi/document/docs_page.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "katana/data/container/json_write.hpp"
#include "katana/data/container/value.hpp"
#include "katana/http/handlers/framework_problems.hpp"
#include "katana/http/handlers/html.hpp"
#include "katana/openapi/document/served_content.hpp"

namespace katana::openapi {
namespace {

using Content = std::shared_ptr<detail::ServedContent>;

// Cache-Control of the files: their path has their version.
constexpr Literal immutable = "public, max-age=31536000, immutable";

// Starts the renderer; its own script, because the policy allows none within the page.
constexpr const char* start_script = R"js("use strict";
const root = document.getElementById("docs");
const documents = JSON.parse(root.dataset.documents);
const wanted = new URLSearchParams(location.search).get("document");
const shown = documents.find((each) => each.name === wanted) ?? documents[0];
if (documents.length > 1) {
  const list = document.getElementById("documents");
  for (const each of documents) {
    const link = document.createElement("a");
    link.href = "?document=" + encodeURIComponent(each.name);
    link.textContent = each.name;
    if (each === shown) link.setAttribute("aria-current", "page");
    list.append(link, " ");
  }
  list.hidden = false;
}
window.ui = SwaggerUIBundle({
  url: shown.path,
  dom_id: "#docs",
  deepLinking: true,
  validatorUrl: null,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  onComplete: () => document.getElementById("servers")?.setAttribute("aria-label", "Server"),
  oauth2RedirectUrl: new URL(root.dataset.redirect, location.href).href,
});
)js";

// Corrects colours with too little contrast in the renderer's own style (WCAG 2.2, 1.4.3).
constexpr const char* own_style = R"css(body { margin: 0; }
#documents { font: 14px/2 sans-serif; padding: 0 20px; }
#documents a { color: #0b4f9c; margin-right: 1em; }
#documents a[aria-current] { color: #1b1b1b; font-weight: bold; }
.swagger-ui .info a, .swagger-ui .info .url { color: #0b4f9c; }
.swagger-ui .info .title small { background: #4a5160; }
.swagger-ui .info .title small.version-stamp { background: #3b6e00; }
.swagger-ui .opblock .opblock-summary-method { color: #1b1b1b; text-shadow: none; }
.swagger-ui .json-schema-2020-12-expand-deep-button { color: #505050; }
)css";

Literal type_of(Bytes name) {
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  return "image/png";
}

// The Content-Security-Policy. The page may load its own files, and send requests to its own origin
// and those of the options.
std::string policy_of(const DocsPageOptions& options) {
  std::string connect = "'self'";
  for (const std::string& each : options.origins) connect += " " + each;
  return fmt::format(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
      "connect-src {}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      connect);
}

std::string page_of(const DocsPageOptions& options, const std::string& files,
                    const std::string& redirect, const std::vector<ServiceDocument>& documents) {
  container::List shown;
  for (const ServiceDocument& each : documents) {
    if (each.path.empty()) continue;
    shown.emplace_back(container::Object{{"name", each.name}, {"path", each.path}});
  }
  std::vector<Html> links;
  for (const ServiceDocument& each : documents) {
    if (!each.path.empty()) {
      links.push_back(html(R"(<li><a href="{}">{}</a></li>)", SafeUrl(each.path), each.name));
    }
  }
  return html(R"(<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{}</title>)"
              R"(<meta name="viewport" content="width=device-width, initial-scale=1">)"
              R"(<link rel="icon" href="{}"><link rel="stylesheet" href="{}">)"
              R"(<link rel="stylesheet" href="{}"></head><body>)"
              R"(<nav id="documents" aria-label="Documents" hidden></nav>)"
              R"(<div id="docs" data-documents="{}" data-redirect="{}">)"
              R"(<ul>{}</ul></div>)"
              R"(<script src="{}"></script><script src="{}"></script></body></html>)",
              options.title, SafeUrl(files + "favicon-32x32.png"),
              SafeUrl(files + "swagger-ui.css"), SafeUrl(files + "docs.css"),
              container::to_json(container::Value(std::move(shown))), redirect, links,
              SafeUrl(files + "swagger-ui-bundle.js"), SafeUrl(files + "docs.js"))
      .markup();
}

void add_file(Group& group, const std::string& path, const Content& content) {
  group.get(path, [content](const RequestView& request) { return content->reply(request); });
}

// Adds the page to which an OAuth 2 server sends the browser back, and its script. The renderer
// looks for both beside the page; this address is registered at that server.
void add_redirect(Group& group, const DocsAssets& assets, const std::string& policy,
                  const std::string& path) {
  for (const DocsFile& file : assets.files) {
    if (!file.name.starts_with("oauth2-redirect.")) continue;
    const Content content(new detail::ServedContent(type_of(file.name), "no-cache"));
    content->fill_gzip(file.content);
    group.get(path + "/" + std::string(file.name), [content, policy](const RequestView& request) {
      return content->reply(request).with("Content-Security-Policy", policy);
    });
  }
}

}  // namespace

void docs_page(Group group, const DocsAssets& assets, const DocsPageOptions& options) {
  if (assets.files.empty()) {
    group.get(options.path, [remedy = std::string(assets.remedy)] {
      return problem(problem_types::unavailable,
                     "The program was built without the files of this page. " + remedy);
    });
    return;
  }
  const std::string version = std::string(assets.version);
  const std::string below = options.path + "/" + version + "/";
  for (const DocsFile& file : assets.files) {
    if (file.name.starts_with("oauth2-redirect.")) continue;
    const Content content(new detail::ServedContent(type_of(file.name), immutable));
    content->fill_gzip(file.content);
    add_file(group, below + std::string(file.name), content);
  }
  // Ours change with the program, so they are not immutable.
  const Content script(new detail::ServedContent("text/javascript; charset=utf-8", "no-cache"));
  script->fill(start_script);
  add_file(group, below + "docs.js", script);
  const Content style(new detail::ServedContent("text/css; charset=utf-8", "no-cache"));
  style->fill(own_style);
  add_file(group, below + "docs.css", style);

  const std::string policy = policy_of(options);
  add_redirect(group, assets, policy, options.path);
  const Content page(new detail::ServedContent("text/html; charset=utf-8", "no-cache"));
  const std::string prefix(group.prefix());
  group.on_documents([page, options, files = prefix + below,
                      redirect = prefix + options.path + "/oauth2-redirect.html"](
                         const std::vector<ServiceDocument>& documents) {
    page->fill(page_of(options, files, redirect, documents));
  });
  group.get(options.path, [page, policy](const RequestView& request) {
    return page->reply(request)
        .with("Content-Security-Policy", policy)
        .with("X-Content-Type-Options", "nosniff");
  });
}

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
