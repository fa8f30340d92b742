/* test_format.c - how the canonical layout looks: texts and what they become. That nothing is lost is shown in
 * test_print.c, on programs drawn at random. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dsl/format.h"

static void expect(const char *text, const char *wanted)
{
    struct dfl_sink *sink = dfl_sink_new(stderr);
    char *formatted;
    size_t n;
    assert_non_null(sink);
    for (int round = 0; round < 2; round++, text = wanted) { /* what is right already stays */
        assert_true(dfl_format(sink, "t.df", text, strlen(text), &formatted, &n));
        assert_string_equal(formatted, wanted);
        free(formatted);
    }
    dfl_sink_free(sink);
}

static void test_blanks(void **state)
{
    (void)state;
    expect("", "");
    expect("param n=4+2*( -m - -1 )  dynamic ;", "param n = 4 + 2 * (-m - -1) dynamic;\n");
    expect("param p=!a&&b [ 1,x ]||!( c<d );", "param p = !a && b[1, x] || !(c < d);\n");
    expect("param m = min (4 KiB,0.5 e5) ;", "param m = min(4KiB, 0.5 e5);\n");
    expect("kernel k( in a:f32 [ n,m ]; x:i32 )threads ( 2 )cpu \"a.c\":f <<< 1 ,n/2 >>> ( a ) -> void cost cpu(1 us*n) gpu 2 ms;",
           "kernel k(in a: f32[n, m]; x: i32) threads(2) cpu \"a.c\": f<<<1, n / 2>>>(a) -> void cost cpu (1us * n) gpu 2ms;\n");
}

static void test_declarations_have_columns(void **state)
{
    (void)state;
    expect("import \"a.df\";\nparam n = 4;\narg seed: i32 = 1;\narg name: str;\ntype t = f32[n];\nlink \"m\";\n\narg x: i32;\n",
           "import \"a.df\";\n"
           "param n = 4;\n"
           "arg   seed: i32 = 1;\n"
           "arg   name: str;\n"
           "type  t = f32[n];\n"
           "link  \"m\";\n"
           "\n"
           "arg x: i32;\n");
    expect("kernel a(in x: u8) ordered cpu \"a.c\";\nkernel longer(in x: u8, out y: u8) gpu \"b.cu\" cost cpu 1 us gpu 2 us;\n",
           "kernel a(in x: u8) ordered         cpu \"a.c\";\n"
           "kernel longer(in x: u8, out y: u8) gpu \"b.cu\" cost cpu 1us gpu 2us;\n");
    expect("kernel cost(; cost: i32) cost cpu(1us) ;", "kernel cost(; cost: i32) cost cpu (1us);\n");
}

static void test_descriptions(void **state)
{
    (void)state;
    expect("param n=4 dynamic help  \"elements\";\narg help_: str=\"\" help \"a  b\"; // given\narg x: i32;\n",
           "param n = 4 dynamic                             help \"elements\";\n"
           "arg   help_: str = \"\"                           help \"a  b\";  // given\n"
           "arg   x:     i32;\n");
    expect("arg far: str = \"0123456789012345678901234567890123456789\" help \"so far\";\narg x: i32 help \"no number\";",
           "arg far: str = \"0123456789012345678901234567890123456789\" help \"so far\";\n"
           "arg x:   i32                                              help \"no number\";\n");
    expect("arg far: i32 = 1 help \"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\";",
           "arg far: i32 = 1\n"
           "    help \"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\";\n");
}

static void test_comments(void **state)
{
    (void)state;
    expect("param n = 4; // four  \r\nparam lots = 4; /* a */ // b\n// own\n\n\n\n// last",
           "param n = 4;                                    // four\n"
           "param lots = 4;                                 /* a */ // b\n"
           "// own\n"
           "\n"
           "// last\n");
    expect("graph main { // begins\n/* one\n   two */ f(a, // first\nb); } // ends\n",
           "graph main {                                    // begins\n"
           "    /* one\n"
           "   two */\n"
           "    f(a,  // first\n"
           "      b);\n"
           "}                                               // ends\n");
    expect("graph main { if a { f(); } // why\n else { } }",
           "graph main {\n"
           "    if a {\n"
           "        f();\n"
           "    }                                           // why\n"
           "    else { }\n"
           "}\n");
}

