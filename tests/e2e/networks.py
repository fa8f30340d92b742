#!/usr/bin/env python3
"""networks.py - ranks of an mpirun on four hosts that are network namespaces: links of a given rate, delay and loss, kills and partitions.

networks.py PROGRAM TRIAL... runs the trials in order and prints a line for each, then the counts. A TRIAL is KIND:RATE:WAVES:COUNT with KIND one of
  none      no fault: the run has to complete, with status 0 and without an error
  kill      a rank other than 0 is killed (-9) at a random moment
  root      rank 0 is killed
  cut       a rank's link goes down at a random moment, and stays down
  blink     a rank's link goes down, and comes back 2 s later
A call of MPI may take 10 s there, while MPI starts. RATE is one of tc's (100mbit), or `max`. --netem='delay 20ms loss 1%' is given to tc for each link; --loss=1 drops one packet of a hundred that
arrives, by nft, for kernels without netem. Each run must end within --limit seconds, with the
bytes of --want, or with a message of rank 0 or of mpirun; then --resume must give these bytes. Exit status 0: so it was; 77: namespaces are not
permitted here, and a line says why. All traffic stays in namespaces that are made here, and removed at the end.
"""
import argparse, filecmp, os, random, shutil, signal, subprocess, sys, tempfile, time

HOSTS = 4


def call(*words, check=True):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if check and done.returncode:
        raise OSError("%s: %s" % (" ".join(words), done.stdout.strip()))
    return done.stdout


def remove_stale():
    """What a process left that was killed (-9)."""
    for line in call("ip", "netns", "list", check=False).splitlines():
        name = line.split()[0] if line.split() else ""
        pid = name.split("_")[0][len("dfcnet"):]
        if name.startswith("dfcnet") and pid.isdigit() and not os.path.exists("/proc/" + pid):
            call("ip", "netns", "del", name, check=False)


