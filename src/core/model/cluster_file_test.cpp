#include "core/model/cluster_file.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>

#include "core/model/cluster_presets.hpp"

namespace goban::core::model {
namespace {

Cluster parse_ok(std::string_view toml) {
  auto cluster = parse_cluster(toml, "c.toml");
  if (!cluster) throw std::runtime_error(cluster.error().text());
  return std::move(*cluster);
}

std::string problem(std::string_view toml) {
  const auto cluster = parse_cluster(toml, "c.toml");
  return cluster ? "" : cluster.error().text();
}

void expect_equal(const Cluster& a, const Cluster& b) {
  EXPECT_EQ(a.name(), b.name());
  ASSERT_EQ(a.nodes().size(), b.nodes().size());
  for (size_t i = 0; i < a.nodes().size(); ++i) {
    const Node& x = a.nodes()[i];
    const Node& y = b.nodes()[i];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.first_gpu, y.first_gpu);
    EXPECT_EQ(x.num_gpus, y.num_gpus);
    EXPECT_EQ(x.gpu_model, y.gpu_model);
    EXPECT_EQ(x.host, y.host);
  }
  ASSERT_EQ(a.gpu_models().size(), b.gpu_models().size());
  for (size_t i = 0; i < a.gpu_models().size(); ++i) {
    EXPECT_EQ(a.gpu_models()[i].name, b.gpu_models()[i].name);
    EXPECT_EQ(a.gpu_models()[i].mem_bytes, b.gpu_models()[i].mem_bytes);
    EXPECT_EQ(a.gpu_models()[i].power_max_w, b.gpu_models()[i].power_max_w);
    EXPECT_EQ(a.gpu_models()[i].power_idle_w, b.gpu_models()[i].power_idle_w);
  }
  ASSERT_EQ(a.levels().size(), b.levels().size());
  for (size_t i = 0; i < a.levels().size(); ++i) {
    EXPECT_EQ(a.levels()[i].name, b.levels()[i].name);
    EXPECT_EQ(a.levels()[i].first_gpu, b.levels()[i].first_gpu);
    EXPECT_EQ(a.levels()[i].bandwidth_bytes_per_s, b.levels()[i].bandwidth_bytes_per_s);
    EXPECT_EQ(a.levels()[i].latency_s, b.levels()[i].latency_s);
    EXPECT_EQ(a.levels()[i].locality_penalty, b.levels()[i].locality_penalty);
  }
  ASSERT_EQ(a.resource_types().size(), b.resource_types().size());
  for (size_t i = 0; i < a.resource_types().size(); ++i) {
    const ResourceType& x = a.resource_types()[i];
    const ResourceType& y = b.resource_types()[i];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.gpus, y.gpus);
    EXPECT_EQ(x.host, y.host);
    EXPECT_EQ(x.max_instances, y.max_instances);
    EXPECT_EQ(x.walltime_max_ns, y.walltime_max_ns);
    EXPECT_EQ(x.walltime_default_ns, y.walltime_default_ns);
  }
}

TEST(ClusterFile, AbciAsTextIsThePreset) {
  const Cluster cluster = parse_ok(R"(
name = "abci"
[[gpu_model]]
name = "V100-SXM2-16GB"
memory = "16 GiB"
power_max_w = 300
power_idle_w = 30
[[nodes]]
count = 1088
name = "g{:04}"
start = 1
gpus = 4
nodes_per_rack = 34
cores = 40
memory = "384 GiB"
ssd = "1.6 TB"
[[link]]
level = "node"
bandwidth = "150 GB/s"
latency = "1 us"
[[link]]
level = "rack"
bandwidth = "200 Gb/s"
latency = "2 us"
uplink_ratio = "1/3"
[[resource_type]]
name = "Full"
gpus = 4
cores = 40
memory = "360 GiB"
ssd = "1440 GiB"
max_instances = 512
walltime_max = "72h"
walltime_default = "1h"
)");
  const auto preset = make_preset("abci");
  ASSERT_TRUE(preset);
  EXPECT_EQ(cluster.nodes().back().name, "g1088");
  EXPECT_EQ(cluster.levels()[1].first_gpu, preset->levels()[1].first_gpu);
  EXPECT_EQ(cluster.levels()[1].latency_s, preset->levels()[1].latency_s);
  EXPECT_EQ(cluster.levels()[2].bandwidth_bytes_per_s, preset->levels()[2].bandwidth_bytes_per_s);
  EXPECT_EQ(cluster.resource_types()[0].walltime_max_ns,
            preset->resource_types()[0].walltime_max_ns);
}