static void test_blocks(void **state)
{
    (void)state;
    expect("graph main{a=f();(b,c)=g(a)@cpu@depth( 2 );for i in a..b{(c)=g();}}", "graph main { a = f(); (b, c) = g(a) @cpu @depth(2); for i in a..b { (c) = g(); } }\n");
    expect("graph main{a=f();\nfor i in 0 .. n{for j in (i+1)..n{A[i,j]:t=f();}}\n\n\nif x{}else if y{f();}else{\n}}",
           "graph main {\n"
           "    a = f();\n"
           "    for i in 0..n { for j in (i + 1)..n { A[i, j]: t = f(); } }\n"
           "\n"
           "    if x { } else if y {\n"
           "        f();\n"
           "    } else { }\n"
           "}\n");
    expect("platform p{cpu host{workers=2 ;bandwidth=20GB/ s;}\ngpu g{h2d=6GB/s,10us;d2h=6 GB /s;}}",
           "platform p {\n"
           "    cpu host { workers = 2; bandwidth = 20 GB/s; }\n"
           "    gpu g { h2d = 6 GB/s, 10 us; d2h = 6 GB/s; }\n"
           "}\n");
}

static void test_long_lines(void **state)
{
    (void)state;
    expect("kernel gather(in first_one: f32[height, width], in second_one: f32[height, width], in third_one: f32[height, width], "
           "out all_of_them: f32[height, width]; alpha: f32) cpu \"gather.c\" gpu \"gather.cu\";\n",
           "kernel gather(in first_one: f32[height, width], in second_one: f32[height, width], in third_one: f32[height, width],\n"
           "              out all_of_them: f32[height, width]; alpha: f32)\n"
           "    cpu \"gather.c\" gpu \"gather.cu\";\n");
    expect("kernel f(in a: f32[k]) cpu {{ a_longer_call_of_a_function(a, k, 1, 2, 3, 4, 5, 6); }} "
           "gpu \"kernels.cu\": launched<<<(k + 255) / 256, 256>>>(a, k);\n",
           "kernel f(in a: f32[k])\n"
           "    cpu {{ a_longer_call_of_a_function(a, k, 1, 2, 3, 4, 5, 6); }}\n"
           "    gpu \"kernels.cu\": launched<<<(k + 255) / 256, 256>>>(a, k);\n");
    expect("kernel gather(in first_one: f32[height, width], in second_one: f32[height, width]) cpu \"gather.c\" flags \"-O3 -ffast-math\" \"two.c\" gpu \"g.cu\";",
           "kernel gather(in first_one: f32[height, width], in second_one: f32[height, width])\n"
           "    cpu \"gather.c\" flags \"-O3 -ffast-math\" \"two.c\" gpu \"g.cu\";\n");
    expect("kernel gather(in first_one: f32[height, width], in second_one: f32[height, width]) cpu \"gather.c\": open open gather_make close gather_end gpu \"g.cu\" open open;",
           "kernel gather(in first_one: f32[height, width], in second_one: f32[height, width])\n"
           "    cpu \"gather.c\": open open gather_make close gather_end gpu \"g.cu\" open open;\n");
    expect("kernel gather(in first_one: f32[height, width], in second_one: f32[height, width]) cpu \"gather.c\" open make_all_the_tables close end_all_the_tables gpu \"g.cu\" open make_all_the_tables close end_all_the_tables;",
           "kernel gather(in first_one: f32[height, width], in second_one: f32[height, width])\n"
           "    cpu \"gather.c\" open make_all_the_tables close end_all_the_tables\n"
           "    gpu \"g.cu\" open make_all_the_tables close end_all_the_tables;\n");
    expect("kernel f(in a: f32[k])   cpu {{\n  one();\n\t}}   gpu \"f.cu\" ;\n",
           "kernel f(in a: f32[k]) cpu {{\n  one();\n\t}} gpu \"f.cu\";\n");
    expect("graph main { some_result = some_kernel(first_argument_of_it, second_argument_of_it, third_argument_of_it, min(4, 5, 6)); }\n",
           "graph main {\n"
           "    some_result = some_kernel(first_argument_of_it, second_argument_of_it, third_argument_of_it, min(4, 5, 6));\n"
           "}\n");
}

static void test_a_wrong_text_is_not_formatted(void **state)
{
    (void)state;
    static const char text[] = "graph main { f(; }\n";
    struct dfl_sink *sink = dfl_sink_new(NULL);
    char *formatted;
    size_t n;
    assert_false(dfl_format(sink, "t.df", text, sizeof text - 1, &formatted, &n));
    assert_null(formatted);
    assert_int_equal(dfl_sink_errors(sink), 1);
    dfl_sink_free(sink);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blanks),
        cmocka_unit_test(test_declarations_have_columns),
        cmocka_unit_test(test_descriptions),
        cmocka_unit_test(test_comments),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_a_wrong_text_is_not_formatted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