class Net:
    """A bridge in one namespace, and four namespaces with a link to it. The addresses are 10.77.0.1 to 10.77.0.4."""

    def __init__(self, folder, loss):
        self.prefix, self.made, self.folder = "dfcnet%d" % os.getpid(), [], folder
        self.switch = self.add("sw")
        call("ip", "-n", self.switch, "link", "add", "br0", "type", "bridge")
        call("ip", "-n", self.switch, "link", "set", "br0", "up")
        for i in range(HOSTS):
            ns = self.add("h%d" % i)
            call("ip", "-n", self.switch, "link", "add", "v%d" % i, "type", "veth", "peer", "name", "eth0", "netns", ns)
            call("ip", "-n", self.switch, "link", "set", "v%d" % i, "master", "br0", "up")
            call("ip", "-n", ns, "addr", "add", "10.77.0.%d/24" % (i + 1), "dev", "eth0")
            call("ip", "-n", ns, "link", "set", "eth0", "up")
            call("ip", "-n", ns, "link", "set", "lo", "up")
        for ns in self.made[1:] if loss else []:
            call("ip", "netns", "exec", ns, "nft", "add table inet t; add chain inet t i { type filter hook input priority 0; }; "
                 "add rule inet t i iifname eth0 numgen random mod 100000 < %d drop" % round(1000 * loss))
        self.agent = os.path.join(folder, "agent")
        with open(self.agent, "w") as f:
            f.write("#!/bin/bash\nwhile [[ $1 == -* ]]; do shift; done\nh=${1##*.}; shift\n"
                    "exec ip netns exec %s_h$((h - 1)) unshare -u bash -c \"hostname h$((h - 1)); $*\"\n" % self.prefix)
        os.chmod(self.agent, 0o755)
        with open(os.path.join(folder, "hosts"), "w") as f:
            f.writelines("10.77.0.%d slots=1\n" % (i + 1) for i in range(HOSTS))

    def name(self, what):
        return "%s_%s" % (self.prefix, what)

    def add(self, what):
        call("ip", "netns", "add", self.name(what))
        self.made.append(self.name(what))
        return self.name(what)

    def shape(self, rate, netem):
        """Both directions of each link."""
        for i in range(HOSTS):
            for ns, device in ((self.switch, "v%d" % i), (self.name("h%d" % i), "eth0")):
                call("tc", "-n", ns, "qdisc", "del", "dev", device, "root", check=False)
                parent = ["root"]
                if rate != "max":
                    call("tc", "-n", ns, "qdisc", "add", "dev", device, *parent, "handle", "1:", "tbf", "rate", rate, "burst", "128k", "latency", "100ms")
                    parent = ["parent", "1:1"]
                if netem:
                    call("tc", "-n", ns, "qdisc", "add", "dev", device, *parent, "netem", *netem.split())

    def link(self, host, up):
        call("ip", "-n", self.switch, "link", "set", "v%d" % host, "up" if up else "down")

    def wait_for_links(self):
        """Until each host answers the first one, be it with a refusal: after a link was down, neighbours must be found again before mpirun can start ranks."""
        for i in range(1, HOSTS):
            call("ip", "netns", "exec", self.name("h0"), "timeout", "20", "bash", "-c",
                 "until (exec 3<>/dev/tcp/10.77.0.%d/9) 2>&1 | grep -q refused; do sleep 0.05; done" % (i + 1))

    def pids(self, host):
        return [int(p) for p in call("ip", "netns", "pids", self.name("h%d" % host)).split()]

    def ranks(self, host, program):
        """Processes of the program there."""
        found = []
        for pid in self.pids(host):
            try:
                with open("/proc/%d/cmdline" % pid, "rb") as f:
                    if f.read().split(b"\0")[0] == program.encode():
                        found.append(pid)
            except OSError:
                pass
        return found

    def end_all(self):
        for i in range(HOSTS):
            for pid in self.pids(i):
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass

    def remove(self):
        for ns in self.made:
            for pid in call("ip", "netns", "pids", ns, check=False).split():
                try:
                    os.kill(int(pid), signal.SIGKILL)
                except OSError:
                    pass
            call("ip", "netns", "del", ns, check=False)

    def mpirun(self, n, words, folder):
        """Starts ranks on the first n hosts. Without --enable-recovery the death of one ends all."""
        with open(os.path.join(folder, "said"), "ab") as said:
            return subprocess.Popen(
                ["ip", "netns", "exec", self.name("h0"), "unshare", "-u", "bash", "-c", "hostname h0; exec \"$@\"", "_", "mpirun", "--bind-to", "none",
                 "--enable-recovery", "--hostfile", os.path.join(self.folder, "hosts"), "--map-by", "node", "-n", str(n),
                 "--mca", "plm_rsh_agent", self.agent, "--mca", "orte_tmpdir_base", self.folder, "--mca", "oob_tcp_if_include", "eth0", "--mca", "btl_tcp_if_include", "eth0"] + MCA + words,
                cwd=folder, stdout=said, stderr=said, stdin=subprocess.DEVNULL, env=ENV)


ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
MCA = ["-x", "DF_MPI_TIMEOUT=10"]


def wait(process, limit_s):
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        return None


def wait_for_end(net, process, kind, program, until):
    """None: it has not ended. mpirun itself waits for a host that it cannot reach: the run has ended with rank 0 then."""
    while True:
        rc = wait(process, 0.2)
        if rc is not None or time.monotonic() >= until:
            return rc
        if kind == "cut" and not net.ranks(0, program):
            return 0


