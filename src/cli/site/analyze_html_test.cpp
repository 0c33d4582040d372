// report.html of goban analyze: reproducible, and without resources that a browser would fetch.
#include <gmock/gmock.h>
#include <string>

#include "base/test_folder.hpp"
#include "cli/shell/test_shell.hpp"
#include "site/page/html_report.hpp"

namespace goban::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class AnalyzeHtmlTest : public testing::Test {
 public:
  AnalyzeHtmlTest()
      : folder_(std::string("analyze_html_") +
                testing::UnitTest::GetInstance()->current_test_info()->name()) {}

 protected:
  void SetUp() override {
    if (!site::page::html_available()) GTEST_SKIP() << "built without GOBAN_WEB";
  }
  /// The report of a small history with a malicious user name.
  std::string page(const std::string& options = {}) {
    const std::string jobs =
        folder_.write("jobs.csv",
                      "job_id,submit_time,duration,num_gpus,user\n1,0,4000,1,u\n"
                      "2,0,5000,8,</script><img src=https://example.org/x onerror=alert(1)>\n");
    const std::string path = folder_.path() + "/out";
    EXPECT_EQ(shell("GOBAN analyze " + jobs + " --out " + path + " " + options).code, 0);
    return base::TestFolder::read(path + "/report.html");
  }

  base::TestFolder folder_;
};

TEST_F(AnalyzeHtmlTest, TwoRunsGiveTheSameBytes) {
  const std::string first = page();
  EXPECT_GT(first.size(), 50'000U);
  EXPECT_TRUE(first == page());
  EXPECT_FALSE(first == page("--lang ja"));
}

TEST_F(AnalyzeHtmlTest, NothingIsFetchedAndNoNameBecomesAnElement) {
  const std::string html = page();
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
  const std::string marker = "id=\"goban-report\">";
  const size_t data = html.find(marker);
  ASSERT_NE(data, std::string::npos);
  const std::string document = html.substr(data, html.find("</script>", data) - data);
  EXPECT_THAT(document, HasSubstr(R"(\u003cimg src=https://example.org/x)"));
  EXPECT_THAT(html, Not(HasSubstr("<img src=https")));
  // Outside the document the only URLs are XML namespaces.
  std::string rest = html;
  rest.erase(data, document.size());
  for (size_t at = rest.find("://"); at != std::string::npos; at = rest.find("://", at + 1)) {
    EXPECT_EQ(rest.compare(at, 14, "://www.w3.org/"), 0) << rest.substr(at - 5, 60);
  }
  for (const char* fetched : {" src=\"", " href=\""}) {
    for (size_t at = rest.find(fetched); at != std::string::npos; at = rest.find(fetched, at + 1)) {
      const std::string value = rest.substr(rest.find('"', at) + 1, 5);
      EXPECT_TRUE(value == "data:" || value.front() == '#') << rest.substr(at, 60);
    }
  }
}

}  // namespace
}  // namespace goban::cli
