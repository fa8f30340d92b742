# examples/graphs: each family elaborates to the number of nodes that its formula says, at several sizes, and places without complaint: by heft,
# because gp searches for 0.2 s each time.
cp "$DF_SOURCE"/examples/graphs/* .
nodes() { # FILE EXPECTED [-D…]
    local file=$1 expected=$2 got; shift 2
    got=$("$DFC" partition "$file" --policy=heft "$@" 2>err | sed -n 's/.*: \([0-9]*\) nodes.*/\1/p')
    if [ "$got" = "$expected" ]; then pass "$file $*"; else fail "$file $*" "$got nodes, expected $expected; $(head -n 3 err)"; fi
}
for T in 2 5 8; do # tasks, then loads and stores
    nodes cholesky.df $((T + T * (T - 1) + T * (T - 1) * (T - 2) / 6 + T * (T + 1))) -D T=$T
    nodes lu.df $((T + T * (T - 1) + T * (T - 1) * (2 * T - 1) / 6 + 2 * T * T)) -D T=$T
    pairs=$((T * (T - 1) / 2)) triples=$(((T - 1) * T * (2 * T - 1) / 6))
    nodes qr.df $((T + 2 * pairs + triples + T * T + 2 * T + 3 * pairs)) -D T=$T
done
nodes fft.df $((64 * 6 + 128)) -D N=64 -D stages=6
for N in 2 20; do nodes wavefront.df $((N * N + 2)) -D N=$N; done
nodes jacobi.df $((16 * 20 + 32))
nodes vi.df $((3 * 72)) -D total=36000000 -D chunk=500000
nodes image.df 30 -D strips=3                      # ten a strip
cc -std=c11 -D_GNU_SOURCE -o layered layered.c -lm
./layered 200 0.5 7 >a.df; ./layered 200 0.5 7 >b.df; same layered-repeatable a.df b.df
check layered "$DFC" partition a.df
expect layered-usage 2 usage ./layered 1 0.5 1
cc -std=c11 -D_GNU_SOURCE -o workflow workflow.c -lm
tasks() { # SHAPE WIDTH TASKS, and what nobody reads has a sink
    local name=$1-$2
    ./workflow "$1" "$2" 3 >"$name.df"; ./workflow "$1" "$2" 3 >again.df; same "$name-repeatable" "$name.df" again.df
    nodes "$name.df" $(($3 + $(grep -c '^kernel f[0-9]*(' "$name.df")))
}
tasks montage 20 $((3 * 20 - 1 + 6)); tasks epigenomics 20 $((4 * 20 + 4)); tasks cybershake 20 $((2 * 20 + 4))
tasks ligo 20 $((4 * 20 + 2 * 4)); tasks genome 20 $((5 + 20 + 2 * 12)); tasks montage 2 11; tasks ligo 7 $((4 * 7 + 2 * 2)); tasks genome 60 $((5 + 60 + 6 * 12))
expect workflow-usage 2 usage ./workflow montage 1 1
expect workflow-shape 2 usage ./workflow tree 5 1

# All families in a folder: what make results simulates. Each graph has its sizes in it, so a file is all that one needs.
check families "$DF_SOURCE/examples/graphs/families.sh" all
if [ "$(ls all/*.df | wc -l)" = 101 ] && [ "$(tail -n +2 all/families.csv | cut -d, -f1 | sort)" = "$(cd all && ls | sed -n 's/.df$//p' | grep -vx -e study -e two | sort)" ]; then
    pass families-listed; else fail families-listed "$(ls all | wc -l) files, $(wc -l <all/families.csv) lines"; fi
nodes all/lu-12.df $((12 + 12 * 11 + 11 * 12 * 23 / 6 + 2 * 144))
nodes all/fft-8.df $((8 * 3 + 16))
expect families-two 0 '^unit .*workers' "$DFC" partition all/montage-60-1-two.df --policy=heft
expect families-two-gpus 0 '^gpu1 ' "$DFC" partition all/montage-60-1-two.df --policy=heft

cc -std=c11 -o generate "$DF_SOURCE/examples/matrix/generate.c"
for kind in ma mm mixed; do ./generate --kind=$kind --costs >$kind.df; check "thesis-$kind" "$DFC" partition $kind.df; done
