# An acc's result, a skipped output and a decided extent from Python: the example of docs/python.md prints what the page says.
python=/usr/bin/python3
if ! has_modules numpy; then skip python "$python has no NumPy (python3-numpy)"; exit 0; fi
if grep -q 'fsanitize' "$DF_BUILD/obj/flags" 2>/dev/null; then skip python "Python is not linked with the sanitizer"; exit 0; fi
awk '/^## /{ on = $0 == "## State, empty tokens and decided extents" } !on { next }
     /^```./{ name = substr($1, 4); next } /^```$/{ name = ""; next } name { print > ("example." name) }' "$DF_SOURCE/docs/python.md"
env NVCC=none PYTHONPATH="$DF_BUILD/share/dfc/python" "$python" example.python >got 2>&1; same example got example.text