constexpr std::string_view kMixed = R"(
name = "mixed"
[[gpu_model]]
name = "A100"
memory = "80 GiB"
[[gpu_model]]
name = "H200"
[[nodes]]
name = "cpu{}"
count = 2
gpus = 0
cores = 64
rack = "r0"
zone = "old"
site = "tokyo"
[[nodes]]
name = "a{:02}"
start = 8
count = 5
gpus = 8
gpu_model = "A100"
islands = 2
nodes_per_rack = 2
zone = "old"
site = "tokyo"
[[nodes]]
name = "login-{{x}}"
gpus = 0
rack = "empty"
zone = "old"
site = "tokyo"
[[nodes]]
name = "h9-{}b"
count = 3
gpus = 4
gpu_model = "H200"
rack = "new"
zone = "new"
site = "osaka"
[[link]]
level = "site"
bandwidth = 1e9
latency = "3 ms"
locality_penalty = 1.25
)";

TEST(ClusterFile, MixedNodesSitesAndZones) {
  const Cluster cluster = parse_ok(kMixed);
  ASSERT_EQ(cluster.nodes().size(), 11u);
  EXPECT_EQ(cluster.nodes()[1].name, "cpu1");
  EXPECT_EQ(cluster.nodes()[2].name, "a08");
  EXPECT_EQ(cluster.nodes()[4].name, "a10");
  EXPECT_EQ(cluster.nodes()[7].name, "login-{x}");
  EXPECT_EQ(cluster.nodes()[10].name, "h9-2b");
  EXPECT_EQ(cluster.num_gpus(), 52u);
  std::vector<std::string> names;
  for (const TopologyLevel& level : cluster.levels()) names.push_back(level.name);
  EXPECT_EQ(names, (std::vector<std::string>{"island", "node", "rack", "zone", "site", "cluster"}));
  EXPECT_EQ(cluster.levels()[2].first_gpu, (std::vector<uint32_t>{0, 0, 16, 32, 40, 40, 52}));
  EXPECT_EQ(cluster.levels()[3].first_gpu, (std::vector<uint32_t>{0, 40, 52}));
  EXPECT_EQ(cluster.levels()[0].num_domains(), 13u);
  EXPECT_EQ(cluster.levels()[4].locality_penalty, 1.25);
  EXPECT_EQ(cluster.levels()[4].latency_s, 0.003);
}

TEST(ClusterFile, WhatIsWrittenReadsBackEqual) {
  std::vector<Cluster> clusters{parse_ok(kMixed)};
  for (const PresetInfo& preset : preset_names()) clusters.push_back(*make_preset(preset.name));
  clusters.push_back(*make_preset("3x8"));
  for (const Cluster& cluster : clusters) {
    SCOPED_TRACE(to_toml(cluster).substr(0, 3000));
    expect_equal(cluster, parse_ok(to_toml(cluster)));
  }
}

TEST(ClusterFile, UnevenRacksAreWrittenOneByOne) {
  ClusterBuilder builder("uneven");
  const uint32_t gpu = builder.add_gpu_model({.name = "g"});
  for (int i = 0; i < 9; ++i) {
    ClusterBuilder::Placed placed;
    placed.node.name = fmt::format("n{}", i + 7);
    placed.node.num_gpus = i == 6 ? 4 : 2;
    placed.node.gpu_model = gpu;
    placed.rack = i < 2 ? "a" : i < 5 ? "b" : "c";
    builder.add_node(std::move(placed));
  }
  const auto cluster = builder.build();
  ASSERT_TRUE(cluster);
  expect_equal(*cluster, parse_ok(to_toml(*cluster)));
}

