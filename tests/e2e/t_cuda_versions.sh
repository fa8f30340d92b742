# The CUDA back end works with the runtimes of CUDA 12.0 and 13.0 (make check-long: 12.8, too), whichever of their headers it was compiled with: a program is linked with the
# runtime of the nvcc that dfc finds. The headers are those of tests/mock/toolkit/, and the mock, compiled with each, has that runtime's symbols and
# signatures. So neither a toolkit nor a GPU is needed. With this machine's own header the same tests are unit-cuda_*.
sanitize=$(grep -oE -- '-fsanitize=[a-z,]+' "$DF_BUILD/obj/flags" | tr '\n' ' ')
versions='12000 13000'; ! long || versions='12000 12080 13000'
objects() { # VERSION OUT FLAG… -- FILE…: OUT/*.o
    local version=$1 out=$2 flags=() file; shift 2
    while [ "$1" != -- ]; do flags+=("$1"); shift; done
    shift; mkdir -p "$out"
    for file; do
        cc -std=c11 -D_GNU_SOURCE -O0 -pthread -Wall -Wextra -Werror $sanitize "${flags[@]}" -I"$DF_SOURCE" -isystem "$DF_SOURCE/tests/mock/toolkit" \
            -DTOOLKIT="$version" -c -o "$out/$(basename "$file" .c).o" "$file" || return 1
    done
}
link() { # OUT TEST HEADERS RUNTIME
    cc -pthread $sanitize -o "$1" "$DF_BUILD/obj/tests/unit/runtime/cuda/test_cuda_$2.o" "mock-$4"/*.o "cuda-$3"/*.o "$DF_BUILD/obj/libunit.a" \
        "$DF_BUILD"/lib/libdf{driver,front,plan}.a "$DF_BUILD/lib/libdf.a" -lmetis -lcgraph -lcdt -ljansson -lsqlite3 -lhwloc -lm -ldl -lrt -lcmocka \
        -Wl,--export-dynamic-symbol=cublas{Create,Destroy,SetStream,SetWorkspace}_v2    # by name: gold takes no patterns
}
for version in $versions; do
    check compile-$version objects $version cuda-$version -- "$DF_SOURCE"/runtime/cuda/*.c
    check compile-mock-$version objects $version mock-$version -- "$DF_SOURCE"/tests/mock/cuda_mock*.c
done
long || export SEEDS=1-4         # random graphs; unit-cuda_streams has more
# Each test with each version's own headers; the batches and recordings, whose calls differ, with every pair.
run() { # TEST HEADERS RUNTIME
    local name=$1-$2-on-$3
    if link "$name" "$1" "$2" "$3" >err 2>&1; then expect "$name" 0 '^1\.\.|PASSED' "./$name"; else fail "$name" "$(tail -n 3 err)"; fi
}
for headers in $versions; do
    for runtime in $versions; do
        run streams $headers $runtime
        [ $headers != $runtime ] && ! long || { run mock $headers $runtime; run machine $headers $runtime; }
    done
done
