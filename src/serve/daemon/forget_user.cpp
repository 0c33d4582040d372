#include "serve/daemon/forget_user.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <random>

#include "base/files.hpp"
#include "core/knowledge/measure/learned_scores_file.hpp"
#include "live/journal/state_lock.hpp"
#include "serve/stores/profile_book.hpp"

namespace goban::serve::daemon {

namespace {

constexpr const char* kLearnedFile = "scores.learned.json";

/// A random number from a range that no user has.
uint32_t nobody() {
  constexpr uint32_t kFirst = 0x8000'0000;
  constexpr uint32_t kLast = 0xffff'fff0;
  std::random_device source;
  return std::uniform_int_distribution<uint32_t>(kFirst, kLast)(source);
}

size_t rename_user(core::knowledge::ScoreLearner::Image& learner, uint32_t uid, uint32_t other) {
  size_t count = 0;
  for (auto& of_class : learner.places) {
    for (auto& place : of_class) {
      for (auto& vote : place.votes) {
        if (vote.user != uid) continue;
        vote.user = other;
        ++count;
      }
    }
  }
  auto at = learner.baselines.lower_bound({uid, 0});
  while (at != learner.baselines.end() && at->first.first == uid) {
    learner.baselines[{other, at->first.second}] = std::move(at->second);
    at = learner.baselines.erase(at);
    ++count;
  }
  return count;
}

}  // namespace

base::Result<ForgottenFiles> forget_in_state(const std::string& state, uint32_t uid) {
  if (!std::filesystem::is_directory(state + "/journal")) {
    return base::failed(fmt::format("{} is not a state folder: it has no journal", state),
                        "name the daemon's state folder");
  }
  const auto lock = live::journal::StateLock::take(state);
  if (!lock) {
    base::Error error = lock.error();
    error.remedy =
        "stop the daemon first: its jobs continue, and it reconnects to them at its next start";
    return base::failure(std::move(error));
  }
  ForgottenFiles out;
  const std::string path = state + "/" + kLearnedFile;
  if (base::exists(path)) {
    const auto text = base::read_small_file(path);
    if (!text) return base::failure(text.error());
    auto image = core::knowledge::parse_learned_scores(*text, path);
    if (!image) return base::failure(image.error());
    out.voices = rename_user(image->learner, uid, nobody());
    if (out.voices > 0) {
      auto written = base::replace_file(state, kLearnedFile, core::knowledge::to_json(*image),
                                        base::Durable::Yes);
      if (!written) return base::failure(written.error());
    }
  }
  out.profiles = stores::forget_profiles(state + "/profiles", uid);
  return out;
}

}  // namespace goban::serve::daemon
