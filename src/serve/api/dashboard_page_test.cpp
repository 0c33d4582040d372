#include "service/dashboard_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "policy/compose.hpp"
#include "report/report_page.hpp"

namespace goban::service {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(DashboardPage, HoldsItsFactsAndAsksItsServerOnly) {
  const std::string page =
      dashboard_page({.version = "1.2", .policy = "las+</script><b>", .what_if = true});
  if (report::report_page().empty()) {
    EXPECT_THAT(page, HasSubstr("without its dashboard"));
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
  ASSERT_EQ(document["policies"].size(), policy::presets().size());
  EXPECT_EQ(document["policies"][0]["name"], policy::presets()[0].composition.name);
  EXPECT_NE(document["policies"][0]["description"], "");
  EXPECT_THAT(page,
              HasSubstr("content=\"default-src 'none'; connect-src 'self'; script-src 'sha256-"));
  EXPECT_EQ(page.size(), report::report_page().size() + data.size() +
                             std::string("connect-src 'self'; ").size());
}

TEST(DashboardPage, DoesNotOpenReportsToTheNetwork) {
  EXPECT_EQ(report::report_page().find("connect-src"), std::string_view::npos);
}

}  // namespace
}  // namespace goban::service
