// goban pilot simulate: how often a pilot would show a gain, with and without an effect.
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/admin/commands.hpp"
#include "cli/admin/pilot_plan_options.hpp"
#include "cli/shell/notes.hpp"
#include "cli/shell/progress.hpp"
#include "cli/shell/text_table.hpp"
#include "cli/site/reading_options.hpp"
#include "site/records/reject_limit.hpp"
#include "study/notes.hpp"
#include "study/pilot_trials.hpp"

namespace goban::cli {
namespace {

using nlohmann::json;

struct TrialArguments {
  study::StudyOptions study{};
  core::pilot::Plan plan{};
  size_t pilots = 1000;
  bool json_out = false;
};

json tally_json(const study::PilotTally& of) {
  return {{"pilots", of.pilots},         {"gain", of.gains},
          {"loss", of.losses},           {"no_gain", of.no_gains},
          {"not_enough", of.not_enough}, {"fell_back", of.fell_back},
          {"gain_upper", of.gain_upper}, {"ratio", of.ratio ? json(*of.ratio) : json()}};
}

std::string share(size_t part, const study::PilotTally& of) {
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) /
                                     static_cast<double>(std::max<size_t>(of.pilots, 1)));
}

int simulate(TrialArguments arguments) {
  ProgressBar progress;
  arguments.plan.policy_a = arguments.study.policies.front();
  arguments.plan.policy_b = arguments.study.policies.back();
  if (auto status = core::pilot::check(arguments.plan); !status) {
    return report_error(status.error());
  }
  if (auto status = check_policies(arguments.plan, true); !status) {
    return report_error(status.error());
  }
  arguments.study.seed = arguments.plan.seed;
  auto inputs = study::load_inputs(arguments.study.files, {}, arguments.study.seed, progress);
  if (!inputs) return report_error(inputs.error());
  const study::InputFiles& files = arguments.study.files;
  print_notes(study::read_notes(inputs->jobs, files.jobs, files.rejects));
  const auto few = site::records::check_rejects(inputs->jobs, files.jobs, files.max_rejects_pct);
  if (!few) return report_error(few.error());
  const auto trials =
      study::try_pilots(arguments.plan, arguments.study, *inputs, arguments.pilots, progress);
  if (!trials) return report_error(trials.error());
  if (arguments.json_out) {
    fmt::print("{}\n", json{{"without_effect", tally_json(trials->without_effect)},
                            {"with_effect", tally_json(trials->with_effect)}}
                           .dump(2));
    return 0;
  }
  TextTable table({{"PILOTS", false, 40},
                   {"GAIN", true, 8},
                   {"LOSS", true, 8},
                   {"NO GAIN", true, 8},
                   {"NOT ENOUGH", true, 10},
                   {"FELL BACK", true, 10},
                   {"WAIT B / A", true, 10}});
  const auto add = [&](const std::string& name, const study::PilotTally& of) {
    table.add({fmt::format("{} {}", of.pilots, name), share(of.gains, of), share(of.losses, of),
               share(of.no_gains, of), share(of.not_enough, of), share(of.fell_back, of),
               of.ratio ? fmt::format("{:.2f}", *of.ratio) : "-"});
  };
  add("of A alone", trials->without_effect);
  add("of A and B", trials->with_effect);
  fmt::print("{}false gains: at most {:.1f} % (upper 95 % bound); power: {}\n",
             table.text(output_style()), 100 * trials->without_effect.gain_upper,
             share(trials->with_effect.gains, trials->with_effect));
  return 0;
}

}  // namespace

void add_pilot_simulate(Command& pilot, Action& action) {
  auto arguments = std::make_shared<TrialArguments>();
  arguments->study.policies.clear();
  Command* c = pilot.add_subcommand("simulate", "Simulate how often a pilot would detect a gain");
  study::InputFiles& files = arguments->study.files;
  c->add_option("--cluster", files.cluster, "Cluster: TOML file, preset or NxM")->required();
  c->add_option("--jobs", files.jobs,
                "Job history, plain or gzip, or a history store; - for standard input")
      ->required();
  add_reading_options(*c, files.reading);
  c->add_option("--policy", arguments->study.policies, "Policies A,B (see goban policies)")
      ->delimiter(',')
      ->expected(2, 2)
      ->required();
  c->add_option("--accounts", files.accounts,
                "Accounts, shares, hard limits and priority weights of the site (TOML file)")
      ->type_name("FILE");
  c->add_option("--preemptible", files.preemptible_share,
                "Share of the jobs that may be preempted (default: as the history says, else all)")
      ->range(0.0, 1.0);
  c->add_flag("--preemption-loses-work", arguments->study.preemption_loses_work,
              "A preempted job falls back to its last checkpoint");
  c->add_option("--pilots", arguments->pilots, "Number of pilots of each kind")
      ->range(1, 100'000)
      ->capture_default_str();
  add_plan_options(*c, arguments->plan);
  c->add_option("--rejects", files.rejects, "File for rejected records, with reasons")
      ->type_name("FILE");
  add_max_rejects(*c, files.max_rejects_pct);
  c->add_option("--threads", arguments->study.threads, "Simulations in parallel")
      ->range(1, 2)
      ->capture_default_str();
  c->add_flag("--json", arguments->json_out, "Print JSON only");
  c->footer(
      "Needs no daemon. Each pilot has its own order of periods, and runs on days of the history,\n"
      "drawn with replacement: once with A in all periods, where a gain would be false, and once\n"
      "with B in its periods.\n"
      "Example:\n"
      "  goban pilot simulate --cluster 8x8 --jobs history.csv --policy slurm-multifactor,goban "
      "\\\n"
      "    --period 12h --pairs 18 --pilots 1000\n"
      "Exit codes: 0 success, 1 failure, 2 usage error, 3 invalid input.");
  c->callback([arguments, &action] { action = [arguments] { return simulate(*arguments); }; });
}

}  // namespace goban::cli
