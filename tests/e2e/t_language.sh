# The examples of docs/language.md that are files, commands and what these print: files have a name behind the fence, `sh` is run, and each
# line of `text` must be in what it said.
export NVCC=none PATH=${DFC%/*}:$PATH
awk '/^```/ { kind = kind ? "" : NF > 1 ? "file" : length($1) > 3 ? substr($1, 4) : "other"
              if (kind == "") next
              name = kind == "file" ? $2 : sprintf("%03d.%s", ++n, kind); printf "" > name; next }
     kind { print > name }' "$DF_SOURCE/docs/language.md"
for block in [0-9][0-9][0-9].*; do
    case $block in
        *.sh) if sh -e "$block" >said 2>&1; then pass "runs-$(head -n 1 "$block")"; else fail "runs-$block" "$(tail -n 5 said)"; fi ;;
        *.text) while IFS= read -r line; do
                if grep -qxF -- "$line" said; then pass "says-$line"; else fail "says-$line" "$(cat said)"; fi
            done <"$block" ;;
    esac
done
