#include "core/knowledge/measure/learned_scores_file.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/knowledge/measure/measure_book.hpp"
#include "core/knowledge/scores_file.hpp"

namespace goban::core::knowledge {
namespace {

using nlohmann::json;
using Image = LearnedScores::Image;

constexpr int64_t kVersion = 1;
constexpr double kLogMax = 1e3;
constexpr size_t kVotesMax = 1000;

/// The first problem; thrown and caught in this file.
struct Wrong {
  std::string what;
};

void require(bool good, const char* what) {
  if (!good) throw Wrong{what};
}

template <typename T>
T whole(const json& value, T low = 0, T high = std::numeric_limits<T>::max()) {
  require(value.is_number_integer(), "a number is not an integer");
  if (value.is_number_unsigned()) {
    const auto out = value.get<uint64_t>();
    require(std::cmp_greater_equal(out, low) && std::cmp_less_equal(out, high),
            "a number is out of range");
    return static_cast<T>(out);
  }
  const auto out = value.get<int64_t>();
  require(std::cmp_greater_equal(out, low) && std::cmp_less_equal(out, high),
          "a number is out of range");
  return static_cast<T>(out);
}

double logarithm(const json& value) {
  const double out = value.get<double>();
  require(std::abs(out) <= kLogMax, "a logarithm is out of range");
  return out;
}

int64_t moment(const json& from, const char* name) {
  return whole<int64_t>(from.at(name), 0, kUnixMax_s);
}

json word_json(const LearnedScores::Word& word) {
  return {{"uuid", word.uuid},
          {"driver", word.condition.driver},
          {"firmware", word.condition.firmware},
          {"kernel_version", word.condition.kernel_version},
          {"looked", word.looked},
          {"spoken_unix_s", word.spoken_unix_s},
          {"taken_unix_s", word.taken_unix_s},
          {"expired", word.expired}};
}

LearnedScores::Word read_word(const json& from) {
  LearnedScores::Word out{.uuid = from.at("uuid").get<std::string>()};
  out.condition = {.driver = from.at("driver").get<std::string>(),
                   .firmware = from.at("firmware").get<std::string>(),
                   .kernel_version = whole<int64_t>(from.at("kernel_version"))};
  out.looked = from.at("looked").get<bool>();
  out.spoken_unix_s = moment(from, "spoken_unix_s");
  out.taken_unix_s = moment(from, "taken_unix_s");
  out.expired = from.at("expired").get<bool>();
  return out;
}

json class_json(const std::vector<double>& raw, const std::vector<ScoreLearner::Place>& places) {
  json gpus = json::array();
  for (size_t i = 0; i < raw.size(); ++i) {
    json votes = json::array();
    for (const auto& vote : places[i].votes) votes.push_back({vote.user, vote.log_score});
    gpus.push_back(
        {{"score", raw[i]}, {"suspect", places[i].suspect}, {"votes", std::move(votes)}});
  }
  return gpus;
}

void read_class(const json& from, size_t num_gpus, ScoreLearner::Image& out) {
  require(from.is_array() && from.size() == num_gpus, "a class does not have one entry per GPU");
  std::vector<double>& raw = out.raw.emplace_back();
  auto& places = out.places.emplace_back();
  for (const json& gpu : from) {
    raw.push_back(gpu.at("score").get<double>());
    require(raw.back() >= kScoreMin && raw.back() <= kScoreMax, "a score is out of range");
    ScoreLearner::Place& place = places.emplace_back();
    place.suspect = gpu.at("suspect").get<bool>();
    require(gpu.at("votes").size() <= kVotesMax, "a GPU has too many votes");
    for (const json& vote : gpu.at("votes")) {
      place.votes.push_back({whole<uint32_t>(vote.at(0)), logarithm(vote.at(1))});
    }
  }
}

json application_json(const std::pair<uint32_t, uint32_t>& who,
                      const ScoreLearner::Baseline& baseline) {
  json units = json::array();
  for (const auto& [gpu, log_unit] : baseline.log_unit) units.push_back({gpu, log_unit});
  return {{"user", who.first},
          {"application", who.second},
          {"used", baseline.used},
          {"log_unit", std::move(units)}};
}

void read_application(const json& from, size_t num_gpus, ScoreLearner::Image& out) {
  ScoreLearner::Baseline& baseline =
      out.baselines[{whole<uint32_t>(from.at("user")), whole<uint32_t>(from.at("application"))}];
  baseline.used = whole<uint64_t>(from.at("used"));
  for (const json& unit : from.at("log_unit")) {
    const auto gpu = whole<uint32_t>(unit.at(0));
    require(gpu < num_gpus, "a GPU number is out of range");
    baseline.log_unit[gpu] = logarithm(unit.at(1));
  }
}

Image read_image(const json& from) {
  require(whole<int64_t>(from.at("version")) <= kVersion, "written by a newer release of goban");
  Image out;
  for (const json& word : from.at("gpus")) out.words.push_back(read_word(word));
  for (const json& each : from.at("classes")) read_class(each, out.words.size(), out.learner);
  require(!out.learner.raw.empty() && !out.words.empty(), "contains no scores");
  for (const json& each : from.at("applications")) {
    read_application(each, out.words.size(), out.learner);
  }
  out.learner.runs = whole<uint64_t>(from.at("runs"));
  for (const json& each : from.at("seen")) {
    out.seen.emplace_back(whole<uint64_t>(each.at(0)), whole<int64_t>(each.at(1)));
  }
  require(out.seen.size() <= LearnedScores::kSeenMax, "contains too many jobs");
  return out;
}

}  // namespace

std::string to_json(const Image& image) {
  json words = json::array();
  for (const auto& word : image.words) words.push_back(word_json(word));
  json classes = json::array();
  for (size_t c = 0; c < image.learner.raw.size(); ++c) {
    classes.push_back(class_json(image.learner.raw[c], image.learner.places[c]));
  }
  json applications = json::array();
  for (const auto& [who, baseline] : image.learner.baselines) {
    applications.push_back(application_json(who, baseline));
  }
  json seen = json::array();
  for (const auto& [job, submit_ns] : image.seen) seen.push_back({job, submit_ns});
  const json document{{"version", kVersion},           {"gpus", std::move(words)},
                      {"classes", std::move(classes)}, {"applications", std::move(applications)},
                      {"runs", image.learner.runs},    {"seen", std::move(seen)}};
  return document.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

base::Result<Image> parse_learned_scores(std::string_view text, const std::string& file) {
  constexpr const char* kRemedy = "remove the file; the evidence from jobs is then lost";
  const json document = json::parse(text, nullptr, false);
  if (document.is_discarded())
    return base::bad_data({file, 0, 0, {}}, "is not a valid JSON document", kRemedy);
  try {
    return read_image(document);
  } catch (const Wrong& wrong) {
    return base::bad_data({file, 0, 0, {}}, wrong.what, kRemedy);
  } catch (const json::exception& error) {
    return base::bad_data({file, 0, 0, {}}, error.what(), kRemedy);
  }
}

}  // namespace goban::core::knowledge
