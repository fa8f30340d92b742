#!/usr/bin/env bash
# Runs steps of a kit in an empty root: chroot.sh KIT ARGUMENT-OF-run.sh…. In it are glibc, /proc, /dev, bash and the tools that the steps call:
# no compiler, no nvcc, no Python, no other library. Exit status 125: chroot or mounts are not permitted here.
set -eu
kit=$(realpath "$1"); shift
root=$(mktemp -d); trap 'rm -rf "$root"' EXIT
mkdir -p "$root"/{bin,lib64,proc,dev,tmp,kit,usr}; ln -s ../bin "$root/usr/bin"
tools='bash sh env cat cp rm mkdir mktemp head tail grep sed awk sort uniq cmp diff cut tr timeout nproc uname date wc realpath dirname basename ls seq getconf sleep tee touch mv chmod ln od paste printf expr find'
for t in $tools; do
    path=$(command -v "$t") || continue
    [ ! -f "$path" ] || echo "$path"
done | xargs cp -Lt "$root/bin"
# What those need, glibc's parts that the kit's programs need, and the loader.
{ ldd "$root"/bin/* 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $3 }'
  for l in libc.so.6 libm.so.6 libdl.so.2 librt.so.1 libpthread.so.0; do ldconfig -p | awk -v l=$l '$1 == l && /x86-64/ { print $NF; exit }'; done
} | sort -u | { mkdir "$root/lib"; xargs cp -Lt "$root/lib"; }
cp -L /lib64/ld-linux-x86-64.so.2 "$root/lib64/"
inside=$(mktemp); trap 'rm -rf "$root" "$inside"' EXIT
cat >"$inside" <<'X'
root=$1 kit=$2; shift 2
mount --rbind /proc "$root/proc" && mount --rbind /dev "$root/dev" && mount --bind "$kit" "$root/kit" || exit 125
exec chroot "$root" /bin/env -i PATH=/bin HOME=/ CUDA_VISIBLE_DEVICES="${CUDA_VISIBLE_DEVICES-0}" ${BUDGET_S:+BUDGET_S="$BUDGET_S"} ${POLICIES:+POLICIES="$POLICIES"} /bin/bash /kit/run.sh "$@"
X
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then how=(unshare -m)
elif unshare -Urm true 2>/dev/null; then how=(unshare -Urm)
else echo 'chroot.sh: no new mounts are permitted here' >&2; exit 125; fi
rc=0; "${how[@]}" bash "$inside" "$root" "$kit" "$@" || rc=$?
exit $rc
