#include "live/engine/slurm/job_submit.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace goban::live::engine::slurm {

namespace {

/// {["a"] = true, ...}
std::string lua_set(const std::vector<std::string>& names) {
  std::string out = "{";
  for (const std::string& name : names) {
    out += fmt::format("{}[{}] = true", out.size() > 1 ? ", " : "", base::quoted(name));
  }
  return out + "}";
}

constexpr std::string_view kRules = R"lua(
-- Jobs of managed partitions are held until Goban has decided: those of sbatch, and the allocations for
-- which salloc and srun wait. Without Goban they wait; to hand scheduling back: goban engine slurm
-- release-all, or scontrol release. Not held are jobs without GPUs, or that exclude nodes, name licences,
-- a reservation or shards of a GPU by its index, or that are to start at once or not at all (--immediate): Slurm
-- starts them ("goban:slurm", or "goban:slurm:" and why), and Goban takes them into account.

-- Entries of "gres:gpu:a100:2,gres:nic:1" as {name, type, count}, whatever the release's prefix; nil if one is not of this form.
local function entries(text)
  local found = {}
  for entry in (text or ""):gmatch("[^,]+") do
    entry = entry:gsub("^gres[:/]", "")
    if entry:find("[^%w:=_.%-]") then return nil end
    local words = {}
    for word in entry:gmatch("[^:=]+") do words[#words + 1] = word end
    local count = 1
    if #words > 1 and words[#words]:match("^%d+$") then count = tonumber(table.remove(words)) end
    found[#found + 1] = {name = words[1], type = words[2], count = count}
  end
  return found
end

-- (Slurm shows users such a text at a submission, but not at a change.)
local function refuse(text, ...)
  slurm.log_user(text, ...)
  return slurm.ERROR
end

-- Of "long,short": whether all are managed, and whether any is.
local function managed_of(partition)
  if ALL_PARTITIONS then return true, true end
  local all, any = partition ~= nil, false
  for name in (partition or ""):gmatch("[^,]+") do
    if PARTITIONS[name] then any = true else all = false end
  end
  return all and any, any
end

local function is_managed(partition)
  local all = managed_of(partition)
  return all
end

local function partition_of(job, parts)
  if job.partition ~= nil and job.partition ~= "" then return job.partition end
  for name, part in pairs(parts) do
    if part.flag_default == 1 then return name end
  end
  return nil
end

-- Goban knows nothing of these. (It sees the nodes and features that a job names, and places it there.)
local function has_own_choice(job)
  for _, text in pairs({job.exc_nodes or "", job.licenses or "", job.reservation or ""}) do
    if text ~= "" then return true end
  end
  return false
end

function slurm_job_submit(job, parts, uid)
  local by_index, has_gpus, named = false, false, {}
  for field, text in pairs({tres_per_job = job.tres_per_job or "", tres_per_node = job.tres_per_node or "",
                            tres_per_socket = job.tres_per_socket or "", tres_per_task = job.tres_per_task or ""}) do
    local found = entries(text)
    if found == nil then return refuse("goban: a generic resource has an invalid name") end
    for _, entry in ipairs(found) do
      if entry.name == "gpu" then
        has_gpus = has_gpus or entry.count > 0
        if entry.type ~= nil and INDEX_TYPES[entry.type] then
          if entry.count ~= 1 or named[field .. entry.type] then
            return refuse("goban: each node has one GPU of type %s", entry.type)
          end
          named[field .. entry.type] = true
          by_index = by_index or field ~= "tres_per_node" -- there it is a constraint of Goban's
        elseif entry.type ~= nil and not GPU_TYPES[entry.type] then
          return refuse("goban: there are no GPUs of type %s", entry.type)
        end
        if field == "tres_per_node" and entry.count > GPUS_PER_NODE then
          return refuse("goban: %d GPUs on a node; no node has more than %d", entry.count, GPUS_PER_NODE)
        end
      elseif entry.name == "shard" and next(INDEX_TYPES) ~= nil then
        has_gpus = true -- a part of one, which its job shares
        if entry.type ~= nil then by_index = true end
      end
    end
  end
  local all, any = managed_of(partition_of(job, parts))
  if not any then return slurm.SUCCESS end
  -- The owner of these may hold and release them as ever.
  local why = nil
  if not has_gpus then why = ""
  elseif not all then why = ":other-partitions"
  elseif by_index then why = ":gpu-by-index"
  elseif has_own_choice(job) then why = ":own-choice-of-nodes"
  elseif job.script == nil and (job.immediate or 0) ~= 0 then why = ":immediate" end
  if why ~= nil then
    job.admin_comment = "goban:slurm" .. why
    return slurm.SUCCESS
  end
  if job.priority == 0 then job.admin_comment = "goban:held" end
  job.priority = 0
  return slurm.SUCCESS
end

function slurm_job_modify(job, rec, parts, uid)
  if uid == 0 or uid == SLURM_UID then return slurm.SUCCESS end
  local mark = rec.admin_comment or ""
  if mark:find("^goban:slurm") then return slurm.SUCCESS end
  if job.partition ~= nil and job.partition ~= "" and is_managed(job.partition) ~= is_managed(rec.partition) then
    return slurm.ERROR -- held for nobody, or started beside Goban
  end
  if not is_managed(rec.partition) then return slurm.SUCCESS end
  if rec.priority == 0 and job.nice ~= nil and job.nice ~= slurm.NO_VAL then
    return slurm.ERROR -- Slurm computes a priority from it, which releases the job
  end
  if (rec.het_job_id or 0) ~= 0 and job.exc_nodes ~= nil then
    return slurm.ERROR -- Goban places its components by the nodes that they exclude
  end
  if mark:find("^goban:%d") and (job.tres_per_node ~= nil or job.req_nodes ~= nil) then
    return slurm.ERROR -- placed: its GPUs and nodes cannot be changed any more
  end
  if rec.priority == 0 and job.priority ~= nil and job.priority ~= slurm.NO_VAL and job.priority ~= 0 then
    local held = mark == "goban:held" and rec.comment ~= "goban:released" or rec.comment == "goban:held"
    if not held then return slurm.ERROR end
    job.priority = slurm.NO_VAL -- still 0: Goban decides
    job.comment = "goban:released"
  elseif rec.priority == 0 and job.priority == 0 then
    job.comment = "goban:held" -- an AdminComment would be refused as one of the owner
  end
  return slurm.SUCCESS
end

return slurm.SUCCESS
)lua";

}  // namespace

std::string job_submit_lua(const SubmitRules& rules) {
  return fmt::format(
      "{}\n"
      "local ALL_PARTITIONS = {}\nlocal PARTITIONS = {}\nlocal GPU_TYPES = {}\n"
      "local INDEX_TYPES = {}\nlocal GPUS_PER_NODE = {}\nlocal SLURM_UID = {}\n{}",
      kSubmitHead, rules.partitions.empty(), lua_set(rules.partitions), lua_set(rules.gpu_types),
      lua_set(rules.index_types), rules.gpus_per_node, rules.slurm_uid, kRules.substr(1));
}

}  // namespace goban::live::engine::slurm
