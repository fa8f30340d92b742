# Where programs and their files may be: outputs that cannot be written, no HOME, a TMPDIR that is mounted with noexec.
formulas_for none
# Outputs that cannot be written are told before the run, though the node writes after the last wave only.
cat >late.df <<'END'
import "std/raw.df";
arg output: str = "out.raw";
kernel count(out a: i64[n]) stream cpu {{ if (df_wave(call) == 9) return DF_END; FILE *f = fopen("began", "w"); fclose(f); for (size_t i = 0; i < n; i++) a[i] = 1; }};
kernel sum(in a: i64[n], acc s: i64[n]) cpu {{ for (size_t i = 0; i < n; i++) s[i] += a[i]; }};
graph main { a: i64[4] = count(); s: i64[4] = sum(a); write_raw_i64(s, output); }
END
check late-compile "$DFC" late.df --nvcc=none '--cflags=-include stdio.h' -o late
mkdir closed; echo old >kept; chmod 555 closed; chmod 444 kept
user=(); [ "$(id -u)" = 0 ] && { user=(setpriv --reuid=65534 --clear-groups); chmod 755 .; }
if "${user[@]}" test -x late && ! "${user[@]}" test -w closed; then
    expect closed-folder 1 "^late: error: node 'main/write_raw_i64' cannot write 'closed/out.raw': Permission denied$" "${user[@]}" ./late --output=closed/out.raw
    expect closed-file 1 "^late: error: node 'main/write_raw_i64' cannot write 'kept': Permission denied$" "${user[@]}" ./late --output=kept
else skip closed "no other user can be taken here"; fi
expect folder-as-file 1 "^late: error: node 'main/write_raw_i64' cannot write 'closed': it is a folder$" ./late --output=closed
[ ! -e began ] && pass told-before || fail told-before "a wave was begun"
expect folder-later 1 "^late: warning: 'no/out.raw' is written after the last wave, and its folder is not there$" ./late --output=no/out.raw
check no-output ./late --output=
chmod 755 closed

# Without HOME there is no cache, and nothing is called "(null)".
mkdir empty && cd empty
no_home() { env -u HOME -u XDG_CACHE_HOME -u XDG_DATA_HOME -u DFC_CACHE -u DFC_PROFILE TMPDIR="$PWD" "$@"; }
cat >s.df <<'END'
kernel k(out v: i32[4]) { v[x] = x; }
kernel l(in v: i32[4]) cpu {{ printf("%d\n", v[3]); }};
graph main { v: i32[4] = k(); l(v); }
END
expect no-home 0 '^3$' no_home "$DFC" run s.df --nvcc=none "--cflags=-include stdio.h"
[ "$(ls)" = "$(printf 'dfc-%s\ns.df' "$(id -u)")" ] && pass no-home-places || fail no-home-places "$(ls)" # the profile database's folder
expect no-home-doctor 0 'absent profiles +no database yet' no_home "$DFC" doctor --quick
no_home "$DFC" doctor --quick | grep -q '(null)' && fail no-null "(null)" || pass no-null

# TMPDIR that is mounted with noexec: programs go elsewhere. Where nothing else is left, a sentence says why.
mkdir mounted home
if ! unshare -m mount -t tmpfs -o noexec,size=64m none mounted 2>/dev/null; then skip noexec "no file system can be mounted here"; else
    expect noexec 0 '^3$' env TMPDIR="$PWD/mounted" HOME="$PWD/home" unshare -m sh -c 'mount -t tmpfs -o noexec,size=64m none mounted && "$DFC" run s.df --nvcc=none "--cflags=-include stdio.h"'
    expect noexec-doctor 0 'absent temporary files .*mounted: .* free, noexec$' env TMPDIR="$PWD/mounted" unshare -m sh -c 'mount -t tmpfs -o noexec,size=64m none mounted && "$DFC" doctor --quick'
    expect noexec-everywhere 1 "^dfc: error: cannot run '.*/mounted/dfc-.*/s': its file system is mounted with noexec; set TMPDIR to a folder where programs may run$" \
        as_is env -u XDG_CACHE_HOME TMPDIR="$PWD/mounted" HOME="$PWD/home" unshare -m sh -c 'for place in /tmp /var/tmp "$PWD"; do mount --bind "$place" "$place" && mount -o remount,bind,noexec "$place"; done; mount --bind "$DF_BUILD" "$DF_BUILD" && mount -o remount,bind,exec "$DF_BUILD" # it may lie in one of them
        cd "$PWD" && "$DFC" run s.df --nvcc=none "--cflags=-include stdio.h"'
fi
# From Python, too: its library is loaded from elsewhere.
if ! unshare -m mount -t tmpfs -o noexec,size=64m none mounted 2>/dev/null || ! has_modules numpy; then skip noexec-python "no file system can be mounted here, or there is no NumPy"; else
    cat >noexec.py <<'END'
import dfc, numpy
text = "kernel twice(in a: f32[n], out b: f32[n]) { b[x] = 2 * a[x]; }\ngraph doubled(in a: f32[n], out b: f32[n]) { b = twice(a); }\n"
print(dfc.compile(text, flags=["--nvcc=none"])(numpy.arange(3, dtype="f4")))
END
    expect noexec-python 0 '^\[0. 2. 4.\]$' env TMPDIR="$PWD/mounted" HOME="$PWD/home" PYTHONPATH="$DF_BUILD/share/dfc/python" \
        unshare -m sh -c 'mount -t tmpfs -o noexec,size=64m none mounted && exec /usr/bin/python3 noexec.py'
fi
