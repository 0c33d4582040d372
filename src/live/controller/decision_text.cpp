#include "live/controller/decision_text.hpp"

#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json_fields.hpp"
#include "live/controller/id_fields.hpp"

namespace goban::live::controller {

using core::model::ActionKind;
using nlohmann::json;

namespace {

constexpr std::array<const char*, 7> kActionNames = {"start", "preempt", "abandon", "observe",
                                                     "cap",   "rest",    "wake"};

json action_json(const core::model::Action& action, const core::scheduler::Core& core) {
  json out{{"do", kActionNames[static_cast<size_t>(action.kind)]}};
  switch (action.kind) {
    case ActionKind::Start: {
      const core::model::Allocation& allocation = core.allocation(action.job);
      out["job"] = action.job.value;
      out["gpus"] = numbers_of(allocation.gpus);
      if (!allocation.hosts.empty()) out["hosts"] = numbers_of(allocation.hosts);
      if (allocation.reason.prediction != 0) out["beside"] = allocation.reason.prediction;
      break;
    }
    case ActionKind::Preempt:
      out["job"] = action.job.value;
      if (action.undo) out["undo"] = true;
      if (action.move) out["move"] = true;
      if (action.resize) out["resize"] = true;
      break;
    case ActionKind::Abandon:
      out["job"] = action.job.value;
      break;
    case ActionKind::Observe:
      out["job"] = action.job.value;
      out["until"] = action.until_ns;
      break;
    case ActionKind::Cap:
      out["gpu"] = action.gpu.value;
      out["cap"] = action.cap;
      break;
    case ActionKind::Rest:
    case ActionKind::Wake:
      out["node"] = action.node.value;
      break;
  }
  return out;
}

void read_action(base::FieldReader& in, RecordedDecision& decision) {
  constexpr uint8_t kLevelMax = std::numeric_limits<uint8_t>::max();
  std::string name;
  in.field("do", name);
  const auto found = std::ranges::find(kActionNames, name);
  if (found == kActionNames.end())
    return in.fail("do", "unknown action; this journal was written by a newer release");
  core::model::Action& action = decision.actions.emplace_back();
  action.kind = static_cast<ActionKind>(found - kActionNames.begin());
  switch (action.kind) {
    case ActionKind::Start: {
      read_id(in, "job", action.job);
      core::model::Allocation& allocation = decision.allocations.emplace_back();
      read_ids(in, "gpus", allocation.gpus);
      read_ids(in, "hosts", allocation.hosts);
      in.field("beside", allocation.reason.prediction, uint8_t{0}, kLevelMax);
      break;
    }
    case ActionKind::Preempt:
      read_id(in, "job", action.job);
      in.field("undo", action.undo);
      in.field("move", action.move);
      in.field("resize", action.resize);
      break;
    case ActionKind::Abandon:
      read_id(in, "job", action.job);
      break;
    case ActionKind::Observe:
      read_id(in, "job", action.job);
      in.field("until", action.until_ns, TimeNs{0}, base::kNever);
      break;
    case ActionKind::Cap:
      read_id(in, "gpu", action.gpu);
      in.field("cap", action.cap, int8_t{-1}, std::numeric_limits<int8_t>::max());
      break;
    case ActionKind::Rest:
    case ActionKind::Wake:
      read_id(in, "node", action.node);
      break;
  }
}

}  // namespace

base::Result<RecordedDecision> parse_decision(std::string_view text) {
  const json document = json::parse(text, nullptr, false);
  if (document.is_discarded())
    return base::bad_data({}, "a decision of the journal is not valid JSON");
  base::FieldReader in(document, "");
  RecordedDecision decision;
  in.object("decided", [&](base::FieldReader& part) {
    part.field("at", decision.at_ns, TimeNs{0}, base::kNever);
    part.list("actions", [&](base::FieldReader& each) { read_action(each, decision); });
  });
  if (auto status = in.status(); !status) return base::failure(status.error());
  return decision;
}

std::string decision_text(const core::scheduler::Decision& decision,
                          const core::scheduler::Core& core) {
  json actions = json::array();
  for (const core::model::Action& action : decision.actions) {
    actions.push_back(action_json(action, core));
  }
  return json{{"decided", {{"at", decision.at_ns}, {"actions", std::move(actions)}}}}.dump();
}

}  // namespace goban::live::controller
