# The architecture: the layers under src/, and the modules inside each layer.
#
#   goban_layer(<layer> <lower layers that it may use>...)
#   goban_module(<folder under src/> <other modules of its layer that it may use>...)
#
# Both lists name what stands above them. A module may use every module of the layers that its layer
# may use. A module named like its layer holds the files that lie directly in the layer's folder.
# Folder, library and namespace bear one name: src/core/model is goban_core_model and
# goban::core::model. tools/check_includes.py refuses an include that this table does not permit, and
# a permission that no include needs.
set(GOBAN_LAYERS "")
set(GOBAN_MODULES "")
macro(goban_layer layer)
  list(APPEND GOBAN_LAYERS ${layer})
  set(GOBAN_LAYER_USES_${layer} ${ARGN})
endmacro()
macro(goban_module module)
  list(APPEND GOBAN_MODULES ${module})
  set(GOBAN_MODULE_USES_${module} ${ARGN})
endmacro()

# Text, time, files, results: what every program needs.
goban_layer(base)
goban_module(base)
goban_module(base/statistics base)
goban_module(base/reports base)
goban_module(base/gpus base)
goban_module(base/topology base base/gpus)
goban_module(base/command_line base)
goban_module(base/http base)

# The decision core. Pure: no I/O, clock or thread.
goban_layer(core base)
goban_module(core/model)
goban_module(core/knowledge core/model)
goban_module(core/policy core/model core/knowledge)
goban_module(core/staging)
goban_module(core/scheduler core/model core/policy)
goban_module(core/pilot)

# What happened on a site, and its report.
goban_layer(site base core)
goban_module(site/inputs)
goban_module(site/records)
goban_module(site/store site/records)
goban_module(site/series)
goban_module(site/telemetry site/series)
goban_module(site/analysis site/records site/series)
goban_module(site/page)
goban_module(site site/inputs site/records site/store site/series site/telemetry site/analysis site/page)

# What would have happened: histories, the simulator, its results, and questions to it.
goban_layer(study base core site)
goban_module(study/history)
goban_module(study/simulator)
goban_module(study/lab study/history study/simulator)
goban_module(study/rivals)
goban_module(study/results study/history study/simulator)
goban_module(study study/history study/simulator study/lab study/results)

# The live scheduler of a cluster, and the engines that carry out what it decides.
goban_layer(live base core)
goban_module(live/job)
goban_module(live live/job)
goban_module(live/controller live live/job)
goban_module(live/journal)
goban_module(live/loop live/controller live/journal)
goban_module(live/machine)
goban_module(live/terminal)
goban_module(live/engine/local live live/job live/journal live/machine live/terminal)
goban_module(live/staging live live/job live/engine/local)
goban_module(live/engine/cluster live)
goban_module(live/engine/slurm live live/job live/engine/cluster)
goban_module(live/engine/kubernetes live live/job live/engine/cluster)
goban_module(live/engine live live/engine/local live/engine/slurm live/engine/kubernetes)

# The daemon: its HTTP interface, its life, and the agent that reports to it from nodes.
goban_layer(serve base core site study live)
goban_module(serve/stores)
goban_module(serve/api serve/stores)
goban_module(serve/daemon serve/stores serve/api)
goban_module(serve/agent serve/api)

# The command goban. One module; its folders are groups of commands.
goban_layer(cli base core site study live serve)
goban_module(cli)

# The training runtime, apart from the cluster's layers (cmake/train.cmake builds it).
goban_layer(train base)
goban_module(train/comm)
goban_module(train/mesh train/comm)
goban_module(train/data)
goban_module(train/trainer train/comm train/mesh train/data)
