#include "cli/jobs/kubectl_words.hpp"

#include <cctype>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/shell_word.hpp"

namespace goban::cli {

namespace {

using nlohmann::json;

/// An RFC 1123 label.
std::string pod_name(const std::string& wanted) {
  constexpr size_t kMost = 50;
  std::string name;
  for (const char c : wanted.substr(0, kMost)) {
    const auto letter = static_cast<unsigned char>(c);
    name += std::isalnum(letter) != 0 ? static_cast<char>(std::tolower(letter)) : '-';
  }
  while (!name.empty() && name.front() == '-') name.erase(0, 1);
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.empty() ? "run" : name;
}

}  // namespace

bool is_for_kubectl(const base::Error& refusal) { return refusal.remedy == "use kubectl"; }

std::string kubectl_command(const SubmitPayload& payload, int64_t num_gpus) {
  const std::string name = pod_name(payload.job_name);
  json spec{{"schedulerName", "goban"}};
  if (num_gpus > 0) {
    const json container{{"name", name},
                         {"resources", {{"limits", {{"nvidia.com/gpu", num_gpus}}}}}};
    spec["containers"] = json::array({container});
  }
  const std::string overrides =
      json{{"spec", std::move(spec)}}.dump(-1, ' ', true, json::error_handler_t::replace);
  std::string out = fmt::format(
      "kubectl run {} {} --rm --restart=Never --image=IMAGE --override-type=strategic "
      "--overrides={} --command --",
      name, payload.interactive ? "--stdin --tty" : "--attach", base::shell_word(overrides));
  for (const std::string& word : payload.arguments) out += " " + base::shell_word(word);
  return out;
}

base::Error with_kubectl(base::Error refusal, const SubmitPayload& payload, int64_t num_gpus) {
  refusal.remedy = "its pods come from kubectl: " + kubectl_command(payload, num_gpus);
  return refusal;
}

}  // namespace goban::cli
