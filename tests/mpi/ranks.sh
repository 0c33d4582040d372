# Sourced by the tests of goban-train under mpirun: reads their first two arguments, creates a temporary
# folder, and sets options for ranks that share this machine's cores, also as root.
set -u
train=$1 mpirun=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
