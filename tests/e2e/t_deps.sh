# `make deps`, which `make check` begins with: it calls neither apt-get nor sudo when nothing is missing, and else says first what it installs.
# `make gpu-check` only says what is missing, as it must run where there is no network. The commands here are stand-ins that write down that they were called; nothing is installed.
if [ ! -d "$DF_SOURCE/compiler" ]; then skip deps 'not a source tree'; exit 0; fi
stand_in() { # NAME COMMANDS
    printf '#!/bin/sh\n%s\n' "$2" >"bin/$1"; chmod +x "bin/$1"
}
mkdir bin; export CALLS=$PWD/calls
stand_in dpkg-query 'shift 2; for p; do [ "$p" = "$LACKS" ] || printf "install ok installed=%s " "$p"; done'
stand_in apt-get 'echo "apt-get $*" >>"$CALLS"; echo "apt-get $1"'
stand_in sudo 'echo "sudo $*" >>"$CALLS"; exit 1'
stand_in id 'echo "$USER_ID"'
deps() { # USER_ID LACKS
    : >calls; USER_ID=$1 LACKS=$2 PATH=$PWD/bin:$PATH MAKEFLAGS='' make --no-print-directory -C "$DF_SOURCE" deps CUDA=0 >said 2>&1
}
deps 1000 ''; rc=$?
if [ $rc = 0 ] && [ ! -s said ] && [ ! -s calls ]; then pass nothing-missing; else fail nothing-missing "$rc: $(cat said calls)"; fi
deps 0 libpng-dev; rc=$?
printf '%s\n' 'deps: apt-get installs what is missing: libpng-dev' 'apt-get update' >want
if [ $rc = 0 ] && cmp -s said want; then pass says-first; else fail says-first "$rc: $(cat said)"; fi
printf '%s\n' 'apt-get update -qq' 'apt-get install -y -qq --no-install-recommends libpng-dev' >want; same installs-that-alone calls want
deps 1000 flex; rc=$?
if [ $rc = 2 ] && grep -q '^    sudo apt-get install -y flex$' said && [ "$(cat calls)" = 'sudo -n true' ]; then pass says-what-to-type; else
    fail says-what-to-type "$rc: $(cat said calls)"; fi
# What is optional is installed where that takes no question, and is missed by nobody.
deps 0 oclgrind; rc=$?
printf '%s\n' 'apt-get update -qq' 'apt-get install -y -qq --no-install-recommends oclgrind' >want
if [ $rc = 0 ] && cmp -s calls want && grep -q '^deps: apt-get installs what is optional: oclgrind$' said; then pass optional; else fail optional "$rc: $(cat said calls)"; fi
deps 1000 oclgrind; rc=$?
if [ $rc = 0 ] && [ "$(cat calls)" = 'sudo -n true' ] && grep -q '^deps: the tests of OpenCL are skipped without oclgrind$' said; then pass optional-missing; else
    fail optional-missing "$rc: $(cat said calls)"; fi
# What gpu-check asks first, with a package missing and with none.
told() { # LACKS
    : >calls; USER_ID=0 LACKS=$1 PATH=$PWD/bin:$PATH MAKEFLAGS='' make --no-print-directory -C "$DF_SOURCE" deps-told CUDA=0 >said 2>&1
}
told flex; rc=$?
if [ $rc = 0 ] && [ ! -s calls ] && grep -q ': make deps installs flex$' said; then pass told-only; else fail told-only "$rc: $(cat said calls)"; fi
told ''; rc=$?
if [ $rc = 0 ] && [ ! -s calls ] && [ ! -s said ]; then pass told-nothing; else fail told-nothing "$rc: $(cat said calls)"; fi
# The rules that gpu-check would run are those, and none that installs.
PATH=$PWD/bin:$PATH LACKS=flex MAKEFLAGS='' make --no-print-directory -C "$DF_SOURCE" -n gpu-check CUDA=0 BUILDDIR="$PWD/none" >said 2>&1
if grep -q 'gpu_check.sh' said && ! grep -q 'apt-get' said; then pass gpu-check-installs-nothing; else fail gpu-check-installs-nothing "$(grep -c apt-get said) lines"; fi
# examples/peers.sh: what the applications are compared with is installed with PEERS=1 alone.
peers() { # PEERS USER_ID LACKS PACKAGE…
    : >calls; PEERS=$1 USER_ID=$2 LACKS=$3 PATH=$PWD/bin:$PATH bash -c '. "$0/examples/peers.sh"; peers "$@"' "$DF_SOURCE" "${@:4}" >said 2>&1
}
for asked in '' 0; do
    peers "$asked" 0 libone libone; rc=$?
    if [ $rc = 0 ] && [ ! -s calls ] && [ ! -s said ]; then pass "peers-unasked$asked"; else fail "peers-unasked$asked" "$rc: $(cat said calls)"; fi
done
peers 1 0 '' libone libtwo; rc=$?
if [ $rc = 0 ] && [ ! -s calls ] && [ ! -s said ]; then pass peers-there; else fail peers-there "$rc: $(cat said calls)"; fi
peers 1 0 libtwo libone libtwo; rc=$?
printf '%s\n' 'apt-get update -qq' 'apt-get install -y -qq --no-install-recommends libtwo' >want
if [ $rc = 0 ] && cmp -s calls want && [ ! -s said ]; then pass peers-missing; else fail peers-missing "$rc: $(cat said calls)"; fi
peers 1 1000 libtwo libone libtwo; rc=$?
if [ $rc = 0 ] && [ "$(cat calls)" = 'sudo -n apt-get update -qq' ] && grep -q 'Type this, then run again: sudo apt-get install -y libtwo$' said; then pass peers-told; else
    fail peers-told "$rc: $(cat said calls)"; fi
