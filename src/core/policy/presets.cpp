#include <algorithm>
#include <array>
#include <utility>

#include "core/policy/compose.hpp"

namespace goban::core::policy {
namespace {

/// PAL's artifact: rounds of 360 s, free restarts.
constexpr RunSettings kArtifact = {.locality_penalty = 1.7,
                                   .restart_cost_s = 0,
                                   .round_s = 360,
                                   .credit_per_round = true,
                                   .ideal_speed = false};
/// A reference with known results.
constexpr RunSettings kIdeal = {.locality_penalty = 1,
                                .restart_cost_s = 0,
                                .round_s = 0,
                                .credit_per_round = false,
                                .ideal_speed = true};

constexpr std::array kPresets = {
    Preset{"goban", "expansion+promise-backfill+priced+pal-tight+share-worth+sleep+consolidate",
           "our default: predicted run times, promised starts, GPU variability, sharing, sleep"},
    Preset{"slurm-multifactor", "multifactor+easy-backfill+packed",
           "typical of sites today: Slurm's multifactor priority, backfill on walltime limits"},
    Preset{"pal-artifact", "pal-paper+non-sticky",
           "PAL exactly as its public artifact runs it (SC24)", kArtifact, true},
    Preset{"pm-first-artifact", "pm-first+non-sticky", "PM-First as in PAL's artifact", kArtifact,
           true},
    Preset{"packed-sticky-artifact", "packed+sticky",
           "Packed-Sticky as in PAL's artifact: the paper's baseline", kArtifact, true},
    Preset{"packed-nonsticky-artifact", "packed+non-sticky",
           "Packed-Non-Sticky as in PAL's artifact", kArtifact, true},
    Preset{"random-sticky-artifact", "random+sticky",
           "Random-Sticky: the artifact's control flow, our random numbers", kArtifact, true},
    Preset{"random-nonsticky-artifact", "random+non-sticky",
           "Random-Non-Sticky: the artifact's control flow, our random numbers", kArtifact, true},
    Preset{"fifo-packed-strict", "consolidated",
           "strict FIFO on whole nodes, ideal GPUs: a reference with known results", kIdeal},
    Preset{"fifo-fungible-strict", "any",
           "strict FIFO, all GPUs interchangeable and ideal: a reference with known results",
           kIdeal},
    Preset{"best-pair", "share-best-pair",
           "FIFO; a blocked job joins the best partner, as in Gavel's FIFO_packed, and stays"},
    Preset{"random-pair", "share-random-pair",
           "FIFO; blocked jobs join random partners, as in Gandiva, without time slicing"},
    Preset{"eaco-paper", "priority+share-eaco-paper+sleep",
           "EaCO as in its paper (arXiv 2412.08294)"},
    Preset{"eaco", "priority+by-priority+share-eaco+sleep+consolidate",
           "EaCO with extensions beyond its paper (docs/energy.md)"},
};

/// Former and current names, for journals, configurations and studies that were written before.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kFormerNames = {
    {{"fifo-packed", "best-pair"},
     {"gandiva", "random-pair"},
     {"share-packed", "share-best-pair"},
     {"share-gandiva", "share-random-pair"}}};

}  // namespace

std::span<const Preset> presets() { return kPresets; }

std::string_view current_name(std::string_view name) {
  const auto* former = std::ranges::find(kFormerNames, name, [](const auto& e) { return e.first; });
  return former == kFormerNames.end() ? name : former->second;
}

}  // namespace goban::core::policy
