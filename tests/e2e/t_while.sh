# Loops with 'while': random ones against their rounds written out, bounds that are known late, libraries, and a graph that is as large for 10^5 rounds as for two.
python3 "$DF_SOURCE/tests/random/loops.py" "$DF_BUILD" --programs="${DF_LOOPS:-$(long && echo 167 || echo 1)}" --first="${DF_LOOPS_FIRST:-1}" $(long && echo --long || echo --loops=6) >got 2>err && pass random || fail random "$(cat got err)"

# One round is in the graph.
cp "$programs"/* .
formulas_for none
long || export NVCC=none                       # CUDA code of loops is compiled in make check-long
for rounds in 2 100000; do
    "$DFC" jacobi.df --emit=graph -D most=$rounds >graph.$rounds
    "$DFC" jacobi.df --emit=plan -D most=$rounds | sed -n '/^memory/,$p' >plan.$rounds
done
sed 's/rounds=100000/rounds=2/; s/at most 100000 rounds/at most 2 rounds/' graph.100000 >graph.same
same one-round graph.same graph.2
same two-tokens plan.100000 plan.2
check many "$DFC" jacobi.df -D most=100000 -o many
check few "$DFC" jacobi.df -D most=2 -o few
[ "$(stat -c %s many)" = "$(stat -c %s few)" ] && pass program-size || fail program-size "$(stat -c %s many few)"

# Jacobi beside a loop in C: the same bits, and the same number of rounds.
./many --waves=3 --workers=1 >got
check hand-compiles cc -O2 -ffp-contract=off hand.c -o hand -lm
./hand 3 >want
same hand got want
for set in '--workers=3' '--device=emu --policy=all-gpu' '--policy=gp --device=emu' --serial --poison '--inflight=1'; do
    # shellcheck disable=SC2086
    ./many --waves=3 $set >got 2>err
    same "$set" got want
done

# Conjugate gradients: the example, whose solution is known, and the same rounds on each device.
check cg "$DFC" "$DF_SOURCE/examples/cg/cg.df" -o cg
for set in '--workers=1' '--workers=3' '--device=emu --policy=all-gpu'; do
    # shellcheck disable=SC2086
    ./cg --n=40 $set >>cg.out 2>err
done
uniq cg.out >got
grep -Eq '^[0-9]+ rounds: the residual is [1-9]\.[0-9]e-09 of the right side, and no point is off by more than [1-9]\.[0-9]e-(08|09|10)$' got &&
    [ "$(wc -l <got)" = 1 ] && pass cg-converges || fail cg-converges "$(cat got)"

# Reports show a loop: how often its body was repeated, and what that is.
expect stats-text 0 '^main/loop-step\+residual\+count +3 +[0-9]+ +[0-9]+\.[0-9] +100000$' ./many --waves=3 --stats
expect stats-json 0 '"loops": \[\{"name": "main/loop-step\+residual\+count", "jobs": 2, "rounds": [0-9]+, "rounds_a_job": [0-9.]+, "most": 100000\}\]' ./many --waves=2 --stats=json
rounds=$(./many | sed 's/ rounds.*//')
expect stats-rounds 0 "^main/loop-step\\+residual\\+count +1 +$rounds " ./many --stats
expect explain 0 '^    loop    at most 300 rounds of step, residual, count$' "$DFC" explain jacobi.df
expect graph 0 "^    residual\(t0, t0'\) -> t2'$" cat graph.2
./many --trace=t.json >got
expect picture 0 'loop-step\+residual\+count' "$DFC" gantt t.json -o /dev/stdout
"$DFC" partition jacobi.df -o part.dot >/dev/null
expect partition 0 'loop-step\+residual\+count' grep loop part.dot

# A dynamic param is a bound; none of the rounds takes place if it is 0, or if the condition fails at once.
check dynamic "$DFC" dynamic.df -o dynamic
for most in 0 1 5; do ./dynamic --most=$most; done >got
./dynamic --limit=0 >>got
printf '%s\n' 'after 0: 1' 'after 1: 2' 'after 5: 32' 'after 0: 1' >want
same dynamic got want

# A kernel that fails, one that asks for state, and an error in the condition name the step and the round.
check failing "$DFC" failing.df -o failing
for how in 1 2 3; do ./failing --how=$how 2>&1; done >got
cat >want <<'END'
failing: error: node 'main/loop-step', wave 0: 'step' in round 2: too large: 4
failing: error: node 'main/loop-step', wave 0: 'step' in round 0: 'step' asks for memory that stays from wave to wave, in a loop with 'while'
failing: error: node 'main/loop-step', wave 0: its condition before round 2: division by zero
END
same failures got want

# A recorded job is the whole loop.
rm -f ./*.job
./many --waves=2 --record-job=main/loop-step+residual+count:1 >/dev/null
"$DFC" replay ./*.job >got 2>&1
grep -q 'the same bits as recorded' got && pass replay || fail replay "$(cat got)"
./many --waves=2 --check=variants --device=emu >/dev/null 2>err
grep -q 'agree' err && pass variants || fail variants "$(cat err)"

# A library's graph, at sizes that its caller says.
check lib "$DFC" solve.df --lib -o libsolve.so
# shellcheck disable=SC2046
check compiles cc -std=c11 -Wall -Wextra -Werror use.c -o use -Wl,-rpath,"$PWD" $(PKG_CONFIG_PATH=$PWD pkg-config --cflags --libs solve)
./use >got
printf '%s\n' '0.25 -2' '4 -32 1.5 16, 0.5' >want
same library got want

# On ranks, which share the waves: the same, and the rounds of all of them.
root=; [ "$(id -u)" != 0 ] || root=--allow-run-as-root
have_ranks ranks || return 0
./many --waves=5 --workers=1 >want
rounds=$(awk '{ n += $1 } END { print n }' want)
# shellcheck disable=SC2086
timeout 150 mpirun $root --oversubscribe --bind-to none -n 3 ./many --waves=5 --workers=1 --cluster --stats >got 2>err
same ranks got want
expect ranks-rounds 0 "^main/loop-step\\+residual\\+count +5 +$rounds " cat err
