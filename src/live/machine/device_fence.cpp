#include "live/machine/device_fence.hpp"

#include <cstdint>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/files.hpp"

namespace goban::live::machine {
namespace {

using base::Descriptor;
using base::Status;

bpf_insn instruction(int code, int to, int from, int skip, uint32_t value) {
  bpf_insn out{};
  out.code = static_cast<uint8_t>(code);
  out.dst_reg = static_cast<uint8_t>(to & 0xf);
  out.src_reg = static_cast<uint8_t>(from & 0xf);
  out.off = static_cast<int16_t>(skip);
  out.imm = static_cast<int32_t>(value);
  return out;
}

/// Loads a word of the context; all of them have 32 bits.
bpf_insn load(int to, size_t offset) {
  return instruction(BPF_LDX | BPF_MEM | BPF_W, to, BPF_REG_1, static_cast<int>(offset), 0);
}

bpf_insn skip_unless(int value_in, uint32_t is, int skip) {
  return instruction(BPF_JMP | BPF_JNE | BPF_K, value_in, 0, skip, is);
}

void answer(std::vector<bpf_insn>& program, bool may) {
  program.push_back(instruction(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, may ? 1 : 0));
  program.push_back(instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0));
}

/// Answers 0, denied, for these character devices, and 1 for the others.
std::vector<bpf_insn> program_for(const std::vector<DeviceNumber>& denied) {
  constexpr int kType = BPF_REG_2;
  constexpr int kMajor = BPF_REG_3;
  constexpr int kMinor = BPF_REG_4;
  std::vector<bpf_insn> out;
  out.push_back(load(kType, offsetof(bpf_cgroup_dev_ctx, access_type)));
  // The other half is what is to be done with it: read, write, create.
  out.push_back(instruction(BPF_ALU | BPF_AND | BPF_K, kType, 0, 0, 0xffff));
  out.push_back(load(kMajor, offsetof(bpf_cgroup_dev_ctx, major)));
  out.push_back(load(kMinor, offsetof(bpf_cgroup_dev_ctx, minor)));
  constexpr int kAnswer = 2;  // instructions
  out.push_back(instruction(BPF_JMP | BPF_JEQ | BPF_K, kType, 0, kAnswer, BPF_DEVCG_DEV_CHAR));
  answer(out, true);
  for (const DeviceNumber& each : denied) {
    out.push_back(skip_unless(kMajor, each.major, kAnswer + 1));
    out.push_back(skip_unless(kMinor, each.minor, kAnswer));
    answer(out, false);
  }
  answer(out, true);
  return out;
}

Descriptor call_bpf(bpf_cmd command, bpf_attr& attributes) {
  return Descriptor(static_cast<int>(::syscall(SYS_bpf, command, &attributes, sizeof attributes)));
}

uint64_t address_of(const void* what) { return reinterpret_cast<uint64_t>(what); }

/// The program stays attached as long as the cgroup exists.
Status attach_program(const std::string& cgroup, const std::vector<DeviceNumber>& denied) {
  const std::vector<bpf_insn> program = program_for(denied);
  bpf_attr load{};
  load.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
  load.insns = address_of(program.data());
  load.insn_cnt = static_cast<uint32_t>(program.size());
  load.license = address_of("Apache-2.0");
  const Descriptor loaded = call_bpf(BPF_PROG_LOAD, load);
  if (!loaded) return base::system_error("cannot load a device program for", cgroup);
  const Descriptor folder(::open(cgroup.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  bpf_attr attach{};
  attach.target_fd = static_cast<uint32_t>(folder.get());
  attach.attach_bpf_fd = static_cast<uint32_t>(loaded.get());
  attach.attach_type = BPF_CGROUP_DEVICE;
  attach.attach_flags = BPF_F_ALLOW_MULTI;  // programs of cgroups above hold, too
  if (!folder || ::syscall(SYS_bpf, BPF_PROG_ATTACH, &attach, sizeof attach) != 0) {
    return base::system_error("cannot attach a device program to", cgroup);
  }
  return {};
}

}  // namespace

Status deny_devices(const Cgroup& cgroup, const std::vector<DeviceNumber>& denied) {
  const std::string file = cgroup.path() + "/devices.deny";
  if (!base::exists(file)) return attach_program(cgroup.path(), denied);
  const Descriptor open(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  for (const DeviceNumber& each : denied) {
    if (!open || !base::write_all(open.get(), fmt::format("c {}:{} rwm", each.major, each.minor))) {
      return base::system_error("cannot write", file);
    }
  }
  return {};
}

base::Result<std::optional<Cgroup>> fence_devices(const std::optional<Cgroup>& cgroup,
                                                  const std::string& name,
                                                  const std::vector<DeviceNumber>& denied) {
  if (::geteuid() != 0) return base::failed("only root can deny devices to processes");
  const auto first = cgroup ? deny_devices(*cgroup, denied)
                            : Status(base::failed("no cgroup of version 2 can be created"));
  if (first) return std::optional<Cgroup>();
  const std::string root = find_device_cgroup_root();
  auto other = root.empty() ? std::nullopt : Cgroup::make(root, name);
  if (!other) {
    return base::failed(
        fmt::format("{}, and no cgroup of the devices controller", first.error().message));
  }
  if (auto second = deny_devices(*other, denied); !second) {
    other->remove();
    return base::failure(second.error());
  }
  return other;
}

Status can_fence_devices(const std::string& root) {
  const std::string name = fmt::format("probe-{}", ::getpid());
  const auto cgroup = Cgroup::make(root, name);
  const auto other = fence_devices(cgroup, name, {});
  if (cgroup) cgroup->remove();
  if (!other) return base::failure(other.error());
  if (*other) (*other)->remove();
  return {};
}

}  // namespace goban::live::machine
