#include "serve/api/dashboard_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/policy/compose.hpp"
#include "site/page/report_page.hpp"

namespace goban::serve::api {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(DashboardPage, HoldsItsFactsAndAsksItsServerOnly) {
  const std::string page =
      dashboard_page({.version = "1.2", .policy = "las+</script><b>", .what_if = true});
  if (site::page::report_page().empty()) {
    EXPECT_THAT(page, HasSubstr("without the dashboard"));
    return;
  }
  const std::string element = "id=\"goban-report\">";
  const size_t begin = page.find(element) + element.size();
  const std::string data = page.substr(begin, page.find("</script>", begin) - begin);
  const json document = json::parse(data);
  EXPECT_EQ(document["schema"], "goban-live/1");
  EXPECT_EQ(document["goban"], "1.2");
  EXPECT_EQ(document["policy"], "las+</script><b>");
  EXPECT_EQ(document["what_if"], true);
  ASSERT_EQ(document["policies"].size(), core::policy::presets().size());
  EXPECT_EQ(document["policies"][0]["name"], core::policy::presets()[0].name);
  EXPECT_NE(document["policies"][0]["description"], "");
  EXPECT_THAT(page,
              HasSubstr("content=\"default-src 'none'; connect-src 'self'; script-src 'sha256-"));
  EXPECT_EQ(page.size(), site::page::report_page().size() + data.size() +
                             std::string("connect-src 'self'; ").size());
}

TEST(DashboardPage, DoesNotOpenReportsToTheNetwork) {
  EXPECT_EQ(site::page::report_page().find("connect-src"), std::string_view::npos);
}

}  // namespace
}  // namespace goban::serve::api
