# A host process that has changed its own state - locale, rounding, denormal numbers, traps, signals, stacks, descriptors, umask, folder, environment - gets the same
# results, files and statistics from a library as one that has not, and its state stays. The same of programs and of dfc, by a library that changes it when it is loaded.
cp "$programs"/* .
sanitize=$(grep -oE -- '-fsanitize=[a-z]+' "$DF_BUILD/obj/flags" | head -n 1)
formulas_for none

# A locale with decimal commas, made of ASCII and that one difference: machines have few locales.
{
    printf '<code_set_name> ASCII\n<mb_cur_min> 1\n<mb_cur_max> 1\n<comment_char> %%\n<escape_char> /\nCHARMAP\n'
    for ((i = 0; i < 128; i++)); do printf '<U%04X> /x%02x\n' "$i" "$i"; done
    echo 'END CHARMAP'
} >ascii.charmap
I18NPATH=/nonexistent localedef -c -f ./ascii.charmap -i ./comma.locale ./comma_XX >/dev/null 2>&1
export LOCPATH=$PWD

check library "$DFC" rows.df --lib --graph=rows -o librows.so --nvcc=none
# shellcheck disable=SC2086
check host cc -std=c11 -Wall -Wextra -Werror $sanitize host.c -o host -I. -L. -lrows -lm -pthread -Wl,-rpath,"$PWD"
./host plain --gain=0.25 2>err && cp got want && cp csv csv.want || fail plain "$(cat err)"
grep -q "^status 0, the host's state stays$" want && grep -q '^[0-9.]*,[0-9.]*,' csv.want && pass plain || fail plain "$(tail -n 1 want) $(head -n 1 csv.want)"
for state in locale late upward zero traps flush x87 blocked ignored handlers umask folder closed 'no stderr' environment 'stack limit' stack thread; do
    case $state$sanitize in *stack*fsanitize* | thread*fsanitize* | handlers*fsanitize* | ignored*fsanitize*) skip "$state" 'a sanitizer has handlers and large stacks'; continue ;; esac
    for set in '' '--workers=3 --policy=eager' '--device=emu --emu-all --policy=all-gpu'; do
        rm -f got csv stats
        timeout 150 ./host "$state" "--gain=0.25 --stats $set" 2>err || fail "$state $set" "exit $?: $(head -c 300 err)"
        same "$state $set" got want
        same "$state csv $set" csv csv.want
        [ "$state" != umask ] || [ "$(stat -c %a csv)" = 600 ] && pass "$state rights $set" || fail "$state rights $set" "$(stat -c %a csv)"
    done
    cp stats "stats-$state"
done
python3 - stats-* <<'X' || failures=1
import json
import sys
bad = 0
for name in sys.argv[1:]:
    try:
        json.load(open(name))
        print(f"ok {name[6:]} stats")
    except Exception as e:
        bad = print(f"not ok {name[6:]} stats: {e}") or 1
sys.exit(bad)
X

# Programs and dfc, which a library changes that is loaded before them.
if [ -n "$sanitize" ]; then skip loaded 'a sanitizer is loaded first'; else
    check hostile cc -shared -fPIC hostile.c -o hostile.so -lm
    check program "$DFC" rows.df -o program --nvcc=none
    ./program --gain=0.25 >want 2>/dev/null
    for set in --workers=1 '--workers=3 --policy=ws' '--device=emu --emu-all --policy=all-gpu'; do
        # shellcheck disable=SC2086
        LD_PRELOAD=$PWD/hostile.so ./program --gain=0.25 --stats=json --stats-file=stats $set >got 2>err || fail "loaded $set" "$(cat err)"
        same "loaded $set" got want
    done
    python3 -c 'import json; json.load(open("stats"))' && pass loaded-stats || fail loaded-stats "$(head -c 200 stats)"
    cp program program.want
    check loaded-dfc env LD_PRELOAD="$PWD/hostile.so" "$DFC" rows.df -o program --nvcc=none
    same loaded-dfc-program program program.want
    check schedule "$DFC" simulate rows.df --policy=heft --schedule=want.json
    check loaded-dfc-schedule env LD_PRELOAD="$PWD/hostile.so" "$DFC" simulate rows.df --policy=heft --schedule=got.json
    same loaded-dfc-schedule-is-same got.json want.json
fi
# A parent that ignores its children's ends hands this on to dfc, whose compilers' ends would be lost.
check no-child env --ignore-signal=CHLD "$DFC" rows.df -o program --nvcc=none

# Forked children use, look at and close what they inherit. They get results of their own or an error, never a wait without end, and the parent goes on.
check fork-library "$DFC" fork.df --lib -o libfork.so --nvcc=none
# shellcheck disable=SC2086
check fork-host cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror $sanitize fork.c -o fork -I. -L. -lfork -pthread -Wl,-rpath,"$PWD"
case $sanitize in *thread*) skip fork 'the sanitizer refuses threads after a fork' ;; *)
    for set in --workers=1 '--workers=3 --policy=eager' '--workers=3 --policy=ws' '--device=emu --policy=dmda' '--device=emu --workers=2 --policy=gp --emu-all'; do
        timeout 120 ./fork "$set" >got 2>&1 || fail "fork $set" "exit $?"
        same "fork $set" got fork.want
    done ;;
esac
