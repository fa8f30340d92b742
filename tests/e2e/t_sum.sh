# examples/sum: compiled, run with several seeds and sizes, compared with the sums that check.py computes by itself.
cp "$DF_SOURCE"/examples/sum/* .
check compile env -u COMPILER_PATH "$DFC" sum.df -o sum       # with the linker of users

sums() { "$1" "${@:4}" | python3 check.py "$2" "$3"; }
set -o pipefail
check seed-default sums ./sum 1 1024
check seed-3 sums ./sum 3 1024 --seed=3
check seed-negative sums ./sum -7 1024 --seed=-7
for policy in eager ws dmda gp-thesis; do
    check "policy-$policy" sums ./sum 3 1024 --seed=3 --policy=$policy
    check "emu-$policy" sums ./sum 3 1024 --seed=3 --device=emu --policy=$policy
done
expect bad-seed 2 "seed" ./sum --seed=x
expect help 0 "--seed" ./sum --help

check compile-n10 "$DFC" sum.df -D n=10 -o sum10 --nvcc=none
check n10 sums ./sum10 2 10 --seed=2
expect unknown-define 1 "'m'" "$DFC" sum.df -D m=10 -o summ

sed 's/^param n = 1024;/param n = 1024 dynamic;/' sum.df > dyn.df
check compile-dynamic "$DFC" dyn.df -o dyn --nvcc=none
check dynamic-default sums ./dyn 1 1024
check dynamic-500 sums ./dyn 5 500 --n=500 --seed=5
check dynamic-1 sums ./dyn 5 1 --n=1 --seed=5
check dynamic-larger sums ./dyn 5 5000 --n=5000 --seed=5 --device=emu
{ cat dyn.df; echo 'graph other(in v: f32[m]) { print(v); w = add(v, v); }'; } > warns.df
expect dynamic-warns-once 0 "warning: 'w' is never read" "$DFC" warns.df -o warns --nvcc=none
[ -z "$(./warns --n=5 2>&1 >/dev/null)" ] && pass dynamic-warns-no-more || fail dynamic-warns-no-more "$(./warns --n=5 2>&1 >/dev/null | tail -n 4)"
expect dynamic-negative 1 "error" ./dyn --n=-4
expect help-dynamic 0 "--n" ./dyn --help

expect param-at-start 2 "^sum: error: --n: 'n' is a compile-time param: compile with 'dfc -D n=5', or declare it dynamic$" ./sum --n=5

# Waves: the same line count for each, in order.
./sum --waves=3 > waves && ./sum > once && cat once once once > thrice
same waves waves thrice
