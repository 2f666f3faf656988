#include "katana/http/handlers/html.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "katana/base/values/duration_text.hpp"
#include "katana/base/values/uuid.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/testing/test_server.hpp"

namespace katana {
namespace {

TEST(EscapeHtml, what_could_begin_markup_or_end_a_quoted_attribute_is_a_reference) {
  EXPECT_EQ(escape_html(R"(<a title="b" alt='c'>&amp;)"),
            "&lt;a title=&quot;b&quot; alt=&#39;c&#39;&gt;&amp;amp;");
}

TEST(EscapeHtml, everything_else_stays_as_it_is) {
  EXPECT_EQ(escape_html(""), "");
  EXPECT_EQ(escape_html("Käse / 5 = {0}\n"), "Käse / 5 = {0}\n");
  EXPECT_EQ(escape_html(Bytes("a\0<", 3)), std::string("a\0&lt;", 6));
}

enum class Colour { red, green };
KATANA_DESCRIBE_ENUM(Colour, red, (green, "<lime>"))

TEST(Html, values_are_escaped_in_text_and_in_quoted_attributes) {
  const std::string attack = "\"'><script>alert(1)</script>&";
  constexpr Bytes harmless = "&quot;&#39;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;";
  EXPECT_EQ(html("<p>{}</p>", attack).markup(), "<p>" + std::string(harmless) + "</p>");
  EXPECT_EQ(html(R"(<p title="{}" lang='{}'>)", attack, attack).markup(),
            "<p title=\"" + std::string(harmless) + "\" lang='" + std::string(harmless) + "'>");
  EXPECT_EQ(html("<title>{}</title>", attack).markup(),
            "<title>" + std::string(harmless) + "</title>");
}

TEST(Html, values_are_text_numbers_and_what_has_a_text_form) {
  EXPECT_EQ(html("{} {} {} {} {}", "<", std::string_view("b"), Text("c"), 'd' - 'a', -7).markup(),
            "&lt; b c 3 -7");
  EXPECT_EQ(html("{} {} {}", 1.5, true, Colour::green).markup(), "1.5 true &lt;lime&gt;");
  EXPECT_EQ(html("{} {}", Uuid(), std::chrono::seconds(90)).markup(),
            "00000000-0000-0000-0000-000000000000 90s");
}

TEST(Html, markup_is_not_escaped_again) {
  std::vector<Html> rows;
  for (const char* const name : {"a", "<b>"}) rows.push_back(html("<li>{}</li>", name));
  EXPECT_EQ(html("<ul>{}</ul>{}", rows, Html::raw("<hr>")).markup(),
            "<ul><li>a</li><li>&lt;b&gt;</li></ul><hr>");
  Html all = html("<p>{}", 1);
  all += html("<p>{}", 2);
  EXPECT_EQ(all.markup(), "<p>1<p>2");
  EXPECT_EQ(html("{}", std::vector<Html>()).markup(), "");
}

TEST(Html, braces_are_written_twice) {
  EXPECT_EQ(html("<style>p {{ margin: 0 }}</style>{{{}}}", 1).markup(),
            "<style>p { margin: 0 }</style>{1}");
}

TEST(Html, a_url_is_one_that_runs_nothing) {
  const auto link = [](Bytes url) { return html(R"(<a href="{}">)", SafeUrl(url)).markup(); };
  EXPECT_EQ(link("/users?a=b&c=d#e"), R"(<a href="/users?a=b&amp;c=d#e">)");
  EXPECT_EQ(link("HTTPS://example.org/\"x"), R"(<a href="HTTPS://example.org/&quot;x">)");
  EXPECT_EQ(link("mailto:a@b"), R"(<a href="mailto:a@b">)");
  for (const Bytes url : {"javascript:alert(1)", "JavaScript:alert(1)", " javascript:alert(1)",
                          "java\nscript:alert(1)", "\x01javascript:alert(1)", "data:text/html,x",
                          "vbscript:x", ":x"}) {
    EXPECT_EQ(link(url), "<a href=\"#\">") << url;
  }
  // Behind a fixed beginning any value is a part of the path or the query.
  EXPECT_EQ(html(R"(<a href="/users/{}?q={}">)", "a b", "c&d").markup(),
            R"(<a href="/users/a b?q=c&amp;d">)");
}

// The compiler's reason why a pattern does not compile; empty if it does.
template <class... Given>
std::string refusal(Bytes pattern, Given... arguments) {
  try {
    detail::HtmlScanner scanner(pattern);
    (scanner.take_argument(arguments), ...);
    scanner.finish();
  } catch (const char* words) {
    return words;
  }
  return {};
}

TEST(HtmlPattern, places_where_escaping_helps_are_taken) {
  constexpr auto value = detail::HtmlArgument::value;
  for (const Bytes pattern : {"{}",
                              "a{}b",
                              "<p>{}</p>",
                              "<!doctype html><p>{}",
                              "<!-- > --><p>{}",
                              "<br/>{}",
                              "< {}",
                              "1<2 {}",
                              "<p a b='c' d=e f = \"g\">{}",
                              R"(<a href="/{}">)",
                              R"(<a href=" /{}">)",
                              R"(<P TITLE="{}">)",
                              "<input value='{}' disabled>",
                              "<textarea>{}</textarea>",
                              "<script>if (a < b) {{ }}</script>{}",
                              "<SCRIPT></p></sCript >{}",
                              "{{{}}}",
                              "<p a=\"<\">{}",
                              "<a/b='{}'>",
                              "<!-- - -- --><p>{}",
                              "<!----><p>{}"}) {
    EXPECT_EQ(refusal(pattern, value), "") << pattern;
  }
}

TEST(HtmlPattern, all_others_do_not_compile) {
  constexpr auto value = detail::HtmlArgument::value;
  constexpr auto url = detail::HtmlArgument::url;
  constexpr auto markup = detail::HtmlArgument::markup;
  for (const Bytes pattern : {"<{}>",
                              "</{}>",
                              "<p {}>",
                              "<p {}='a'>",
                              "<p a={}>",
                              "<p a=b{}>",
                              "<p a = {} >",
                              "<p a{}='b'>",
                              "<!-- {} -->",
                              "<!{}>",
                              "<script>{}</script>",
                              "<STYLE >{}</style>",
                              "<script></scrip>{}</script>",
                              "<p onclick='{}'>",
                              "<p OnClick='f({})'>",
                              "<p style=\"color: {}\">",
                              "<iframe srcdoc='{}'>",
                              "<a href='{}'>",
                              "<A HREF = ' {}'>",
                              "<img src=\"{}\">",
                              "<button formaction='{}'>",
                              "<p>{}<p",
                              "<p title='{}",
                              "{",
                              "}",
                              "{0}",
                              "{:d}",
                              "<p a/onclick='{}'>",
                              "<p a='b'onclick='{}'>",
                              "<script></scriptx>{}</script>",
                              "<!--><script>-->{}",
                              "<!---><script>-->{}",
                              "<!-- --!><script>-->{}",
                              "</ a='>'{}>",
                              "<![CDATA[>{}]]>",
                              "<svg><title><a href='{}'></title></svg>",
                              "<",
                              "{}<",
                              "{}<!--",
                              "{}<script>",
                              "{} {}",
                              ""}) {
    EXPECT_NE(refusal(pattern, value), "") << pattern;
  }
  EXPECT_NE(refusal("<p title='{}'>", markup), "");
  EXPECT_NE(refusal("<title>{}</title>", markup), "");
  EXPECT_EQ(refusal("<a href='{}'>{}</a>", url, markup), "");
  EXPECT_EQ(refusal("<a href='{}?q={}'>", url, value), "");
  EXPECT_NE(refusal("<a href='{}{}'>", url, value), "");
  EXPECT_NE(refusal("<a href=' {}'>", value), "");
  EXPECT_NE(refusal("<a onclick='{}'>", url), "");
  EXPECT_NE(refusal("<a href={}>", url), "");
}

TEST(HtmlReply, a_handler_may_return_it_in_every_form) {
  Router router;
  router.get("/plain/{name}", [](Path<std::string> name) { return html("<p>{}", *name); });
  router.get("/result", []() -> Result<Html> { return html("<p>{}", 1); });
  router.get("/task", []() -> Task<Html> {
    co_await net::sleep_for(seconds(1));
    co_return html("<p>{}", 2);
  });
  testing::TestServer server(std::move(router).build());
  const testing::TestReply plain = server.get("/plain/%3Cb%3E");
  EXPECT_EQ(plain.content(), "<p>&lt;b&gt;");
  EXPECT_EQ(plain.header("content-type"), "text/html; charset=utf-8");
  EXPECT_EQ(server.get("/result").content(), "<p>1");
  EXPECT_EQ(server.get("/task").content(), "<p>2");
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
