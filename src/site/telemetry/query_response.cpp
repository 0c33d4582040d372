#include "site/telemetry/query_response.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/number.hpp"

namespace goban::site::telemetry {
namespace {

std::optional<double> parse_value(const std::string& text) {
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "+Inf") return std::numeric_limits<double>::infinity();
  if (text == "-Inf") return -std::numeric_limits<double>::infinity();
  return base::parse_double(text);
}

/// Tracks the path of keys in the document; an array is a level without a key.
class Handler final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Handler(MatrixSink* sink, std::vector<std::string>* texts) : sink_(sink), texts_(texts) {}

  QueryResponse response;
  bool stopped = false;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override {
    return number(static_cast<double>(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return number(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t&) override { return number(value); }
  bool binary(binary_t&) override { return true; }

  bool string(string_t& value) override {
    if (at({"status"})) response.success = value == "success";
    if (at({"error"})) response.problem = value;
    if (at({"errorType"})) response.error_type = value;
    if (at({"warnings", ""})) response.warnings.push_back(value);
    if (at({"data", "resultType"}) && value != "matrix")
      return refuse("the result is not a matrix");
    if (texts_ != nullptr && at({"data", ""})) texts_->push_back(value);
    if (sink_ == nullptr) return true;
    if (path_.size() == kLabelDepth && within_series("metric")) {
      labels_.emplace_back(path_.back(), value);
    } else if (is_pair()) {
      return pair_value(value);
    }
    return true;
  }

  bool start_object(std::size_t) override {
    if (sink_ != nullptr && at({"data", "result", ""})) {
      labels_.clear();
      announced_ = false;
    }
    path_.emplace_back();
    return path_.size() < kDepthMax;
  }
  bool key(string_t& value) override {
    path_.back() = value;
    return true;
  }
  bool end_object() override {
    path_.pop_back();
    if (sink_ != nullptr && path_.size() == kSeriesDepth && within_series("metric")) {
      announced_ = true;
      if (!sink_->series(labels_)) return stop();
    }
    return true;
  }
  bool start_array(std::size_t) override {
    path_.emplace_back();
    if (is_pair()) time_ms_.reset();
    return path_.size() < kDepthMax;
  }
  bool end_array() override {
    path_.pop_back();
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    (void)error;
    return refuse("the response is invalid JSON at byte " + std::to_string(position));
  }

 private:
  static constexpr size_t kDepthMax = 32;
  static constexpr size_t kSeriesDepth = 4;  // {data {result [ {metric
  static constexpr size_t kLabelDepth = 5;
  static constexpr size_t kPairDepth = 6;  // {data {result [ {values [ [

  /// True if the current value is at exactly these keys ("" in an array).
  [[nodiscard]] bool at(std::initializer_list<std::string_view> keys) const {
    return path_.size() == keys.size() && std::equal(keys.begin(), keys.end(), path_.begin());
  }
  /// data.result[].<what>...
  [[nodiscard]] bool within_series(std::string_view what) const {
    return path_.size() >= kSeriesDepth && path_[0] == "data" && path_[1] == "result" &&
           path_[2].empty() && path_[3] == what;
  }
  [[nodiscard]] bool is_pair() const {
    return sink_ != nullptr && path_.size() == kPairDepth && within_series("values");
  }
  bool number(double value) {
    if (is_pair()) {
      constexpr double kTimeMax_s = 9e9;
      if (time_ms_ || !(std::abs(value) < kTimeMax_s)) return refuse("a sample has no time");
      time_ms_ = std::llround(value * 1000);
    }
    return true;
  }
  bool pair_value(const std::string& text) {
    const auto value = parse_value(text);
    if (!announced_ || !time_ms_ || !value) return refuse("a sample is not [time, \"value\"]");
    ++response.samples;
    return sink_->sample(*time_ms_, *value) || stop();
  }
  bool refuse(std::string problem) {
    response.success = false;
    if (response.problem.empty()) response.problem = std::move(problem);
    return false;
  }
  bool stop() {
    stopped = true;
    return false;
  }

  MatrixSink* sink_;
  std::vector<std::string>* texts_;
  std::vector<std::string> path_;  ///< the last key of each open object, "" of each open array
  series::Labels labels_;
  bool announced_ = false;
  std::optional<int64_t> time_ms_;
};

QueryResponse read(std::string_view json, MatrixSink* sink, std::vector<std::string>* texts) {
  Handler handler(sink, texts);
  const bool whole = nlohmann::json::sax_parse(json, &handler);
  QueryResponse response = std::move(handler.response);
  if (!whole && !handler.stopped) response.success = false;
  if (!response.success && response.problem.empty())
    response.problem = "the response does not report success";
  return response;
}

}  // namespace

QueryResponse read_matrix(std::string_view json, MatrixSink& sink) {
  return read(json, &sink, nullptr);
}

QueryResponse read_texts(std::string_view json, std::vector<std::string>& out) {
  return read(json, nullptr, &out);
}

}  // namespace goban::site::telemetry
