# The table of a test run: awk -v logs=FOLDER -v limit=SECONDS -f tests/table.awk reads "NAME<tab>COMMAND" lines, and for each test its log, and NAME.rc, .s
# and .cpu as tests/run.sh writes them. Prints a line for each test, its skipped cases and figures, and what a failed test printed; then once more each
# failed test with its failed cases. The last line is the sum. The exit status is 1 if a test failed.
BEGIN { FS = "\t"; skips = "^(not )?ok .*# SKIP|^skip " }      # cmocka says "not ok 2 # SKIP name"

function first_line(file,   line) { getline line <file; close(file); return line }

{
    log_file = logs "/" $1; rc = first_line(log_file ".rc"); split(first_line(log_file ".cpu"), cpu, " ")
    p = f = s = n = n_cases = left = 0; shown = cases = ""; split("", kept)
    while ((getline line <log_file) > 0) {
        skip = line ~ skips; ok = line ~ /^ok /; not_ok = line ~ /^not ok /
        if (skip) s++; else if (ok) p++; else if (not_ok) f++
        if (skip || line ~ /^figure /) shown = shown "    " (skip ? line : substr(line, 8)) "\n"
        if (!ok) kept[n++] = line
        if (ok || not_ok) left = not_ok && !skip ? 4 : 0        # a failed case, and the three lines that follow it in cmocka's output, which say why
        if (left > 0 && (not_ok || line ~ /^#/)) { if (n_cases++ < 30) cases = cases "    " substr(line, 1, 296) "\n"; left-- }
    }
    close(log_file)
    if (rc != 0 && f == 0) f = 1
    if (p + f + s == 0) f = 1                                   # a test that tests nothing has failed
    passed += p; failed += f; skipped += s
    printf "%-28s %4d passed %3d failed %3d skipped %6s s, %5.1f of a core\n%s", $1, p, f, s, first_line(log_file ".s"), cpu[1] + cpu[2], shown
    if (f > 0) {
        ended = rc == 124 ? "ended after " limit " s" : ""
        if (ended) print "    " ended
        printf "    exit status %s; its output:\n", rc
        for (i = n > 60 ? n - 60 : 0; i < n; i++) print "    | " kept[i]
        failures = failures "failed: " $1 ", exit status " rc (ended ? ", " ended : "") "\n" cases
    }
}

END {
    printf "%s", failures
    print "logs: " shown_logs
    printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
    exit failed > 0
}
