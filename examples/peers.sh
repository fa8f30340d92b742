# peers.sh - what bench.sh of several examples share: the programs and libraries that an example is compared with are installed if PEERS=1, and only then.

# peers PACKAGE…: installs with apt-get those that are missing. If that fails, it says what to type, and the caller leaves out what it does not find.
peers() {
    local missing='' package as=''
    [ "${PEERS:-0}" = 0 ] && return
    for package; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=" $package"
    done
    [ -z "$missing" ] && return
    [ "$(id -u)" = 0 ] || as='sudo -n'
    # shellcheck disable=SC2086
    { $as apt-get update -qq && DEBIAN_FRONTEND=noninteractive $as apt-get install -y -qq --no-install-recommends $missing; } >/dev/null ||
        echo "PEERS: these could not be installed. Type this, then run again: sudo apt-get install -y$missing"
}
