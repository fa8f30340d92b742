# docs/tutorial.md: its files are written, its commands run one after another, and each line of a block `text` is in what the commands before
# it printed. A command that begins with `!` must fail.
page=$DF_SOURCE/docs/tutorial.md examples=$DF_SOURCE/examples
export NVCC=none PATH=${DFC%/*}:$PATH DFC_PROFILE=$PWD/profile.db
formulas_for '' -O1
# A block becomes NNN.KIND, and a file's name is the second word of its fence.
awk '/^```./ { kind = substr($1, 4); file = $2; n++; name = sprintf("%03d.%s", n, kind); if (file) print file > (name ".name"); printf "" > name; next }
     /^```$/ { kind = ""; next }
     kind { print > name }' "$page"
steps=$(grep -c '^## [0-9]' "$page")
if [ "$steps" = 10 ]; then pass ten-steps; else fail ten-steps "$steps"; fi
: >said
for block in [0-9][0-9][0-9].*; do
    case $block in
        *.name) ;;
        *.df) cp "$block" "$(cat "$block.name")" ;;
        *.text) while IFS= read -r line; do
                if grep -qF -- "$line" said; then pass "${block%.text}-says"; else fail "${block%.text}-says" "$line: $(cat said)"; fi
            done <"$block" ;;
        *.sh) : >said
            while IFS= read -r line; do
                case $line in
                    examples=*) continue ;;
                    '! '*) if eval "${line#! }" >>said 2>&1; then fail "${block%.sh}" "did not fail: $line"; else pass "${block%.sh}"; fi ;;
                    *) if eval "$line" >>said 2>&1; then pass "${block%.sh}"; else fail "${block%.sh}" "$line: $(tail -n 5 said)"; fi ;;
                esac
            done <"$block" ;;
    esac
done
