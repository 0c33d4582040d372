#include "train/trainer/environment.hpp"

#include <ATen/Parallel.h>
#include <ctime>
#include <fmt/format.h>
#include <fstream>
#include <sys/utsname.h>
#include <torch/version.h>
#include <unistd.h>

#include "base/units.hpp"
#include "train/comm/launcher.hpp"
#include "train/comm/mpi_world.hpp"
#include "train/mesh/device.hpp"

namespace goban::train::trainer {
namespace {

constexpr const char* kUnknown = "unknown";

/// The text after `separator` in the first line that starts with `key`.
std::string found_in(const char* path, const std::string& key, char separator) {
  std::ifstream in(path);
  std::string line;
  while (std::getline(in, line)) {
    if (!line.starts_with(key)) continue;
    size_t at = line.find(separator);
    if (at == std::string::npos) continue;
    at = line.find_first_not_of(" \t\"", at + 1);
    if (at == std::string::npos) continue;
    std::string value = line.substr(at);
    while (!value.empty() && (value.back() == '"' || value.back() == ' ')) value.pop_back();
    return value;
  }
  return kUnknown;
}

/// The library used for matrix products: a mapped file with "blas" in its name.
std::string blas_library() {
  std::ifstream maps("/proc/self/maps");
  std::string line, best = kUnknown;
  while (std::getline(maps, line)) {
    const size_t at = line.rfind('/');
    if (at == std::string::npos || line.find("blas", at) == std::string::npos) continue;
    const std::string name = line.substr(line.find('/'));
    if (best == kUnknown || name.find("openblas") != std::string::npos) best = name;
  }
  return best;
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32] = {};
  (void)std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

/// Debian's reference implementation is in a folder "blas"; others are in folders of other names.
bool reference_blas() {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line)) {
    if (line.find("/blas/libblas.so") != std::string::npos) return true;
  }
  return false;
}

std::string accelerator(const std::string& device) {
  const auto used = mesh::resolve_device(device, 0);
  return used && !used->is_cpu() ? mesh::device_name(*used) : "none; trained on the CPU";
}

}  // namespace

std::string slow_blas_warning() {
  if (!reference_blas()) return "";
  return "matrix products use Debian's reference BLAS, which is about 20 times slower than an "
         "optimised one; remedy: apt-get install libopenblas0-pthread";
}

std::vector<std::pair<std::string, std::string>> environment_rows(int ranks,
                                                                  const std::string& device) {
  utsname system{};
  uname(&system);
  const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                        static_cast<double>(sysconf(_SC_PAGESIZE)) / base::kGib;
  return {
      {"Processor", found_in("/proc/cpuinfo", "model name", ':')},
      {"Cores", std::to_string(sysconf(_SC_NPROCESSORS_ONLN))},
      {"Memory", fmt::format("{:.0f} GiB", memory)},
      {"Accelerator", accelerator(device)},
      {"System", fmt::format("{}, {} {}", found_in("/etc/os-release", "PRETTY_NAME", '='),
                             system.sysname, system.release)},
      {"Compiler", "g++ " __VERSION__},
      {"LibTorch", TORCH_VERSION},
      {"Matrix products", blas_library()},
      {"Transport", comm::launched_by_mpi() ? comm::mpi_library() : "threads of one process"},
      {"Ranks", fmt::format("{}, {} threads each", ranks, at::get_num_threads())},
      {"Finished", now_utc()},
  };
}

}  // namespace goban::train::trainer
