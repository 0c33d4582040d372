#include "live/engine/kubernetes/kubernetes_kind.hpp"

#include <algorithm>
#include <array>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/check.hpp"
#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "base/text_file.hpp"
#include "base/time.hpp"

namespace goban::live::engine::kubernetes {

namespace {

constexpr std::array<std::string_view, 3> kTried = {"1.32", "1.34", "1.36"};

std::string one_of(base::TableReader& table, std::string_view key,
                   std::span<const std::string_view> known) {
  std::string said = table.text(key, std::string(known.front()));
  if (std::ranges::find(known, said) == known.end()) {
    table.refuse(key, fmt::format("unknown {} {}", key, said),
                 fmt::format("known: {}", fmt::join(known, ", ")));
  }
  return said;
}

/// Neither part is empty; what else Kubernetes says of names it says itself.
bool is_place(std::string_view text) {
  const size_t slash = text.find('/');
  return slash != std::string_view::npos && slash > 0 && slash + 1 < text.size() &&
         text.find('/', slash + 1) == std::string_view::npos;
}

void read_lease_keys(base::TableReader& table, KubernetesOptions& options) {
  constexpr base::TimeNs kTakeoverMost = base::kHour;
  constexpr base::TimeNs kTakeoverLeast = 3 * base::kSecond;
  const std::string lease = table.text("lease", "goban/goban");
  if (!is_place(lease)) {
    table.refuse("lease", "is not the place of a Lease", "lease = \"NAMESPACE/NAME\"");
  }
  base::TimeNs& takeover_ns = options.terms.takeover_ns;
  takeover_ns = table.duration("takeover", takeover_ns);
  if (takeover_ns < kTakeoverLeast || takeover_ns > kTakeoverMost) {
    table.refuse("takeover", "must be from 3 s to an hour", "takeover = \"15s\"");
  }
  // Who only observes writes nothing, not even a Lease.
  if (options.rules.mode != Mode::Observe) options.lease = lease;
}

std::string random_digits() {
  std::array<uint64_t, 2> bits{};
  GOBAN_CHECK(::getrandom(bits.data(), sizeof bits, 0) == sizeof bits);
  return fmt::format("{:016x}{:016x}", bits[0], bits[1]);
}

/// The id of a state folder, which copies and backups of it keep. Errors: Failed.
base::Result<std::string> book_of(const std::string& state) {
  constexpr const char* kName = "kubernetes-book";
  constexpr size_t kMost = 64;
  if (state.empty()) return std::string();
  const std::string path = state + "/" + kName;
  if (base::exists(path)) {
    auto text = base::read_small_file(path, kMost);
    if (!text) return text;
    return std::string(base::trimmed(*text));
  }
  std::string made = random_digits();
  auto status = base::replace_file(state, kName, made + "\n", base::Durable::Yes);
  if (!status) return base::failure(status.error());
  return made;
}

/// Where a folder is: not the same for a copy, nor on another machine or after its next boot, when
/// a lock of it may say nothing about processes elsewhere. Empty: unknown.
std::string home_of(const std::string& state) {
  constexpr size_t kMost = 64;
  constexpr size_t kDigits = 16;
  const auto boot = base::read_small_file("/proc/sys/kernel/random/boot_id", kMost);
  struct stat facts{};
  if (state.empty() || !boot || ::stat(state.c_str(), &facts) != 0) return {};
  const std::string place = fmt::format("{} {} {}", *boot, facts.st_dev, facts.st_ino);
  return base::hex(base::sha256(place)).substr(0, kDigits);
}

base::Status set_terms(const EngineSetup& setup, LeaseTerms& terms) {
  auto book = book_of(setup.state);
  if (!book) return base::failure(book.error());
  constexpr size_t kHostMost = 256;
  const auto host = base::read_small_file("/proc/sys/kernel/hostname", kHostMost);
  constexpr size_t kDigits = 8;
  terms.holder = fmt::format("{}{}_{}", kHolderPrefix, host ? base::trimmed(*host) : "",
                             random_digits().substr(0, kDigits));
  terms.book = std::move(*book);
  terms.home = home_of(setup.state);
  terms.epoch = setup.epoch;
  terms.is_alone = !setup.earlier_may_run;
  return {};
}

/// Of a choice that was checked.
Rules rules_of(const EngineChoice& choice) {
  base::ConfigProblems problems(choice.file);
  base::TableReader table(choice.table, choice.name, problems);
  return read_kubernetes(table).options.rules;
}

}  // namespace

KubernetesChoice read_kubernetes(base::TableReader& table) {
  constexpr std::array<std::string_view, 3> kModes = {"observe", "namespaces", "all"};
  constexpr std::array<std::string_view, 2> kIndices = {"counts", "exact"};
  constexpr std::array<std::string_view, 1> kVersions = {"any"};
  constexpr base::TimeNs kStartMost = base::kDay;
  KubernetesChoice out;
  KubernetesOptions& options = out.options;
  table.require("mode", "mode = \"observe\" writes nothing; also known: namespaces, all");
  const std::string mode = one_of(table, "mode", kModes);
  if (mode == "namespaces") options.rules.mode = Mode::Namespaces;
  if (mode == "all") options.rules.mode = Mode::All;
  options.rules.namespaces = table.texts("namespaces");
  if (options.rules.namespaces.empty() == (mode == "namespaces")) {
    table.refuse("namespaces", fmt::format("does not fit mode {}", mode),
                 "name the managed ones with mode = \"namespaces\", and only then");
  }
  out.kubeconfig = table.text("kubeconfig");
  out.context = table.text("context");
  options.rules.scheduler = table.text("scheduler", options.rules.scheduler);
  if (options.rules.scheduler == "default-scheduler") {
    table.refuse("scheduler", "is the name of Kubernetes' own", "scheduler = \"goban\"");
  }
  if (one_of(table, "indices", kIndices) == "exact") options.rules.indices = Indices::Exact;
  constexpr std::array<std::string_view, 2> kSharing = {"none", "labelled"};
  options.rules.shares = one_of(table, "sharing", kSharing) == "labelled";
  if (options.rules.shares && options.rules.indices != Indices::Exact) {
    table.refuse("sharing", "needs to say which GPU a pod gets", "indices = \"exact\"");
  }
  options.rules.driver = table.text("driver", options.rules.driver);
  options.patience.start_ns = table.duration("start", options.patience.start_ns);
  if (options.patience.start_ns < base::kSecond || options.patience.start_ns > kStartMost) {
    table.refuse("start", "must be from a second to a day", "start = \"10m\"");
  }
  options.sleep = table.text("sleep");
  options.rules.sleeps = !options.sleep.empty();
  if (options.rules.sleeps && !options.sleep.starts_with('/')) {
    table.refuse("sleep", "is not the absolute path of a program",
                 "sleep = \"/usr/local/sbin/node-power\"");
  }
  options.grace_ns = table.duration("grace", options.grace_ns);
  if (options.grace_ns < base::kSecond || options.grace_ns > kStartMost) {
    table.refuse("grace", "must be from a second to a day", "grace = \"5m\"");
  }
  constexpr double kRequestsMost = 100'000;
  options.requests_s = table.number("requests", 1, kRequestsMost, options.requests_s);
  read_lease_keys(table, options);
  out.any_version = table.has("version") && one_of(table, "version", kVersions) == "any";
  return out;
}

base::Result<Access> access_of(const KubernetesChoice& choice) {
  if (choice.kubeconfig.empty()) return access_in_cluster();
  constexpr size_t kMost = size_t{4} << 20;
  const auto text = base::read_text_file(choice.kubeconfig, kMost);
  if (!text) return base::failure(text.error());
  return access_from_kubeconfig(*text, choice.kubeconfig, choice.context);
}

base::Status check_version(std::string_view said, bool any) {
  const auto document = nlohmann::json::parse(said, nullptr, false);
  const std::string minor = base::text_of(document, "minor");
  // Some providers write "34+".
  const std::string version = fmt::format("{}.{}", base::text_of(document, "major"),
                                          minor.substr(0, minor.find_first_not_of("0123456789")));
  if (any || std::ranges::find(kTried, version) != kTried.end()) return {};
  return base::failed(fmt::format("Kubernetes {} was not tried with Goban", version.substr(0, 40)),
                      fmt::format("tried: {}; version = \"any\" uses it all the same "
                                  "(docs/kubernetes.md)",
                                  fmt::join(kTried, ", ")));
}

bool starts_pods(const EngineChoice& choice) { return rules_of(choice).mode != Mode::Observe; }

bool nodes_may_sleep(const EngineChoice& choice) { return rules_of(choice).sleeps; }

base::Result<EngineParts> make_kubernetes(const EngineSetup& setup) {
  base::ConfigProblems problems(setup.choice.file);
  base::TableReader table(setup.choice.table, setup.choice.name, problems);
  KubernetesChoice choice = read_kubernetes(table);
  if (auto status = problems.status(); !status) return base::failure(status.error());
  auto access = access_of(choice);
  if (!access) return base::failure(access.error());
  KubernetesOptions& options = choice.options;
  options.epoch = setup.epoch;
  options.access = std::move(*access);
  if (!options.lease.empty()) {
    if (auto status = set_terms(setup, options.terms); !status) {
      return base::failure(status.error());
    }
    // What was sent while the Lease was ours has come to its end before the next one begins.
    constexpr double kParts = 3;
    options.timeout_s =
        std::min(options.timeout_s, base::to_seconds(options.terms.takeover_ns) / kParts);
  }
  EngineParts parts;
  const std::atomic<bool> never{false};
  Api api(std::make_shared<Credentials>(options.access), never, options.timeout_s);
  const ApiAnswer version = api.get("/version");
  if (version.fine()) {
    if (auto status = check_version(version.body, choice.any_version); !status) {
      return base::failure(status.error());
    }
  } else {
    parts.notes.push_back("Kubernetes does not answer yet: " + version.problem);
  }
  constexpr int kNoneYet = 404;
  if (version.fine() && !options.lease.empty()) {
    const ApiAnswer lease = api.get(lease_path(options.lease));
    if (!lease.fine() && lease.status != kNoneYet) {
      parts.notes.push_back(fmt::format(
          "Kubernetes: no pod starts, as the Lease {} cannot be read ({}); apply what goban engine "
          "kubernetes manifests prints, again",
          options.lease, lease.problem));
    }
  }
  const bool observes = options.rules.mode == Mode::Observe;
  parts.notes.push_back(observes ? std::string("Kubernetes: only observed; nothing is written")
                                 : fmt::format("Kubernetes: pods with schedulerName {} wait for "
                                               "this daemon",
                                               options.rules.scheduler));
  options.reasons = observes ? nullptr : std::make_shared<WaitReasons>();
  options.tells = !observes;
  options.pods = std::make_shared<PodsOfGangs>();
  parts.view = std::make_unique<KubernetesView>(options.reasons, options.pods);
  parts.engine = std::make_unique<KubernetesEngine>(std::move(options));
  return parts;
}

}  // namespace goban::live::engine::kubernetes