def strike(net, kind, host, program, process, journal, after_s):
    """Gives whether it hit a run that was under way. The time counts from the moment when the rank's process is there, or when rank 0 has a journal."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None and not (os.path.exists(journal) if journal else net.ranks(host, program)):
        time.sleep(0.02)
    if wait(process, after_s) is not None:
        return False
    if kind in ("cut", "blink"):
        net.link(host, False)
        if kind == "blink":
            wait(process, 2)
            net.link(host, True)
        return True
    pids = net.ranks(host, program)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    return bool(pids)


def trial(net, o, number, kind, rate, waves):
    folder = tempfile.mkdtemp(dir=net.folder)
    words = [o.program, "--cluster", "--workers=1", "--journal=run.journal", "--waves=%d" % waves, "--heartbeat-timeout=%s" % o.heartbeat] + o.more
    net.shape(rate, o.netem)
    begin = time.monotonic()
    process = net.mpirun(o.ranks, words, folder)
    host = 0 if kind == "root" else 1 + number % (o.ranks - 1)
    journal = os.path.join(folder, "run.journal") if number % 2 == 0 else None
    hit = strike(net, kind, host, o.program, process, journal, random.uniform(0.05, o.within)) if kind != "none" else False
    rc = wait_for_end(net, process, kind, o.program, begin + o.limit)
    took = time.monotonic() - begin
    with open(os.path.join(folder, "said"), errors="replace") as f:
        said = f.read()
    verdict = "complete"
    if rc is None:
        verdict = "hang"
    elif not same(folder, o.want):
        verdict = "message" if "error:" in said or "terminated" in said or "killed" in said or kind == "root" else "silent"
        if kind == "none":
            verdict = "false-death"
    elif kind == "none" and "counts as dead" in said:
        verdict = "false-death"
    elif kind == "none" and (rc != 0 or "error:" in said):
        verdict = "failed"
    net.end_all()
    if kind in ("cut", "blink"):
        net.link(host, True)
        net.wait_for_links()
    if verdict != "complete":
        again = net.mpirun(o.ranks, words + ["--resume"], folder)
        if wait(again, o.limit) is None or not same(folder, o.want):
            verdict += "+not-resumed"
        net.end_all()
    wait(process, 5)
    print("%s %s %d: %s, %s, %.1f s%s" % (kind, rate, number, "hit" if hit else "no hit", verdict, took, "" if verdict == "complete" else "; " + last(said)), flush=True)
    if not verdict.startswith("complete") and o.keep:
        shutil.copytree(folder, os.path.join(o.keep, "%s-%d" % (kind, number)), dirs_exist_ok=True)
    shutil.rmtree(folder)
    return hit, verdict


def same(folder, want):
    path = os.path.join(folder, "out.raw")
    return os.path.exists(path) and filecmp.cmp(path, want, shallow=False)


def last(said):
    lines = [line for line in said.splitlines() if "error" in line or "counts as dead" in line] or said.splitlines()
    return lines[-1] if lines else "nothing was said"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("program")
    p.add_argument("trials", nargs="+")
    p.add_argument("--want")
    p.add_argument("--netem", default="")
    p.add_argument("--loss", type=float, default=0, help="percent of the packets")
    p.add_argument("--limit", type=float, default=60)
    p.add_argument("--within", type=float, default=3, help="strikes come within so many seconds after the rank, or each second time the run, has begun")
    p.add_argument("--heartbeat", default="3s")
    p.add_argument("--ranks", type=int, default=4)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--keep", help="the folders of runs that did not complete")
    p.add_argument("--mca", action="append", default=[], help="NAME=VALUE for mpirun")
    p.add_argument("--env", action="append", default=[], help="NAME=VALUE for the ranks")
    p.add_argument("--more", action="append", default=[], help="an option of the program")
    o = p.parse_args()
    random.seed(o.seed)
    for word in o.mca:
        MCA.extend(["--mca"] + word.split("=", 1))
    for word in o.env:
        MCA.extend(["-x", word])
    o.program, o.want = os.path.abspath(o.program), os.path.abspath(o.want)
    folder, net, counts, bad = tempfile.mkdtemp(), None, {}, 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        try:
            remove_stale()
            net = Net.__new__(Net)
            net.made = []
            net.__init__(folder, o.loss)
            net.shape("100mbit", o.netem)
        except OSError as e:
            print("not permitted here: %s" % e)
            return 77
        for text in o.trials:
            kind, rate, waves, n = text.split(":")
            for i in range(int(n)):
                hit, verdict = trial(net, o, i, kind, rate, int(waves))
                key = (kind, rate, "hit" if hit else "no hit", verdict)
                counts[key] = counts.get(key, 0) + 1
                bad += verdict not in ("complete", "message")
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if net:
            net.remove()
        shutil.rmtree(folder, ignore_errors=True)
    for key in sorted(counts):
        print("count %s: %d" % (" ".join(key), counts[key]))
    return 1 if bad else 0


sys.exit(main())