TEST(ClusterFile, ManyNodesAreFast) {
  const Cluster cluster =
      parse_ok("[[nodes]]\ncount = 16384\nname = \"n{}\"\ngpus = 8\nnodes_per_rack = 32\n");
  EXPECT_EQ(cluster.num_gpus(), 131'072u);
  EXPECT_EQ(cluster.levels()[1].num_domains(), 512u);
  EXPECT_LT(to_toml(cluster).size(), 300u);
}

constexpr std::string_view kNodes = "[[nodes]]\ngpus = 4\ncores = 8\n";

std::string with(std::string_view more) { return std::string(kNodes) + std::string(more); }

TEST(ClusterFile, NodeProblems) {
  EXPECT_EQ(problem(""), "c.toml:1:1: nodes: is missing (give [[nodes]] with gpus = ...)");
  EXPECT_EQ(problem("nodes = []"),
            "c.toml:1:9: nodes: the cluster has no GPUs (give nodes with gpus = 1 or more)");
  EXPECT_EQ(problem("[[nodes]]\ngpus = 0"),
            "c.toml:1:1: nodes: the cluster has no GPUs (give nodes with gpus = 1 or more)");
  EXPECT_EQ(problem(with("memroy = 3")),
            "c.toml:4:1: nodes.memroy: unknown key (did you mean memory?)");
  EXPECT_EQ(problem("[[nodes]]\ngpus = \"4\""),
            "c.toml:2:8: nodes.gpus: must be an integer, not a string");
  EXPECT_EQ(problem("[[nodes]]\ngpus = -1"),
            "c.toml:2:8: nodes.gpus: -1 is out of range (0 to 255)");
  EXPECT_EQ(problem(with("count = 0")), "c.toml:4:9: nodes.count: 0 is out of range (1 to 131072)");
  EXPECT_EQ(problem(with("count = 1_000_000_000_000")),
            "c.toml:4:9: nodes.count: 1000000000000 is out of range (1 to 131072)");
  EXPECT_EQ(problem(with("count = 131072\n[[nodes]]\ncount = 1\ngpus = 1")),
            "c.toml:6:9: nodes.count: 131073 nodes with 524289 GPUs so far "
            "(at most 131072 nodes and 16777216 GPUs)");
  EXPECT_EQ(problem(with("name = \"n\"\ncount = 2")),
            "c.toml:4:8: nodes.name: \"n\" is not a valid name pattern for 2 nodes "
            "(mark the place of the number with {} or {:04})");
  for (const char* name : {"n{", "n}", "n{}{}", "n{:4}", "n{:0}", "n{:013}", "n{x}"}) {
    EXPECT_NE(problem(with(fmt::format("name = \"{}\"", name))).find("is not a valid name pattern"),
              std::string::npos)
        << name;
  }
  EXPECT_EQ(problem(with("name = \"a\"\n[[nodes]]\nname = \"a\"\ngpus = 1")),
            "c.toml:6:8: nodes.name: two nodes are named a "
            "(node names must be unique; see start)");
  EXPECT_EQ(problem(with("islands = 3")),
            "c.toml:4:11: nodes.islands: 3 islands for 4 GPUs "
            "(the number of GPUs must be a multiple of the number of islands)");
  EXPECT_EQ(problem(with("gpu_model = \"X\"")),
            "c.toml:4:13: nodes.gpu_model: no GPU model is named X (known: gpu)");
  EXPECT_EQ(problem("[[gpu_model]]\nname=\"a\"\n[[gpu_model]]\nname=\"b\"\n" + with("")),
            "c.toml:5:1: nodes.gpu_model: is missing (one of a, b)");
  EXPECT_EQ(problem("[[gpu_model]]\nname=\"a\"\n[[gpu_model]]\nname=\"a\"\n" + with("")),
            "c.toml:4:6: gpu_model.name: two GPU models are named a "
            "(names must be unique)");
}

TEST(ClusterFile, GroupProblems) {
  EXPECT_EQ(problem(with("rack = \"r\"\nnodes_per_rack = 1")),
            "c.toml:4:8: nodes.rack: cannot be combined with nodes_per_rack (remove one of them)");
  const auto two = [](std::string_view first, std::string_view second) {
    return problem(
        fmt::format("[[nodes]]\nname=\"a\"\ngpus=1\n{}\n[[nodes]]\nname=\"b\"\ngpus=1\n"
                    "{}\n[[nodes]]\nname=\"c\"\ngpus=1\n{}\n",
                    first, second, first));
  };
  EXPECT_EQ(two("rack=\"r\"", ""),
            "c.toml:5:1: nodes.rack: is given for some nodes only "
            "(give every group of nodes a rack, or none)");
  EXPECT_EQ(two("site=\"r\"", "site=\"s\""),
            "c.toml:12:6: nodes.site: the nodes of r are not contiguous "
            "(list the nodes of a group together; group names must be unique in the cluster)");
  EXPECT_EQ(two("rack=\"r\"\nzone=\"y\"", "rack=\"r\"\nzone=\"z\""),
            "c.toml:9:6: nodes.rack: r is in two groups of an outer level "
            "(racks nest in zones, zones in sites; group names must be unique in the cluster)");
}

TEST(ClusterFile, LinkProblems) {
  const auto link = [](std::string_view text) {
    return problem(with("[[link]]\n" + std::string(text)));
  };
  EXPECT_EQ(link("bandwidth = 1"), "c.toml:4:1: link.level: is missing (one of node, cluster)");
  EXPECT_EQ(link("level = \"rack\""),
            "c.toml:5:9: link.level: this cluster has no level rack (known: node, cluster)");
  EXPECT_EQ(link("level = \"node\"\nbandwidth = \"fast\""),
            "c.toml:6:13: link.bandwidth: \"fast\" is not a valid bandwidth "
            "(such as \"12.5 GB/s\", \"100 Gb/s\" or a number of bytes per second)");
  EXPECT_EQ(link("level = \"node\"\nlatency = -1"),
            "c.toml:6:11: link.latency: \"-1\" is negative "
            "(such as \"72h\", \"01:30:00\" or a number of seconds)");
  EXPECT_EQ(link("level = \"node\"\nlocality_penalty = 0.5"),
            "c.toml:6:20: link.locality_penalty: 0.5 is out of range (1 to 1000)");
  EXPECT_EQ(
      link("level = \"node\"\nbandwidth = 1\nuplink_ratio = \"3/1\""),
      "c.toml:7:16: link.uplink_ratio: \"3/1\" is not a ratio in (0, 1] (such as \"1/3\" or 0.5)");
  EXPECT_EQ(link("level = \"node\"\nuplink_ratio = 0.5"),
            "c.toml:6:16: link.uplink_ratio: requires bandwidth (add bandwidth to this link)");
  EXPECT_EQ(link("level = \"cluster\"\nbandwidth = 1\nuplink_ratio = 0.5"),
            "c.toml:7:16: link.uplink_ratio: the cluster has no outer level (remove it)");
  EXPECT_EQ(link("level = \"node\"\nbandwidth = 2\nuplink_ratio = 0.5\n[[link]]\n"
                 "level = \"cluster\"\nbandwidth = 1"),
            "c.toml:4:1: link: the bandwidth of cluster is given twice "
            "(as bandwidth and by the uplink_ratio of node; remove one)");
  EXPECT_EQ(link("level = \"node\"\n[[link]]\nlevel = \"node\""),
            "c.toml:7:9: link.level: duplicate link for level node (merge them)");
}

TEST(ClusterFile, ResourceTypeProblems) {
  const auto type = [](std::string_view text) {
    return problem(with("[[resource_type]]\nname = \"T\"\n" + std::string(text)));
  };
  EXPECT_EQ(type("gpus = 1\ncores = 2\nwalltime_max = \"2h\"\nwalltime_default = \"1h\""), "");
  EXPECT_EQ(type("gpus = 5"),
            "c.toml:5:8: resource_type.name: T fits on no node "
            "(reduce its gpus, cores, memory or ssd, or give those of the nodes)");
  EXPECT_EQ(type("gpus = 1\nmemory = \"1 GiB\""),
            "c.toml:5:8: resource_type.name: T fits on no node "
            "(reduce its gpus, cores, memory or ssd, or give those of the nodes)");
  EXPECT_EQ(type(""),
            "c.toml:5:8: resource_type.name: T requests no resources "
            "(give gpus, cores, memory or ssd)");
  EXPECT_EQ(type("gpus = 1\nmax_instances = 0"),
            "c.toml:7:17: resource_type.max_instances: 0 is out of range (1 to 131072)");
  EXPECT_EQ(type("gpus = 1\nwalltime_max = 0"),
            "c.toml:7:16: resource_type.walltime_max: is zero (omit it for no limit)");
  EXPECT_EQ(type("gpus = 1\nwalltime_max = \"1h\"\nwalltime_default = \"2h\""),
            "c.toml:8:20: resource_type.walltime_default: is above walltime_max (lower it)");
  EXPECT_NE(type("gpus = 1\ngpu_model = \"none\"")
                .find("resource_type.gpu_model: no GPU model is named none"),
            std::string::npos);
  EXPECT_EQ(type("gpus = 1\n[[resource_type]]\nname = \"T\"\ngpus = 1"),
            "c.toml:8:8: resource_type.name: two resource types are named T "
            "(names must be unique)");
}

}  // namespace
}  // namespace goban::core::model
