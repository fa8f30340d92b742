# dfc --syntax-only: checks all, writes nothing; --json tells editors what was found.
cp "$DF_SOURCE"/examples/sum/{sum.df,vec.c,vec.cu} .
expect good 0 '^$' sh -c '"$DFC" sum.df --syntax-only 2>&1; echo'
cat >lib.df <<'END'
kernel scale(in a: f32[n], out b: f32[n]; by: f32) cpu {{ for (size_t i = 0; i < n; i++) b[i] = by * a[i]; }};
graph scaled(in a: f32[n], out b: f32[n]; by: f32) { b = scale(a, by); }
END
expect library 0 '^\[\]$' "$DFC" lib.df --lib --syntax-only --json
[ "$(ls -d lib*)" = lib.df ] && pass library-writes-nothing || fail library-writes-nothing "$(ls -d lib*)"
sed -i 's/scale(a/scael(a/' lib.df
expect bad-library 1 "unknown kernel or graph 'scael'" "$DFC" lib.df --lib --syntax-only --json
expect library-no-main 1 "no graph 'main'" "$DFC" lib.df --syntax-only --json
expect library-output 2 '^dfc: error: --syntax-only writes nothing' "$DFC" lib.df --lib --syntax-only -o liblib.so
expect good-json 0 '^\[\]$' "$DFC" sum.df --syntax-only --json
sed 's/c = add(a, b);/c = ad(a, b);/' sum.df >bad.df
sed 's/print(c);/print(a);/' sum.df >warns.df
expect bad 1 "^bad.df:13:[0-9]+: error: " "$DFC" bad.df --syntax-only
"$DFC" bad.df --syntax-only --json >bad.json 2>err; status=$?
[ $status = 1 ] && [ ! -s err ] && pass bad-json || fail bad-json "exit $status: $(cat err)"
"$DFC" warns.df --syntax-only --json >warns.json 2>>err; status=$?
[ $status = 0 ] && [ ! -s err ] && pass warns-json || fail warns-json "exit $status: $(cat err)"
cat >check.py <<'END'
import json, re, subprocess, sys
bad, warns = (json.load(open(name)) for name in sys.argv[1:3])
text = subprocess.run([sys.argv[3], "bad.df", "--syntax-only"], stderr=subprocess.PIPE, text=True).stderr
file, line, column, kind, message = re.match(r"(.*):(\d+):(\d+): (\w+): (.*)", text).groups()
first = bad[0]
assert (first["file"], first["line"], first["column"], first["severity"], first["message"]) == (file, int(line), int(column), kind, message), first
assert first["end_column"] > first["column"], first
hints = [n["message"] for m in bad for n in m["notes"] if n["severity"] == "hint"]
assert hints == re.findall("^hint: (.*)", text, re.M) and hints, (hints, text)
assert [m["severity"] for m in warns] == ["warning"], warns
END
check fields python3 check.py bad.json warns.json "$DFC"
mv vec.c elsewhere.c
expect file-missing 1 '"message": ".*vec.c' "$DFC" sum.df --syntax-only --json
expect json-alone 2 "^dfc: error: --json is for editors: it goes with --syntax-only$" "$DFC" sum.df --json
expect with-output 2 "^dfc: error: --syntax-only writes nothing: it does not go with -o and --emit$" "$DFC" sum.df --syntax-only -o x
[ -e sum ] || [ -e bad ] && fail nothing-written "$(ls)" || pass nothing-written
