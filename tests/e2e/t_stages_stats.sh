# --stats and --trace of stages on ranks: what each rank did with its stages, by rank and summed, and one trace of all ranks. Also if a rank dies.
. "$here/ranks.sh"
have_ranks stages || return 0
cp "$here/programs/stages/line.df" "$programs/stages.py" .
check compile "$DFC" line.df --nvcc=none -w -o line
./line >one
printf 'feeding demand\nsquare both: a b\nfold: c\n' >demand.map
# A run in which a rank is lost waits for a silence most of the time, so it goes on beside the others.
mkdir died
(cd died && timeout 300 mpirun $root --oversubscribe --bind-to none --enable-recovery -n 5 ../line --cluster --mapping=../demand.map --workers=1 --device=none --deadly=20 \
    --stats=json --stats-file=s.json --trace=t.json >out 2>err; echo $? >rc) &
printf 'feeding order\nsquare: a\nboth: b c\nfold: d\n' >replicas.map
ranks 6 ./line --cluster --mapping=replicas.map --device=none --stats=json --stats-file=s.json --trace=t.json >out 2>err || fail run "$(tail -n 3 err)"
same result out one
python3 stages.py s.json t.json 6 60 square=1 both=2,3 fold=4 || failures=$((failures + 1))
check drawn "$DFC" gantt t.json -o t.svg
ranks 4 ./line --cluster --mapping=demand.map --device=none --stream-policy=odds --stats=json --stats-file=s.json --trace=t.json >out 2>err || fail run "$(tail -n 3 err)"
same demand-result out one
python3 stages.py s.json t.json 4 60 square+both=1,2 fold=3 || failures=$((failures + 1))

ranks 6 ./line --cluster --mapping=replicas.map --device=none --stats >out 2>said || fail text "$(tail -n 3 said)"
same text-result out one
expect head 0 '^rank  host +state +waves +to it +from it +ran +waited +full  stages$' cat said
expect by-rank 0 '^   1  .*  worked +60 +[0-9.]+ [KM]iB +[0-9.]+ [KM]iB .*  square$' cat said
expect spare 0 '^   5  .*  worked +-( +-){5}  none$' cat said
expect sums 0 '^ all +60 +[0-9.]+ [KM]iB +[0-9.]+ [KM]iB .*  both$' cat said
expect nodes 0 '^weigh +cpu +60 ' cat said
expect no-window 1 '^0$' grep -c window said
rm t.json; ranks 3 ./line --cluster --mapping=demand.map --last=0 --trace=t.json --stats >out 2>said
expect too-few 0 'error: processor .c. is one too many' cat said
[ ! -e t.json ] && pass failed-leaves-none || { rm t.json; fail failed-leaves-none 't.json is there'; }

# The rank that is lost: what it did is not known, and what the others did counts on, over both mappings.
wait
[ "$(cat died/rc)" = 0 ] || fail died "$(tail -n 3 died/err)"
same died-result died/out one
python3 stages.py died/s.json died/t.json 5 60 changed || failures=$((failures + 1))
