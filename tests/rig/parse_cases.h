/* parse_cases.h - wrong programs, and the exact messages about each. It is a table of data for test_parse.c. */
#ifndef TESTS_PARSE_CASES_H
#define TESTS_PARSE_CASES_H

#include <stddef.h>

#define TEXT(literal) literal, sizeof(literal) - 1 /* a source may hold NUL bytes */

struct parse_case {
    const char *name;
    const char *text;
    size_t length;
    const char *messages;
};

static const struct parse_case parse_cases[] = {
    {"missing_semicolon",
     TEXT("graph main {\n"
          "    a = f(b)\n"
          "}\n"
          "graph g { x = f(); }\n"),
     "t.df:2:13: error: expected ';' after the call, found '}'\n"
     "        a = f(b)\n"
     "                ^\n"
     "hint: a statement ends with ';'\n"},
    {"missing_semicolon_before_graph",
     TEXT("graph main { a = f(b) graph g { }\n"),
     "t.df:1:23: error: expected ';' after the call, found 'graph'\n"
     "    graph main { a = f(b) graph g { }\n"
     "                          ^~~~~\n"
     "hint: a statement ends with ';'\n"},
    {"missing_semicolon_same_line",
     TEXT("graph main { a = f(b) c = g(a); }\n"),
     "t.df:1:23: error: expected ';' after the call, found 'c'\n"
     "    graph main { a = f(b) c = g(a); }\n"
     "                          ^\n"
     "hint: a statement ends with ';'\n"},
    {"several_errors_in_one_run",
     TEXT("param = 3;\n"
          "graph main {\n"
          "    = f();\n"
          "    b = g(;\n"
          "    c = h(a);\n"
          "    d h(a);\n"
          "}\n"
          "kernel k(x: f32) cpu \"a.c\";\n"),
     "t.df:1:7: error: expected a name after 'param', found '='\n"
     "    param = 3;\n"
     "          ^\n"
     "t.df:3:5: error: expected a statement or '}', found '='\n"
     "        = f();\n"
     "        ^\n"
     "t.df:4:11: error: expected an expression or ')' after '(', found ';'\n"
     "        b = g(;\n"
     "              ^\n"
     "t.df:6:7: error: expected '=' or '(' after 'd', found 'h'\n"
     "        d h(a);\n"
     "          ^\n"
     "t.df:8:10: error: expected a port, ';' or ')' after '(', found 'x'\n"
     "    kernel k(x: f32) cpu \"a.c\";\n"
     "             ^\n"
     "hint: a port begins with its mode, as in 'in x: f32[n]'; scalars come after a ';'\n"},
    {"missing_brace_before_declaration",
     TEXT("graph main {\n"
          "    for i in 0..4 {\n"
          "        f(i);\n"
          "}\n"
          "kernel k(in x: f32) cpu \"a.c\";\n"),
     "t.df:4:2: error: expected '}' before 'kernel'\n"
     "    }\n"
     "     ^\n"
     "t.df:1:12: note: to close this '{'\n"
     "    graph main {\n"
     "               ^\n"},
    {"missing_brace_at_end",
     TEXT("graph main {\n"
          "    f(x);\n"),
     "t.df:2:10: error: expected '}' before the end of the file\n"
     "        f(x);\n"
     "             ^\n"
     "t.df:1:12: note: to close this '{'\n"
     "    graph main {\n"
     "               ^\n"},
    {"missing_brace_of_platform",
     TEXT("platform p {\n"
          "    cpu host { workers = 3;\n"
          "graph main { }\n"),
     "t.df:2:28: error: expected '}' before 'graph'\n"
     "        cpu host { workers = 3;\n"
     "                               ^\n"
     "t.df:2:14: note: to close this '{'\n"
     "        cpu host { workers = 3;\n"
     "                 ^\n"},
    {"brace_too_many",
     TEXT("graph main { }\n"
          "}\n"
          "param n = 1;\n"),
     "t.df:2:1: error: expected a declaration, found '}'\n"
     "    }\n"
     "    ^\n"
     "hint: there is no '{' that this '}' closes\n"},
    {"statement_outside_graph",
     TEXT("a = f(b);\n"
          "graph main { }\n"),
     "t.df:1:1: error: expected a declaration, found 'a'\n"
     "    a = f(b);\n"
     "    ^\n"
     "hint: statements stand inside a graph: graph main { ... }\n"},
    {"word_misspelt",
     TEXT("kernal add(in a: f32) cpu \"a.c\";\n"
          "graph main { }\n"),
     "t.df:1:1: error: expected a declaration, found 'kernal'\n"
     "    kernal add(in a: f32) cpu \"a.c\";\n"
     "    ^~~~~~\n"
     "hint: did you mean 'kernel'?\n"},
    {"semicolon_after_graph",
     TEXT("graph main { };\n"),
     "t.df:1:15: error: expected a declaration, found ';'\n"
     "    graph main { };\n"
     "                  ^\n"
     "hint: no ';' follows the '}' of a graph or platform\n"},
    {"reserved_word_as_name",
     TEXT("kernel k(in type: f32) cpu \"a.c\";\n"
          "graph main { in = f(); }\n"),
     "t.df:1:13: error: expected a name after 'in', found 'type'\n"
     "    kernel k(in type: f32) cpu \"a.c\";\n"
     "                ^~~~\n"
     "hint: 'type' is a word of the language and cannot be a name\n"
     "t.df:2:14: error: expected a statement or '}', found 'in'\n"
     "    graph main { in = f(); }\n"
     "                 ^~\n"
     "hint: 'in' is a word of the language and cannot be a name\n"},
    {"reserved_word_as_stream",
     TEXT("graph main { graph = f(); }\n"),
     "t.df:1:14: error: expected a statement or '}', found 'graph'\n"
     "    graph main { graph = f(); }\n"
     "                 ^~~~~\n"
     "hint: 'graph' is a word of the language and cannot be a name\n"},
    {"call_missing",
     TEXT("graph main {\n"
          "    y = a;\n"
          "    z = ;\n"
          "    w = 3;\n"
          "}\n"),
     "t.df:2:10: error: expected '(' after 'a', found ';'\n"
     "        y = a;\n"
     "             ^\n"
     "hint: a statement is a call, as in 'c = add(a, b);': a value cannot get a second name\n"
     "t.df:3:9: error: expected a call after '=', found ';'\n"
     "        z = ;\n"
     "            ^\n"
     "t.df:4:9: error: expected a call after '=', found '3'\n"
     "        w = 3;\n"
     "            ^\n"},
    {"port_without_mode",
     TEXT("kernel k(x: f32[n], out y: f32) cpu \"a.c\";\n"),
     "t.df:1:10: error: expected a port, ';' or ')' after '(', found 'x'\n"
     "    kernel k(x: f32[n], out y: f32) cpu \"a.c\";\n"
     "             ^\n"
     "hint: a port begins with its mode, as in 'in x: f32[n]'; scalars come after a ';'\n"},
    {"port_without_format",
     TEXT("kernel k(in x, out y: f32) cpu \"a.c\";\n"),
     "t.df:1:14: error: expected ':' after 'x', found ','\n"
     "    kernel k(in x, out y: f32) cpu \"a.c\";\n"
     "                 ^\n"
     "hint: a port has a format: 'in x: f32[n]'\n"},
    {"scalar_among_ports",
     TEXT("kernel k(in x: f32[n], s: i32) cpu \"a.c\";\n"),
     "t.df:1:24: error: expected a port after ',', found 's'\n"
     "    kernel k(in x: f32[n], s: i32) cpu \"a.c\";\n"
     "                           ^\n"
     "hint: a port begins with its mode, as in 'in x: f32[n]'; scalars come after a ';'\n"},
    {"scalar_type",
     TEXT("arg x: u8 = 3;\n"
          "kernel k(; s: vec) cpu \"a.c\";\n"),
     "t.df:1:8: error: 'u8' is not the type of a scalar\n"
     "    arg x: u8 = 3;\n"
     "           ^~\n"
     "hint: scalars are i32, i64, f32, f64 or str\n"
     "t.df:2:15: error: 'vec' is not the type of a scalar\n"
     "    kernel k(; s: vec) cpu \"a.c\";\n"
     "                  ^~~\n"
     "hint: scalars are i32, i64, f32, f64 or str\n"},
    {"arg_default",
     TEXT("arg x: i32 = n;\n"
          "arg y: i32 = 2 + 3;\n"),
     "t.df:1:14: error: expected a literal after '=', found 'n'\n"
     "    arg x: i32 = n;\n"
     "                 ^\n"
     "t.df:2:16: error: expected ';' after '2', found '+'\n"
     "    arg y: i32 = 2 + 3;\n"
     "                   ^\n"},
    {"trait_twice",
     TEXT("kernel k(in x: f32) ordered sync ordered cpu \"a.c\";\n"),
     "t.df:1:34: error: 'ordered' is given twice\n"
     "    kernel k(in x: f32) ordered sync ordered cpu \"a.c\";\n"
     "                                     ^~~~~~~\n"
     "t.df:1:21: note: first given here\n"
     "    kernel k(in x: f32) ordered sync ordered cpu \"a.c\";\n"
     "                        ^~~~~~~\n"},
    {"trait_after_variant",
     TEXT("kernel k(in x: f32) cpu \"a.c\" ordered;\n"),
     "t.df:1:31: error: expected a variant, 'cost' or ';' after the string, found 'ordered'\n"
     "    kernel k(in x: f32) cpu \"a.c\" ordered;\n"
     "                                  ^~~~~~~\n"
     "hint: traits stand before the variants\n"},
    {"variant_without_file",
     TEXT("kernel k(in x: f32) cpu gpu \"a.cu\";\n"),
     "t.df:1:25: error: expected a string or a code block after 'cpu', found 'gpu'\n"
     "    kernel k(in x: f32) cpu gpu \"a.cu\";\n"
     "                            ^~~\n"},
    {"cost_without_unit",
     TEXT("kernel k(in x: f32) cost cpu 5 gpu 3us;\n"),
     "t.df:1:36: error: expected a class or ';' after the cost, found '3'\n"
     "    kernel k(in x: f32) cost cpu 5 gpu 3us;\n"
     "                                       ^\n"
     "hint: a cost has a unit, as in 'cost cpu 1.2ms gpu 80us'\n"},
    {"for_with_equals",
     TEXT("graph main {\n"
          "    for i = 0..4 { a = f(b); }\n"
          "    c = ;\n"
          "}\n"),
     "t.df:2:11: error: expected 'in' after 'i', found '='\n"
     "        for i = 0..4 { a = f(b); }\n"
     "              ^\n"
     "hint: a loop is 'for i in 0..n { ... }', where i ends at n - 1\n"
     "t.df:3:9: error: expected a call after '=', found ';'\n"
     "        c = ;\n"
     "            ^\n"},
    {"for_without_block",
     TEXT("graph main {\n"
          "    for i in 0..n f(i);\n"
          "}\n"),
     "t.df:2:19: error: expected '{' after 'n', found 'f'\n"
     "        for i in 0..n f(i);\n"
     "                      ^\n"},
    {"if_assigns",
     TEXT("graph main { if n = 3 { f(a); } }\n"),
     "t.df:1:19: error: expected '{' after 'n', found '='\n"
     "    graph main { if n = 3 { f(a); } }\n"
     "                      ^\n"
     "hint: '==' compares\n"},
    {"else_alone",
     TEXT("graph main {\n"
          "    else { f(a); }\n"
          "}\n"),
     "t.df:2:5: error: expected a statement or '}', found 'else'\n"
     "        else { f(a); }\n"
     "        ^~~~\n"
     "hint: 'else' follows the '}' of an 'if'\n"},
    {"nested_call",
     TEXT("graph main { a = f(g(b)); }\n"),
     "t.df:1:20: error: calls do not nest: 'g' is called inside an expression\n"
     "    graph main { a = f(g(b)); }\n"
     "                       ^~~~\n"
     "hint: give its result a name in a statement of its own, as in 'x = g(...);'; "
     "min() and max() are the only functions\n"},
    {"targets_not_closed",
     TEXT("graph main { (a, b = f(x); }\n"),
     "t.df:1:20: error: expected ')' or ',' after 'b', found '='\n"
     "    graph main { (a, b = f(x); }\n"
     "                       ^\n"},
    {"parenthesis_on_other_line",
     TEXT("graph main {\n"
          "    f(a,\n"
          "      b;\n"
          "}\n"),
     "t.df:3:8: error: expected ')' or ',' after 'b', found ';'\n"
     "          b;\n"
     "           ^\n"
     "t.df:2:6: note: to close this '('\n"
     "        f(a,\n"
     "         ^\n"},
    {"hint_without_name",
     TEXT("graph main { f(a) @; g(a) @depth(; }\n"),
     "t.df:1:20: error: expected a name after '@', found ';'\n"
     "    graph main { f(a) @; g(a) @depth(; }\n"
     "                       ^\n"
     "t.df:1:34: error: expected an expression after '(', found ';'\n"
     "    graph main { f(a) @; g(a) @depth(; }\n"
     "                                     ^\n"},
    {"platform_errors",
     TEXT("platform p {\n"
          "    cpu { workers = 3; }\n"
          "    gpu g { memory = GiB; h2d = 6 GB/s 10 us; x = -1; y = 3 }\n"
          "}\n"),
     "t.df:2:9: error: expected a name after 'cpu', found '{'\n"
     "        cpu { workers = 3; }\n"
     "            ^\n"
     "t.df:3:40: error: expected ';' or ',' after 's', found '10'\n"
     "        gpu g { memory = GiB; h2d = 6 GB/s 10 us; x = -1; y = 3 }\n"
     "                                           ^~\n"
     "t.df:3:61: error: expected ';' or ',' after '3', found '}'\n"
     "        gpu g { memory = GiB; h2d = 6 GB/s 10 us; x = -1; y = 3 }\n"
     "                                                                ^\n"},
    {"integer_too_large",
     TEXT("param a = 9223372036854775808;\n"
          "param b = 99999999999999999999999;\n"
          "param c = -9223372036854775808;\n"
          "param d = 2 - 9223372036854775808;\n"),
     "t.df:1:11: error: integer is too large\n"
     "    param a = 9223372036854775808;\n"
     "              ^~~~~~~~~~~~~~~~~~~\n"
     "hint: integers go up to 9223372036854775807 (i64)\n"
     "t.df:2:11: error: integer is too large\n"
     "    param b = 99999999999999999999999;\n"
     "              ^~~~~~~~~~~~~~~~~~~~~~~\n"
     "hint: integers go up to 9223372036854775807 (i64)\n"
     "t.df:4:15: error: integer is too large\n"
     "    param d = 2 - 9223372036854775808;\n"
     "                  ^~~~~~~~~~~~~~~~~~~\n"
     "hint: integers go up to 9223372036854775807 (i64)\n"},
    {"floats",
     TEXT("param a = 1. + .5;\n"
          "param b = 1.e5;\n"
          "param c = 1e400;\n"
          "param d = 0x1F;\n"),
     "t.df:1:11: error: a float needs digits on both sides of its point\n"
     "    param a = 1. + .5;\n"
     "              ^~\n"
     "hint: write '1.0'\n"
     "t.df:1:16: error: a float needs digits on both sides of its point\n"
     "    param a = 1. + .5;\n"
     "                   ^~\n"
     "hint: write '0.5'\n"
     "t.df:2:11: error: a float needs digits on both sides of its point\n"
     "    param b = 1.e5;\n"
     "              ^~~~\n"
     "hint: write '1.0e5'\n"
     "t.df:3:11: error: number is too large\n"
     "    param c = 1e400;\n"
     "              ^~~~~\n"
     "hint: floats go up to 1.797e308 (f64)\n"
     "t.df:4:11: error: hexadecimal numbers are not part of the language\n"
     "    param d = 0x1F;\n"
     "              ^~~~\n"
     "hint: write '0x1F' in decimal\n"},
    {"string_with_newline",
     TEXT("import \"lib.df\n"
          "param n = ;\n"),
     "t.df:1:8: error: string is not closed on its line\n"
     "    import \"lib.df\n"
     "           ^~~~~~~\n"
     "hint: close it with '\"'; a line break in a string is written '\\n'\n"
     "t.df:2:11: error: expected an expression after '=', found ';'\n"
     "    param n = ;\n"
     "              ^\n"},
    {"string_escapes",
     TEXT("link \"a\\q\\x\\400\\0\\u12\\ud800\\U00110000\";\n"),
     "t.df:1:8: error: unknown escape in a string\n"
     "    link \"a\\q\\x\\400\\0\\u12\\ud800\\U00110000\";\n"
     "           ^~\n"
     "hint: the escapes are C's: \\n \\t \\\\ \\\" \\xHH \\ooo and so on; a backslash is '\\\\'\n"
     "t.df:1:10: error: '\\x' needs hexadecimal digits\n"
     "    link \"a\\q\\x\\400\\0\\u12\\ud800\\U00110000\";\n"
     "             ^~\n"
     "t.df:1:12: error: escape does not fit in a byte\n"
     "    link \"a\\q\\x\\400\\0\\u12\\ud800\\U00110000\";\n"
     "               ^~~~\n"
     "t.df:1:16: error: string cannot hold a NUL character\n"
     "    link \"a\\q\\x\\400\\0\\u12\\ud800\\U00110000\";\n"
     "                   ^~\n"
     "t.df:1:18: error: escape does not stand for a Unicode character\n"
     "    link \"a\\q\\x\\400\\0\\u12\\ud800\\U00110000\";\n"
     "                     ^~~~\n"
     "hint: '\\u' takes four hexadecimal digits, '\\U' eight\n"
     "t.df:1:22: error: escape does not stand for a Unicode character\n"
     "    link \"a\\q\\x\\400\\0\\u12\\ud800\\U00110000\";\n"
     "                         ^~~~~~\n"
     "hint: '\\u' takes four hexadecimal digits, '\\U' eight\n"
     "t.df:1:28: error: escape does not stand for a Unicode character\n"
     "    link \"a\\q\\x\\400\\0\\u12\\ud800\\U00110000\";\n"
     "                               ^~~~~~~~~~\n"
     "hint: '\\u' takes four hexadecimal digits, '\\U' eight\n"},
    {"string_single_quotes",
     TEXT("link 'openblas';\n"),
     "t.df:1:6: error: strings stand in '\"', not in single quotes\n"
     "    link 'openblas';\n"
     "         ^~~~~~~~~~\n"},
    {"nul_in_string",
     TEXT("link \"a\000b\";\n"),
     "t.df:1:8: error: string cannot hold a NUL character\n"
     "    link \"a\\x00b\";\n"
     "           ^~~~\n"},
    {"comment_not_closed",
     TEXT("graph main { }\n"
          "/* ends\n"
          "nowhere\n"),
     "t.df:2:1: error: comment is never closed\n"
     "    /* ends\n"
     "    ^~\n"
     "hint: close it with '*/'\n"},
    {"comment_not_closed_in_graph",
     TEXT("graph main {\n"
          "    f(a); /* ends\n"
          "}\n"),
     "t.df:2:11: error: comment is never closed\n"
     "        f(a); /* ends\n"
     "              ^~\n"
     "hint: close it with '*/'\n"},
    {"code_not_closed",
     TEXT("kernel k(in x: f32) cpu {{ if (x) {\n"
          "}}\n"
          "graph main { }\n"),
     "t.df:1:25: error: code block is never closed\n"
     "    kernel k(in x: f32) cpu {{ if (x) {\n"
     "                            ^~\n"
     "hint: close it with '}}'; the braces inside it must be balanced\n"},
    {"unknown_characters",
     TEXT("param a = 3 & 4;\n"
          "param b = $$$ 5;\n"
          "param c = 6; # no\n"),
     "t.df:1:13: error: character '&' is not part of the language\n"
     "    param a = 3 & 4;\n"
     "                ^\n"
     "hint: 'and' is '&&'\n"
     "t.df:2:11: error: character '$' is not part of the language\n"
     "    param b = $$$ 5;\n"
     "              ^\n"
     "t.df:3:14: error: character '#' is not part of the language\n"
     "    param c = 6; # no\n"
     "                 ^\n"
     "hint: comments begin with '//' or stand between '/*' and '*/'\n"},
    {"utf8_outside_strings",
     TEXT("param gr\303\266\303\237e = 3;\n"),
     "t.df:1:9: error: 4 bytes from 0xc3 on are not part of the language\n"
     "    param gr\303\266\303\237e = 3;\n"
     "            ^~\n"
     "hint: letters other than a-z and A-Z may stand in strings and comments only\n"},
    {"nul_bytes",
     TEXT("param n\000 = 3;\n"
          "param m = 4\000;\n"),
     "t.df:1:8: error: byte 0x00 is not part of the language\n"
     "    param n\\x00 = 3;\n"
     "           ^~~~\n"
     "hint: is this a text file?\n"
     "t.df:2:12: error: byte 0x00 is not part of the language\n"
     "    param m = 4\\x00;\n"
     "               ^~~~\n"
     "hint: is this a text file?\n"},
    {"no_text",
     TEXT("param n = 3;\n"
          "param m\001 = \377\000;\n"
          "param n\002\003 = ;\n"),
     "t.df:2:8: error: this is no text file: from byte 0x01 on, 5 bytes in 4 KiB are no text in UTF-8\n"
     "    param m\\x01 = \\xff\\x00;\n"
     "           ^~~~\n"},
    {"crlf",
     TEXT("param n = 3;\r\n"
          "param m = ;\r\n"),
     "t.df:2:11: error: expected an expression after '=', found ';'\n"
     "    param m = ;\n"
     "              ^\n"},
    {"byte_order_mark",
     TEXT("\357\273\277param = 3;\n"),
     "t.df:1:7: error: expected a name after 'param', found '='\n"
     "    param = 3;\n"
     "          ^\n"},
    {"tabs",
     TEXT("graph main {\n"
          "\t\tf(a)\tg(b);\n"
          "}\n"),
     "t.df:2:8: error: expected ';' after the call, found 'g'\n"
     "    \t\tf(a)\tg(b);\n"
     "    \t\t    \t^\n"
     "hint: a statement ends with ';'\n"},
    {"end_of_file_early",
     TEXT("param n ="),
     "t.df:1:10: error: expected an expression after '=', found the end of the file\n"
     "    param n =\n"
     "             ^\n"},
    {"rank_too_large",
     TEXT("type t = f32[1, 2, 3, 4, 5, 6];\n"),
     "t.df:1:26: error: format has more than 4 dimensions\n"
     "    type t = f32[1, 2, 3, 4, 5, 6];\n"
     "                             ^\n"},
};

#endif
