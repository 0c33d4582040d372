#include "live/engine/slurm/training_words.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.hpp"
#include "live/job/request_values.hpp"

namespace goban::live::engine::slurm {

namespace {

bool is_model_char(char c) {
  const char low = base::lowered(c);
  return (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') ||
         std::string_view("._+/-").find(c) != std::string_view::npos;
}

}  // namespace

std::string read_training_words(std::string_view text, job::JobSpec& spec) {
  constexpr std::string_view kMemory = "gpu-memory=";
  constexpr std::string_view kModel = "model=";
  constexpr size_t kModelMax = 200;
  int64_t mem_bytes = spec.training.gpu_mem_bytes;
  std::string model = spec.model;
  for (const std::string_view word : job::split_list(text, ';')) {
    if (word.starts_with(kMemory)) {
      const auto bytes = job::parse_memory(word.substr(kMemory.size()), 1);
      if (!bytes) return "gpu-memory: " + bytes.error().message;
      mem_bytes = *bytes;
    } else if (word.starts_with(kModel)) {
      model = word.substr(kModel.size());
      if (model.size() > kModelMax) {
        return fmt::format("the name of the model is longer than {} bytes", kModelMax);
      }
      if (!std::ranges::all_of(model, is_model_char)) {
        return "the name of the model has other characters than letters, digits and ._+/-";
      }
    }
  }
  spec.training.gpu_mem_bytes = mem_bytes;
  spec.model = std::move(model);
  return {};
}

}  // namespace goban::live::engine::slurm
