#include "base/gpus/device_numbers.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "base/number.hpp"

namespace goban::base::gpus {
namespace {

constexpr uint32_t kNvidiaMajor = 195;

/// `226:128`.
std::optional<DeviceNumber> parse_device(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return std::nullopt;
  const auto major = parse_int(text.substr(0, colon));
  const auto minor = parse_int(text.substr(colon + 1));
  if (!major || !minor) return std::nullopt;
  return DeviceNumber{.major = static_cast<uint32_t>(*major),
                      .minor = static_cast<uint32_t>(*minor)};
}

/// Lines of two words, by `key`, the position of the word that names the line.
std::map<std::string, std::string> pairs_of(const std::string& path, size_t key) {
  std::map<std::string, std::string> out;
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::array<std::string, 2> pair;
    if (words >> pair[0] >> pair[1]) out.emplace(pair.at(key), pair.at(1 - key));
  }
  return out;
}

}  // namespace

std::vector<DeviceNumber> nvidia_devices(uint32_t minor, const std::string& pci,
                                         const std::string& root) {
  std::vector<DeviceNumber> out{{.major = kNvidiaMajor, .minor = minor}};
  constexpr size_t kLongDomain = 16;  // the kernel writes four digits of the domain
  std::string address = pci.size() == kLongDomain ? pci.substr(4) : pci;
  std::ranges::transform(address, address.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string folder = fmt::format("{}/sys/bus/pci/devices/{}/drm", root, address);
  std::error_code none;
  for (std::filesystem::directory_iterator each(folder, none), end; !none && each != end;
       each.increment(none)) {
    std::string text;
    std::ifstream(each->path() / "dev") >> text;
    if (const auto number = parse_device(text)) out.push_back(*number);
  }
  std::sort(out.begin() + 1, out.end());
  return out;
}

std::vector<DeviceNumber> mig_devices(uint32_t minor, uint32_t gpu_instance,
                                      uint32_t compute_instance, const std::string& root) {
  const auto majors = pairs_of(root + "/proc/devices", 1);
  const auto minors = pairs_of(root + "/proc/driver/nvidia-caps/mig-minors", 0);
  const auto major = majors.find("nvidia-caps");
  if (major == majors.end()) return {};
  const std::string part = fmt::format("gpu{}/gi{}", minor, gpu_instance);
  std::vector<DeviceNumber> out;
  for (const std::string& name :
       {part + "/access", fmt::format("{}/ci{}/access", part, compute_instance)}) {
    const auto found = minors.find(name);
    if (found == minors.end()) continue;
    const auto number = parse_device(major->second + ":" + found->second);
    if (number) out.push_back(*number);
  }
  return out;
}

}  // namespace goban::base::gpus
