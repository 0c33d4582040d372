#include "train/trainer/sweep_folder.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <string_view>

#include "base/printable.hpp"

namespace goban::train::trainer {
namespace {

namespace fs = std::filesystem;

/// Settings common to all runs of a folder: all that ranks must have in common, and the data. The
/// number of epochs may grow, and the grid.
std::string settings_text(const SweepOptions& options, const Facts& of_data) {
  static constexpr std::array<std::string_view, 8> kMayChange = {
      "release",  "--epochs",        "--batch-size", "--hidden",
      "--layout", "--learning-rate", "--seed",       "--checkpoint"};
  Facts facts = facts_of(options.train);
  std::erase_if(facts, [](const auto& fact) {
    return std::ranges::find(kMayChange, fact.first) != kMayChange.end();
  });
  facts.insert(facts.end(), of_data.begin(), of_data.end());
  std::string out;
  for (const auto& [name, value] : facts) out += fmt::format("{}: {}\n", name, value);
  return out + fmt::format("largest batch: {}\n", largest_batch(options));
}

/// The first line in which two texts differ.
std::string other_line(std::string_view there, std::string_view mine) {
  while (!there.empty() || !mine.empty()) {
    const size_t end = std::min(there.find('\n'), there.size());
    const size_t my_end = std::min(mine.find('\n'), mine.size());
    if (there.substr(0, end) != mine.substr(0, my_end)) {
      return fmt::format("it has '{}', not '{}'", base::printable(there.substr(0, end)),
                         mine.substr(0, my_end));
    }
    there.remove_prefix(std::min(end + 1, there.size()));
    mine.remove_prefix(std::min(my_end + 1, mine.size()));
  }
  return {};
}

}  // namespace

base::Status claim_folder(const SweepOptions& options, const Facts& of_data) {
  std::error_code error;
  fs::create_directories(options.out, error);
  const std::string path = options.out + "/settings.txt", mine = settings_text(options, of_data);
  const bool claimed = !error && fs::exists(path, error);
  if (error) {
    return base::failed(fmt::format("cannot use the folder '{}': {}", options.out, error.message()),
                        "--out must be a readable and writable folder");
  }
  if (!claimed) {
    std::ofstream out(path, std::ios::binary);
    out << mine << std::flush;
    if (!out) return base::failed(fmt::format("cannot write '{}'", path));
    return {};
  }
  std::ifstream in(path, std::ios::binary);
  std::ostringstream there;
  there << in.rdbuf();
  if (there.str() == mine) return {};
  return base::usage_error(fmt::format("'{}' belongs to a sweep with different settings: {}", path,
                                       other_line(there.str(), mine)),
                           "use another --out folder, or the settings in that file");
}

}  // namespace goban::train::trainer
