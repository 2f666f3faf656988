#include "katana/service/html.hpp"

#include <gtest/gtest.h>

namespace katana {
namespace {

TEST(Html, what_could_begin_markup_or_end_a_quoted_attribute_is_a_reference) {
  EXPECT_EQ(escape_html(R"(<a title="b" alt='c'>&amp;)"),
            "&lt;a title=&quot;b&quot; alt=&#39;c&#39;&gt;&amp;amp;");
}

TEST(Html, everything_else_stays_as_it_is) {
  EXPECT_EQ(escape_html(""), "");
  EXPECT_EQ(escape_html("Käse / 5 = {0}\n"), "Käse / 5 = {0}\n");
  EXPECT_EQ(escape_html(Bytes("a\0<", 3)), std::string("a\0&lt;", 6));
}

}  // namespace
}  // namespace katana
