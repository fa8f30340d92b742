# What is linked: a program of this machine replaces the old one, and nothing else does. Paths that mean something else to a compiler or linker.
program() { printf 'kernel one(out v: u8) cpu {{ v[0] = %s; }};\nkernel say(in v: u8) cpu {{ printf("%%d\\n", v[0]); }};\ngraph main { v = one(); say(v); }\n' "$1"; }
program 1 > old.df && program 2 > new.df
check old "$DFC" old.df -o app
# refused NAME WHAT OPTION…: the new program is not made, dfc says what was made, the old one stays, and nothing is left beside it.
refused() {
    local name=$1 what=$2; shift 2
    expect "$name" 1 "^dfc: error: '.*' was to link 'app' and made $what, not a program for this machine$" "$DFC" new.df -o app -MD "$@"
    expect "$name-keeps-the-old" 0 '^1$' ./app
    [ -z "$(find . -name '.dfc-*' -o -name '*.d')" ] && pass "$name-leaves-nothing" || fail "$name-leaves-nothing" "$(ls -A)"
}
refused true 'an empty file' --cc=/bin/true
for flag in $(! long || echo -S --version) -E; do refused "cflags $flag" 'an empty file' --cflags=$flag; done
refused 'cflags -c' 'an object file' --cflags=-c
# A compiler that compiles, and gives $made for what it should link ("none": nothing).
cat > cc.sh <<'X'
#!/bin/sh
for word; do [ "$word" = -c ] && exec cc "$@"; done
while [ "$1" != -o ]; do shift; done
rm -f "$2"
[ "$made" = none ] || cp "$made" "$2"
X
chmod +x cc.sh
made() { local file=$1; shift; made=$file refused "$@" --cc=./cc.sh; }
echo 'int f(void) { return 1; }' > f.c && cc -c f.c && cc -shared -fPIC -nostdlib f.c -o f.so
cp app other && printf '\377\376' | dd of=other bs=1 seek=18 conv=notrunc 2>/dev/null
echo '#!/bin/sh' > text && head -c 20 app > short
made other machine 'a file for another machine'
# The machine is that of dfc's libdf.a: beside one for another machine, dfc is a cross compiler.
mkdir -p cross/bin cross/lib && cp "$DFC" cross/bin/dfc && ln -s "$DF_BUILD/include" "$DF_BUILD/share" cross/ && ln -s "$DF_BUILD"/lib/* cross/lib/
cc -c f.c && printf '\377\376' | dd of=f.o bs=1 seek=18 conv=notrunc 2>/dev/null && rm cross/lib/libdf.a && printf '!' > odd && ar rcD cross/lib/libdf.a odd f.o 2>/dev/null
made=other check cross cross/bin/dfc new.df -o copy --cc=./cc.sh && check cross-product cmp other copy; rm -r cross
cc -c f.c
made f.o object 'an object file'
made f.so library 'a library'
made text text 'a file that is no program'
made short short 'a file that is no program'
made none nothing 'no file'
export made=app && check a-program "$DFC" new.df -o copy --cc=./cc.sh && expect a-program-runs 0 '^1$' ./copy
check static "$DFC" new.df -o fixed --cflags='-no-pie -fno-pie' && expect static-runs 0 '^2$' ./fixed

# A library's name is no option: pkg-config's answer to one would reach the compiler.
{ echo 'link "--help";'; cat new.df; } > option.df
expect link-option 1 "^option.df:1:6: error: '--help' is an option and not the name of a library" "$DFC" option.df -o app
expect link-option-keeps-the-old 0 '^1$' ./app

# Folders and files whose names begin with what is an option (-), a file of options (@) or the system's root (=).
echo '#include "own.h"
struct df_call;
int say_cpu(struct df_call *call, const unsigned char *v) { (void)call; return v[0] == OWN ? 0 : 1; }' > body.c
wants() { long || case $d$1 in -* | @*[bo] | =*[lm]) ;; *) false ;; esac; } # what of beside, object, library and main make check has for this name
for d in - @d =d; do
    mkdir -p "./$d" && echo '#define OWN 3' > "./$d/own.h" && cp body.c "./$d/say.c" && touch d
    graph() { printf 'import "%s/one.df";\nkernel say(in v: u8) cpu "%s";\ngraph main { v = one(); say(v); }\n' "$d" "$1"; }
    echo 'kernel one(out v: u8) cpu {{ v[0] = 3; }};' > "./$d/one.df"
    ! wants b || { graph "$d/say.c" > own.df && check "beside $d" "$DFC" own.df -o own && check "beside-runs $d" ./own; }
    cc -I "./$d" -c body.c -o "./$d/say.o"
    ! wants o || { graph "$d/say.o" > own.df && check "object $d" "$DFC" own.df -o "$d/own" --keep -MD && check "object-runs $d" "./$d/own"; }
    printf '#include "own.h"\nint library(void *, const unsigned char *);\n' > call.c
    cc -I "./$d" -Dsay_cpu=library -c body.c -o "./$d/say.o" && ar rc "./$d/libsay.a" "./$d/say.o"
    printf 'struct df_call;\nint say_cpu(struct df_call *c, const unsigned char *v) { return library(c, v); }\n' >> call.c
    ! wants l || { graph call.c > own.df && check "library $d" "$DFC" own.df -o own -I "$d" -L "$d" -l say && check "library-runs $d" ./own; }
    ! wants m || { graph body.c > "./$d.df" && check "main $d" "$DFC" "./$d.df" -I "$d" -o "$d-own" --keep && check "main-runs $d" "./$d-own"; }
done

# OpenBLAS makes threads when it is loaded, which look for work for a while. A program ends them at its start; a kernel that has work for them gets them back.
if [ "$(nproc)" = 1 ]; then skip blas-threads 'one core: OpenBLAS makes no threads'; exit; fi
cat > blas.df <<'EOT'
link "openblas";
kernel count(out n: i32[2], out a: f64[side, side]) cpu {{
    #include <cblas.h>
    #include <dirent.h>
    for (int again = 0; again < 2; again++) {
        DIR *tasks = opendir("/proc/self/task");
        while (readdir(tasks))
            n[again]++;
        closedir(tasks);
        openblas_set_num_threads(2);
        if (!again)
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)side, (int)side, (int)side, 1, a, (int)side, a, (int)side, 0, a, (int)side);
    }
    n[0] -= 2, n[1] -= 2;     /* . and .. */
}};
kernel say(in n: i32[2]) cpu {{ printf("%d threads, then %s\n", n[0], n[1] > n[0] ? "more" : "as many"); }};
graph main { (n, a: f64[600, 600]) = count(); say(n); }
EOT
check blas "$DFC" blas.df -o blas
alone=$(OPENBLAS_NUM_THREADS=1 ./blas --device=none --workers=1)
expect blas-threads 0 "^${alone%% *} threads, then more\$" env -u OPENBLAS_NUM_THREADS ./blas --device=none --workers=1

