#include "site/telemetry/query_response.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/number.hpp"

namespace goban::site::telemetry {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TextMatrix final : public MatrixSink {
 public:
  bool series(const series::Labels& labels) override {
    std::string text;
    for (const auto& [name, value] : labels) text += name + "=" + value + " ";
    lines.push_back(text);
    return true;
  }
  bool sample(int64_t time_ms, double value) override {
    lines.push_back(fmt::format("{} {}", time_ms, value));
    return lines.size() < lines_max;
  }
  std::vector<std::string> lines;
  size_t lines_max = SIZE_MAX;
};

constexpr std::string_view kAnswer =
    R"({"status":"success","data":{"resultType":"matrix","result":[)"
    R"({"metric":{"gpu":"0","n\"x":"a"},"values":[[100.25,"35"],[160,"NaN"]]},)"
    R"({"metric":{},"values":[[-1,"+Inf"]]}]},"warnings":["w1","w2"],"stats":{"a":[1,[2]]}})";

TEST(QueryResponse, SeriesAndSamples) {
  TextMatrix sink;
  const QueryResponse response = read_matrix(kAnswer, sink);
  EXPECT_TRUE(response.success) << response.problem;
  EXPECT_THAT(sink.lines, ElementsAre("gpu=0 n\"x=a ", "100250 35", "160000 nan", "", "-1000 inf"));
  EXPECT_THAT(response.warnings, ElementsAre("w1", "w2"));
  EXPECT_EQ(response.samples, 3U);
}

TEST(QueryResponse, EveryCutIsNoticed) {
  for (size_t size = 0; size < kAnswer.size(); ++size) {
    TextMatrix sink;
    EXPECT_FALSE(read_matrix(kAnswer.substr(0, size), sink).success) << size;
  }
}

TEST(QueryResponse, ErrorsAndOtherShapes) {
  TextMatrix sink;
  const QueryResponse error =
      read_matrix(R"({"status":"error","errorType":"execution","error":"too many samples"})", sink);
  EXPECT_FALSE(error.success);
  EXPECT_EQ(error.error_type, "execution");
  EXPECT_EQ(error.problem, "too many samples");
  for (const char* json :
       {R"({"status":"success","data":{"resultType":"vector","result":[]}})",
        R"({"status":"success","data":{"result":[{"values":[[1,"2"]]}]}})",
        R"({"status":"success","data":{"result":[{"metric":{},"values":[["2"]]}]}})",
        R"({"status":"success","data":{"result":[{"metric":{},"values":[[1,"x"]]}]}})",
        R"({"status":"success","data":{"result":[{"metric":{},"values":[[1e300,"1"]]}]}})",
        "<html>504</html>", "[]", ""}) {
    const QueryResponse response = read_matrix(json, sink);
    EXPECT_FALSE(response.success) << json;
    EXPECT_FALSE(response.problem.empty()) << json;
  }
}

TEST(QueryResponse, TheSinkCanStop) {
  TextMatrix sink;
  sink.lines_max = 2;
  EXPECT_TRUE(read_matrix(kAnswer, sink).success);
  EXPECT_EQ(sink.lines.size(), 2U);
}

TEST(QueryResponse, Texts) {
  std::vector<std::string> texts;
  EXPECT_TRUE(read_texts(R"({"status":"success","data":["a","b"]})", texts).success);
  EXPECT_THAT(texts, ElementsAre("a", "b"));
}

}  // namespace
}  // namespace goban::site::telemetry
