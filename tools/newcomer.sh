#!/usr/bin/env bash
# The first evening of two new users, from the Debian packages, in a bare root: newcomer.sh FOLDER-OF-PACKAGES [SUITE]
# As root. An operator makes a report and a comparison, the owner of a GPU box runs jobs as a plain user; then the package is
# upgraded, removed and purged. Needs mmdebstrap and Debian's packages; $GOBAN_MIRROR names another source of them.
set -euo pipefail
packages=$(realpath "$1")
suite=${2:-bookworm}
root=$(mktemp -d /tmp/goban-newcomer.XXXXXX)
trap 'umount "$root/proc" "$root/dev" 2>/dev/null || true; rm -rf --one-file-system "$root" "$root.log"' EXIT
check() { "$@" || { echo "newcomer: failed: $*" >&2; exit 1; }; }
# evening WHO START: a first evening that takes five minutes is too long.
evening() { echo "   $((SECONDS - $2)) s"; check test $((SECONDS - $2)) -lt 300 -a -n "$1"; }
within() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 HOME=/root chroot "$root" "$@"; }
as_user() { within setpriv --reuid 1000 --regid 1000 --clear-groups env HOME=/home/anna sh -euc "cd; $1"; }

echo "== a bare $suite, and the package"
# In a hook, since only then the root has lists and sources of packages.
deb=$(ls "$packages"/goban_*.deb)
mmdebstrap --quiet --variant=apt --include=python3,man-db "$suite" "$root" ${GOBAN_MIRROR:+"$GOBAN_MIRROR"} \
  --customize-hook="copy-in $deb /tmp" \
  --customize-hook='DEBIAN_FRONTEND=noninteractive chroot "$1" apt-get -q install -y --no-install-recommends /tmp/'"$(basename "$deb")" \
  >"$root.log" 2>&1 || { tail -20 "$root.log"; exit 1; }
mount --bind /dev "$root/dev"
mount -t proc proc "$root/proc"
cp "$deb" "$root/tmp/"
within useradd -m -u 1000 anna
check within goban --version
within sh -c 'man -w goban-submit' >/dev/null || echo "   (man pages are excluded in this root)"
check grep -q '^ExecStart=/usr/bin/goban serve' "$root/lib/systemd/system/goban.service"

echo "== an operator's first evening"
start=$SECONDS
as_user 'goban | grep -q analyze
  goban trace generate --like abci-2019 --with-gpu-series week --days 7 --jobs 70000 --nodes 32 2>/dev/null
  goban analyze week/jobs.csv --gpu week/series --cluster 32x4 --out report >/dev/null
  goban simulate --cluster 32x4 --jobs week/jobs.csv --policy slurm-multifactor,goban --html comparison.html >/dev/null
  test -s report/report.html && test -s comparison.html
  goban history import week/jobs.csv --store jobs.db >/dev/null && goban history status --store jobs.db --json >/dev/null'
evening operator "$start"

echo "== a student's first evening on a GPU box"
start=$SECONDS
as_user 'goban serve --virtual-gpus 4 >serve.log 2>&1 & daemon=$!
  for _ in $(seq 100); do goban stats >/dev/null 2>&1 && break; sleep 0.1; done
  printf "#!/bin/sh\n#SBATCH --gres=gpu:2\n#SBATCH --time=10\necho hello from \$GOBAN_JOB_ID\n" >train.sh
  job=$(goban submit --parsable train.sh)
  goban wait "$job"
  goban logs "$job" | grep -q "hello from $job"
  goban shims slurm >/dev/null; PATH=$PWD/slurm:$PATH
  sbatch --wait train.sh | grep -q "Submitted batch job"
  squeue --me >/dev/null; sinfo >/dev/null; sacct -n >/dev/null
  goban eff "$job" >/dev/null; goban queue --me --all >/dev/null
  kill $daemon; wait $daemon || true'
evening student "$start"

echo "== upgrade, removal, purge"
echo '# a change of the administrator' >>"$root/etc/goban.toml"
mkdir -p "$root/var/lib/goban"
# The next version: the same package under another number.
dpkg-deb --raw-extract "$deb" "$root/tmp/next"
sed -i 's/^Version: .*/Version: 999/' "$root/tmp/next/DEBIAN/control"
dpkg-deb --root-owner-group --build "$root/tmp/next" "$root/tmp/next.deb" >/dev/null
check within dpkg --install --force-confold /tmp/next.deb >/dev/null
check test "$(within dpkg-query -W -f '${Version}' goban)" = 999
check grep -q 'a change of the administrator' "$root/etc/goban.toml"
check within dpkg --remove goban >/dev/null
check test ! -e "$root/usr/bin/goban"
check test -e "$root/etc/goban.toml" -a -e "$root/var/lib/goban"
check within dpkg --purge goban >/dev/null
check test ! -e "$root/etc/goban.toml" -a ! -e "$root/var/lib/goban"
left=$(find "$root" -mindepth 1 -xdev -name '*goban*' -not -path "$root/proc/*" -not -path "$root/tmp/*" -not -path "$root/home/*" \
  -not -path "$root/var/lib/apt/*")
check test -z "$left"
echo "newcomer: ok ($suite, $SECONDS s)"