# ---- the linker of programs that run here ----
printf '#!/bin/sh\nprintf "%%s\\n" "$@" | grep -e "^-fuse-ld" >>"$LINKED"\nexec gcc "$@"\n' >named-cc && chmod +x named-cc
export LINKED=$PWD/linked
printf 'kernel say() cpu {{ printf("linked\\n"); }};\ngraph main { say(); }\n' >say.df
quick=$(for name in lld gold; do command -v ld.$name >/dev/null && echo "-fuse-ld=$name" && break; done)
# linked NAME EXPECTED OPTION…: dfc links by what the compiler is told, and the program runs.
linked() {
    local name=$1 expected=$2 said; shift 2
    : >linked; said=$("$DFC" say.df -o say --nvcc=none --no-cache --cc="$PWD/named-cc" "$@" 2>&1) && said=$(./say)
    if [ "$said:$(sort -u linked | tr '\n' ' ')" = "linked:${expected:+$expected }" ]; then pass "$name"; else fail "$name" "$said, linked by: $(tr '\n' ' ' <linked)"; fi
}
linked quick "$quick" --here
linked quick-not-here ''
linked quick-named -fuse-ld=bfd --here --cflags=-fuse-ld=bfd
linked quick-lto '' --here --cflags=-flto
COMPILER_PATH=$PWD linked quick-own '' --here
