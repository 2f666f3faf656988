#include "katana/openapi/document/swagger_ui/swagger_ui.hpp"

#include <cstddef>

// A file as it is, between two symbols that no other object sees. KATANA_SWAGGER_UI is the folder
// in which the build put the files in gzip.
#ifdef KATANA_SWAGGER_UI
#define KATANA_FILE(symbol, name)                                                       \
  asm(".pushsection .rodata\n" #symbol "_begin:\n.incbin \"" KATANA_SWAGGER_UI "/" name \
      ".gz\"\n" #symbol "_end:\n.popsection\n");                                        \
  extern "C" __attribute__((visibility("hidden"))) const char symbol##_begin[];         \
  extern "C" __attribute__((visibility("hidden"))) const char symbol##_end[]
KATANA_FILE(katana_swagger_ui_bundle, "swagger-ui-bundle.js");
KATANA_FILE(katana_swagger_ui_style, "swagger-ui.css");
KATANA_FILE(katana_swagger_ui_icon, "favicon-32x32.png");
KATANA_FILE(katana_swagger_ui_redirect_page, "oauth2-redirect.html");
KATANA_FILE(katana_swagger_ui_redirect_script, "oauth2-redirect.js");
#undef KATANA_FILE
#endif

namespace katana::openapi {

DocsAssets swagger_ui() {
  DocsAssets assets;
  assets.remedy =
      "Install drf-spectacular-sidecar (PyPI) or swagger-ui-dist (npm), configure with "
      "-DKATANA_SWAGGER_UI=FOLDER, the folder that has swagger-ui-bundle.js, and build again.";
#ifdef KATANA_SWAGGER_UI
  const auto between = [](const char* begin, const char* end) {
    return Bytes(begin, static_cast<std::size_t>(end - begin));
  };
  assets.version = KATANA_SWAGGER_UI_VERSION;
  assets.files = {
      {"swagger-ui-bundle.js",
       between(katana_swagger_ui_bundle_begin, katana_swagger_ui_bundle_end)},
      {"swagger-ui.css", between(katana_swagger_ui_style_begin, katana_swagger_ui_style_end)},
      {"favicon-32x32.png", between(katana_swagger_ui_icon_begin, katana_swagger_ui_icon_end)},
      {"oauth2-redirect.html",
       between(katana_swagger_ui_redirect_page_begin, katana_swagger_ui_redirect_page_end)},
      {"oauth2-redirect.js",
       between(katana_swagger_ui_redirect_script_begin, katana_swagger_ui_redirect_script_end)}};
#endif
  return assets;
}

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
