#!/usr/bin/env bash
# Tries the wheel, the tarball, the .rpm and the image of a release in bare roots of other systems: portable_roots.sh FOLDER [SUITE...]
# As root. In each suite of Debian (default: bullseye bookworm trixie), as a plain user: pip installs the wheel into an empty virtual
# environment without a network, the tarball is unpacked, and a report, a comparison and a job run with each. rpm installs,
# upgrades and removes the .rpm. Then the image is unpacked with umoci and run. Needs mmdebstrap and umoci; $GOBAN_MIRROR names
# another source of packages.
set -euo pipefail
folder=$(realpath "$1")
shift
suites=("$@")
[[ $# -gt 0 ]] || suites=(bullseye bookworm trixie)
root=$(mktemp -d /tmp/goban-roots.XXXXXX)
clean() {
  for place in "$root"/*/{dev,proc} "$root"/image/rootfs/{dev,proc}; do ! mountpoint -q "$place" || umount "$place"; done
  rm -rf --one-file-system "$root"
}
trap clean EXIT

# A first evening with the goban in PATH: an operator's report and comparison, a student's job.
cat >"$root/evening.sh" <<'EVENING'
set -eu
cd "$(mktemp -d)"
goban --version
goban trace generate --like poisson --cluster 4x4 --jobs 200 --load 0.9 --out jobs.csv >/dev/null 2>&1
goban simulate --cluster 4x4 --jobs jobs.csv --policy fifo+packed,goban --html comparison.html >/dev/null
goban analyze jobs.csv --cluster 4x4 --out report >/dev/null 2>&1 && test -s report/report.html
goban serve --state state --virtual-gpus 2 >serve.log 2>&1 & daemon=$!
for _ in $(seq 200); do goban stats --server state/goban.sock >/dev/null 2>&1 && break; sleep 0.1; done
job=$(goban submit --server state/goban.sock --parsable --wrap 'echo hello from a job')
goban wait --server state/goban.sock "$job" >/dev/null
goban logs --server state/goban.sock "$job" | grep -q 'hello from a job'
kill $daemon; wait $daemon || true
EVENING

enter() { # ROOT command...: as a plain user
  local where=$1
  shift
  env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin LANG=C.UTF-8 HOME=/tmp chroot "$where" setpriv --reuid 1000 --regid 1000 --clear-groups "$@"
}
mount_in() { mkdir -p "$1/dev" "$1/proc" && mount --bind /dev "$1/dev" && mount -t proc proc "$1/proc"; }

for suite in "${suites[@]}"; do
  echo "== $suite"
  mmdebstrap --quiet --variant=apt --include=python3-venv,python3-pip,xz-utils,rpm "$suite" "$root/$suite" \
    ${GOBAN_MIRROR:+"$GOBAN_MIRROR"} >"$root/log" 2>&1 || { tail -20 "$root/log"; exit 1; }
  mount_in "$root/$suite"
  cp "$folder"/goban_cluster-*.whl "$folder"/goban-*-linux-*.tar.xz "$folder"/goban-*.rpm "$root/evening.sh" "$root/$suite/opt/"
  enter "$root/$suite" sh -euc 'python3 -m venv /tmp/venv; /tmp/venv/bin/pip -q install --no-index /opt/goban_cluster-*.whl
    PATH=/tmp/venv/bin:$PATH sh /opt/evening.sh; /tmp/venv/bin/pip -q uninstall -y goban-cluster
    test -z "$(find /tmp/venv -path "*goban*" -type f)"'
  echo "   wheel: ok"
  enter "$root/$suite" sh -euc 'tar -xJf /opt/goban-*-linux-*.tar.xz -C /tmp; PATH=$(echo /tmp/goban-*/bin):$PATH sh /opt/evening.sh'
  echo "   tarball: ok"
  # As the administrator. Its database knows nothing of Debian's glibc, so --nodeps; the program itself says what it lacks.
  # --noplugins: one of rpm 4.20 makes mounts that a chroot refuses.
  force=() # Debian's rpm asked for it until version 4.18
  enter "$root/$suite" rpm --force-debian --version >/dev/null 2>&1 && force=(--force-debian)
  manage() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$root/$suite" rpm "${force[@]}" --nodeps --noplugins "$@"; }
  package=/opt/$(basename "$folder"/goban-*.rpm)
  manage -i "$package"
  enter "$root/$suite" sh -euc 'test "$(command -v goban)" = /usr/bin/goban; sh /opt/evening.sh'
  echo '# a change of the administrator' >>"$root/$suite/etc/goban.toml"
  manage -U --replacepkgs "$package"
  grep -q 'a change of the administrator' "$root/$suite/etc/goban.toml"
  manage -e goban
  [[ ! -e $root/$suite/usr/bin/goban && ! -e $root/$suite/usr/share/goban && -e $root/$suite/etc/goban.toml.rpmsave ]]
  echo "   rpm: ok"
  umount "$root/$suite/dev" "$root/$suite/proc"
  rm -rf --one-file-system "${root:?}/$suite"
done

image=$(ls "$folder"/goban-*-oci.tar 2>/dev/null || true)
if [[ -n $image ]]; then
  echo "== image"
  mkdir "$root/layout"
  tar -xf "$image" -C "$root/layout"
  tag=$(umoci ls --layout "$root/layout")
  umoci unpack --image "$root/layout:$tag" "$root/image" >/dev/null
  mount_in "$root/image/rootfs"
  cp "$root/evening.sh" "$root/image/rootfs/opt/"
  enter "$root/image/rootfs" sh /opt/evening.sh
  echo "   ok"
fi
echo "portable_roots: ok (${suites[*]}, $SECONDS s)"
