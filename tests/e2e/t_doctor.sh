# dfc doctor: what it finds here, what it says of what is missing, and its exit status.
unset NVCC

# A controller of Slurm that does not answer: doctor waits for it a few seconds only. The rest goes on meanwhile.
mkdir silent; printf '#!/bin/sh\nexec sleep 60\n' >silent/sinfo; printf '#!/bin/sh\necho slurm 1.2\n' >silent/sbatch; chmod +x silent/*
PATH="$PWD/silent:$PATH" timeout 150 "$DFC" doctor --quick >silent.out 2>&1 & silent=$!

saved() { # FILE COMMAND…: what it prints is kept, too
    local status; "${@:2}" >"$1" 2>&1; status=$?
    cat "$1"; return $status
}
expect tried 0 '^  ok +trial +a graph was compiled, ran, and its result is right$' saved tried.out "$DFC" doctor
expect counted 0 '^[0-9]+ ok, [0-9]+ absent, 0 broken$' cat tried.out
expect cores 0 "^  ok +cores +$(nproc) for this process" cat tried.out
expect compiler 0 '^  ok +C compiler ' cat tried.out
expect database 0 "no database yet|$DFC_PROFILE" cat tried.out

# Without compilers and tools: an error with the line to type, and exit status 1.
mkdir nothing
expect no-compiler 1 '^  BROKEN +C compiler +cc: not found, or it fails$' saved no-compiler.out env -u CC -u CXX PATH="$PWD/nothing" "$DFC" doctor
expect no-graph 0 '^ +no graph can be compiled$' cat no-compiler.out
expect no-gcc 0 'sudo apt-get install -y gcc' cat no-compiler.out
expect no-mpi 0 '^  absent mpirun +not in PATH$' cat no-compiler.out
expect untried 0 '^0$' sh -c 'grep -c trial no-compiler.out || true'
expect bad-compiler 1 '^  BROKEN +C compiler +false: not found, or it fails$' env CC=false "$DFC" doctor
expect no-folder 1 "^  BROKEN +temporary files +/nonexistent: cannot be written to$" env TMPDIR=/nonexistent "$DFC" doctor --quick
expect trial-folder 1 "^  BROKEN +trial +a folder for the trial, '/nonexistent/dfc-.*: No such file" env TMPDIR=/nonexistent "$DFC" doctor
echo 'this is no database' >bad.db
expect bad-database 1 '^  BROKEN +profiles +.*bad.db' env DFC_PROFILE="$PWD/bad.db" "$DFC" doctor --quick

# Tools that say other things than those of this machine.
mkdir tools
tool() { printf '#!/bin/sh\n%s\n' "$2" >"tools/$1"; chmod +x "tools/$1"; }
tool mpirun 'echo "mpirun (Open MPI) 5.0.3"'
tool ompi_info 'echo "mpi_built_with_cuda_support:value:true"; echo "option:ft_enable_mpi:value:true"'
tool sbatch 'echo slurm 22.05.8'
tool sinfo 'echo "long* 4 nodes, 1-00:00:00"'
tool nvcc 'echo "Cuda compilation tools, release 99.1, V99.1.1"'
expect ulfm 0 '^  ok +MPI after a death +mpirun --with-ft ulfm' saved ulfm.out env PATH="$PWD/tools:$PATH" "$DFC" doctor --quick
expect pointers 0 '^  ok +device pointers +this MPI takes them$' cat ulfm.out
expect slurm 0 '^  ok +Slurm +slurm 22.05.8; long\* 4 nodes, 1-00:00:00$' cat ulfm.out
expect toolkit 0 'tools/nvcc: release 99.1, V99.1.1$' cat ulfm.out
tool ompi_info 'true'
tool sinfo 'exit 1'
expect no-ulfm 0 '^  absent MPI after a death +this Open MPI was built without ULFM$' saved no-ulfm.out env PATH="$PWD/tools:$PATH" "$DFC" doctor --quick
expect no-controller 0 'sinfo reaches no controller' cat no-ulfm.out
tool mpirun 'echo "HYDRA build details: 4.0.2"'
expect other-mpi 0 '^  absent MPI after a death +not known for this MPI$' env PATH="$PWD/tools:$PATH" "$DFC" doctor --quick
expect recovery 0 'mpirun --enable-recovery goes on' sh -c 'echo "echo \"mpirun (Open MPI) 4.1.4\"" >tools/mpirun; sed -i "1i#!/bin/sh" tools/mpirun; PATH="$PWD/tools:$PATH" "$1" doctor --quick' sh "$DFC"

# A plug-in of hwloc that takes over a signal.
expect signals 0 '^  ok +signals +hwloc and its plug-ins leave SIGUSR1, SIGTERM and SIGINT alone$' cat tried.out
cat >thief.c <<'END'
#include <hwloc.h>
#include <hwloc/plugins.h>
#include <signal.h>
static void ignore(int number) { (void)number; }
static int begin(unsigned long flags) { signal(SIGUSR1, ignore); return flags ? -1 : 0; }
static struct hwloc_backend *make(struct hwloc_topology *t, struct hwloc_disc_component *c, unsigned e, const void *a, const void *b, const void *d)
{ (void)t, (void)c, (void)e, (void)a, (void)b, (void)d; return NULL; }
static struct hwloc_disc_component thief = { .name = "thief", .phases = HWLOC_DISC_PHASE_MISC, .instantiate = make, .priority = 10, .enabled_by_default = 1 };
const struct hwloc_component hwloc_thief_component = { HWLOC_COMPONENT_ABI, begin, NULL, HWLOC_COMPONENT_TYPE_DISC, 0, &thief };
END
mkdir plugins
check thief-compiles ${CC:-cc} -shared -fPIC thief.c -o plugins/hwloc_thief.so
expect thief 0 '^  absent signals +a plug-in of hwloc takes over SIGUSR1$' saved thief.out env HWLOC_PLUGINS_PATH="$PWD/plugins" "$DFC" doctor --quick
expect thief-means 0 '^ +a run with --journal may not end in order by such a signal: what reads the machine takes it over$' cat thief.out

# What carries messages between hosts.
expect carrier-tcp 0 '^  ok +messages +between hosts over TCP connections of the program.s own, on one host over MPI only if DF_LINK is unset$' env DF_LINK=tcp PATH="$PWD/tools:$PATH" "$DFC" doctor --quick
expect carrier-mpi 0 '^  (absent messages +over MPI, as DF_LINK says, without a fast network; btl_tcp_flags=57|ok +messages +over MPI; fast network: .*)$' \
    env DF_LINK=mpi PATH="$PWD/tools:$PATH" "$DFC" doctor --quick
expect carrier-wrong 1 '^  BROKEN +messages +DF_LINK=udp$' env DF_LINK=udp PATH="$PWD/tools:$PATH" "$DFC" doctor --quick

# A driver that is older than the toolkit, and one that does not answer: a stand-in for NVIDIA's library.
cat >driver.c <<'END'
#include <stddef.h>
#include <stdio.h>
int cuInit(unsigned flags) { (void)flags; return INIT; }
int cuDriverGetVersion(int *v) { *v = VERSION; return 0; }
int cuDeviceGetCount(int *n) { *n = 1; return 0; }
int cuDeviceGetName(char *name, int n, int d) { (void)d; snprintf(name, (size_t)n, "Stand-in"); return 0; }
int cuDeviceTotalMem_v2(size_t *bytes, int d) { (void)d; *bytes = (size_t)6 << 30; return 0; }
int cuDeviceGetAttribute(int *v, int a, int d) { (void)d; *v = a == 75 ? 9 : 0; return 0; }
END
driver() { mkdir -p "$1" && ${CC:-cc} -shared -fPIC -DINIT="$2" -DVERSION="$3" driver.c -o "$1/libcuda.so.1"; }
if [ -z "${DF_SANITIZER:-}" ]; then
    check stand-in driver gpu 0 12020
    expect gpu 1 '^  ok +GPU +0: Stand-in, 6\.00 GiB, compute capability 9\.0$' saved gpu.out env LD_LIBRARY_PATH="$PWD/gpu" PATH="$PWD/tools:$PATH" "$DFC" doctor --quick
    expect older 0 '^  BROKEN +driver for nvcc +toolkit 99\.x, and the driver supports CUDA 12\.2$' cat gpu.out
    check stand-in-mute driver mute 3 12020
    expect mute 1 '^  BROKEN GPU driver +libcuda.so.1 is there, and cuInit\(\) fails with 3$' env LD_LIBRARY_PATH="$PWD/mute" "$DFC" doctor --quick
    check stand-in-none driver none 100 98000
    expect none 0 '^  absent GPU +the driver shows none$' env LD_LIBRARY_PATH="$PWD/none" "$DFC" doctor --quick
fi

# OpenCL: what the driver here has, no library, and a library that is older.
if ! "$DFC" doctor --quick | grep -q 'without OpenCL'; then
    if have_opencl opencl; then
        expect opencl 0 '^  ok +OpenCL +0: [^,]*, [0-9.]+ [GM]iB for a run; driver .* of .*; f32 with(out)? the CPU.s bits; (no )?f64$' env PATH="$PWD/tools:$PATH" "$DFC" doctor --quick
    fi
    mkdir noocl empty; echo >empty/none.c; ${CC:-cc} -shared -fPIC empty/none.c -o empty/libOpenCL.so.1
    expect opencl-old 0 '^  absent OpenCL +libOpenCL.so.1 lacks clGetPlatformIDs: it is older than OpenCL 1.2$' env LD_LIBRARY_PATH="$PWD/empty" PATH="$PWD/tools:$PATH" "$DFC" doctor --quick
    expect opencl-no-driver 0 '^  absent OpenCL +libOpenCL finds no driver that works by OCL_ICD_VENDORS, which is set$' env OCL_ICD_VENDORS="$PWD/noocl" PATH="$PWD/tools:$PATH" "$DFC" doctor --quick
fi

check json "$DFC" doctor --quick --format=json -o d.json
check json-good python3 -c "
import json
d = json.load(open('d.json'))
assert d['dfc'] and all(f['health'] in ('ok', 'absent', 'broken') and f['found'] and f['what'] for f in d['findings'])
assert all((f['means'], f['remedy']) == (None, None) for f in d['findings'] if f['health'] == 'ok')
assert {'system', 'cores', 'C compiler', 'mpirun', 'profiles'} <= {f['what'] for f in d['findings']}"
expect wrong-argument 2 "doctor: 'x.df' is one argument too many" "$DFC" doctor x.df
expect wrong-option 2 "quikc.*did you mean" "$DFC" doctor --quikc
expect wrong-form 2 '--format=csv: one of text, json is expected' "$DFC" doctor --format=csv
expect wrong-place 1 'nonexistent/x' "$DFC" doctor --quick -o /nonexistent/x
wait $silent
expect silent-controller 0 'sinfo reaches no controller within 5 s' cat silent.out

# A CPU quota, in a control group made here: v1's controller, or v2 if it is delegated. Only root may do so as a rule.
group=
for place in /sys/fs/cgroup/cpu /sys/fs/cgroup/cpu,cpuacct /sys/fs/cgroup; do
    # A test that was killed left its own behind.
    for old in "$place"/dfc-test-*; do [ -d "$old" ] && ! kill -0 "${old##*-}" 2>/dev/null && rmdir "$old" 2>/dev/null; done
    [ -w "$place" ] && mkdir "$place/dfc-test-$$" 2>/dev/null || continue
    if [ -e "$place/dfc-test-$$/cpu.cfs_quota_us" ]; then echo 100000 >"$place/dfc-test-$$/cpu.cfs_period_us"; echo 100000 >"$place/dfc-test-$$/cpu.cfs_quota_us"
    elif [ -e "$place/dfc-test-$$/cpu.max" ]; then echo '100000 100000' >"$place/dfc-test-$$/cpu.max"
    else rmdir "$place/dfc-test-$$"; continue; fi 2>/dev/null && group=$place/dfc-test-$$ && break
    rmdir "$place/dfc-test-$$"
done
in_group() { (echo "$BASHPID" >"$group/cgroup.procs" && exec "$@"); }
if [ -z "$group" ] || [ "$(nproc)" -lt 2 ] || ! in_group true 2>/dev/null; then skip quota "no control group can be made here, or there is one core"; else
    expect quota 0 "^  ok +cores +1 for this process: the control group's CPU quota is 1 of $(nproc) cores; " in_group "$DFC" doctor --quick
    printf 'kernel k(out v: i32[9]) { v[x] = x; }\nkernel l(in v: i32[9]) cpu {{ (void)v; }};\ngraph main { v: i32[9] = k(); l(v); }\n' >quota.df
    check quota-compile "$DFC" quota.df -o quota --nvcc=none
    expect quota-workers 0 '^cpu 0 ' in_group ./quota --stats --policy=ws
    in_group ./quota --stats --policy=ws 2>&1 | grep -q 'cpu 1 ' && fail quota-one "two workers under a quota of one core" || pass quota-one
    ./quota --stats --policy=ws 2>&1 | grep -q 'cpu 1 ' && pass quota-outside || fail quota-outside "one worker without a quota: $(./quota --stats 2>&1)"
fi
[ -z "$group" ] || rmdir "$group"
