/* parser.y - the grammar of the language (docs/language.md). Each rule's action calls one constructor of build.h.
 *
 * Stack:    every list is left-recursive, and so are runs of prefix operators and else-if chains. Since reader.c limits
 *           the nesting of brackets, the depth of the parser's stack is bounded for any input.
 * Recovery: after an error in a block, parsing resumes after the next ';', at the next '}', or with the next '{' ...
 *           '}' as a separate block. After an error outside blocks it resumes at the next declaration, which begins
 *           with a reserved word.
 * Words:    reserved are the words that begin a declaration or statement, the port modes and else. Traits, cost, split,
 *           halo, border, open, close, let, while and dynamic are keywords only in their context and otherwise ordinary names.
 *           `table` is a keyword only where lexer.l sees a declaration begin, and `promise` where it sees a block of promises begin. Names of reductions, and min and max
 *           before '=', are ordinary names here.
 * Formulas: have their own nonterminal `fexpr`, because `expr` has neither conditional nor bitwise operators.
 */
%code requires {
#include "dsl/build.h"
}

%code provides {
/* The header that flex makes knows these types by the names that bison uses without a prefix. */
#define YYSTYPE DFL_YYSTYPE
#define YYLTYPE DFL_YYLTYPE
}

%define api.pure full
%define api.prefix {dfl_yy}
%define api.token.prefix {DFL_T_}
%define api.location.type {struct dfl_loc}
%define parse.error custom
%define parse.lac full
%locations
%expect 0
%param {struct dfl_reader *r}

%union {
    struct dfl_name name;
    struct dfl_number number;
    const char *text;
    struct dfl_code code;
    struct dfl_brace brace;
    bool flag;
    enum dfl_mode mode;
    enum dfl_op op;
    enum dfl_scalar scalar_type;
    struct dfl_tree tree;
    struct dfl_prefix prefix;
    struct dfl_format *format;
    struct dfl_port *port;
    struct dfl_scalar_decl *scalar;
    struct dfl_sig *sig;
    struct dfl_kernel *kernel;
    struct dfl_formula *formula;
    struct dfl_ranges ranges;
    struct dfl_choices choices;
    struct dfl_variant *variant;
    struct dfl_price *price;
    struct dfl_target *target;
    struct dfl_actual *actual;
    struct dfl_hint *hint;
    struct dfl_stmt *stmt;
    struct dfl_chain chain;
    struct dfl_block *block;
    struct dfl_graph *graph;
    struct dfl_promise *promise;
    struct dfl_property *property;
    struct dfl_device *device;
    struct dfl_platform *platform;
    struct dfl_decl *decl;
}

%code {
#define YYMAXDEPTH 20000 /* more than DFL_MAX_NESTING brackets and braces can fill */

/* A span on one line. It covers the whole rule if the rule is on one line; else the part of its first line that is
 * known. */
#define YYLLOC_DEFAULT(Current, Rhs, N) \
    do { \
        if (N) { \
            (Current) = YYRHSLOC(Rhs, 1); \
            if (YYRHSLOC(Rhs, N).line == (Current).line && YYRHSLOC(Rhs, N).end_col > (Current).end_col) \
                (Current).end_col = YYRHSLOC(Rhs, N).end_col; \
        } else { \
            (Current) = YYRHSLOC(Rhs, 0); \
            (Current).col = (Current).end_col; \
            (Current).end_col++; \
        } \
    } while (0)

int dfl_yylex(DFL_YYSTYPE *value, struct dfl_loc *loc, struct dfl_reader *r);

static void yyerror(const struct dfl_loc *loc, struct dfl_reader *r, const char *message);
static void add(struct dfl_reader *r, struct dfl_decl *decl);
static const struct dfl_name no_name = {0};
static const struct dfl_tree no_tree = {0};
}

%token END 0 "the end of the file"
%token <name> NAME "a name"
%token <number> INT "an integer"
%token <number> FLOAT "a float"
%token <text> STRING "a string"
%token <code> CODE "a code block"
%token <brace> '}'

%token <name> PARAM "'param'" ARG "'arg'" TYPE "'type'" IMPORT "'import'" LINK "'link'"
%token <name> KERNEL "'kernel'" GRAPH "'graph'" PLATFORM "'platform'"
%token <name> IN "'in'" OUT "'out'" INOUT "'inout'" TMP "'tmp'" ACC "'acc'"
%token <name> FOR "'for'" IF "'if'" ELSE "'else'"
%token <name> ORDERED "'ordered'" STREAM "'stream'" ONCE "'once'" SYNC "'sync'" THREADS "'threads'"
%token <name> TOLERANCE "'tolerance'" RESTART "'restart'" RESUME "'resume'" ZERO_EXTENTS "'zero_extents'" USES "'uses'"
%token <name> FLAGS "'flags'" OPEN "'open'" CLOSE "'close'" COST "'cost'" SPLIT "'split'" HALO "'halo'" DYNAMIC "'dynamic'"
%token <name> HELP "'help'" WHILE "'while'"
%token <name> TABLE "'table'" RESOURCE "'resource'" PROMISE "'promise'" BORDER "'border'" LET "'let'"
%token RANGE "'..'" LAUNCH "'<<<'" LAUNCH_END "'>>>'" ARROW "'->'"
%token LE "'<='" GE "'>='" EQ "'=='" NE "'!='" AND "'&&'" OR "'||'"
%token SHL "'<<'" SHR "'>>'" INCREASE "'+='"

%left OR
%left AND
%left '|'
%left '^'
%left '&'
%left EQ NE
%left '<' '>' LE GE
%left SHL SHR
%left '+' '-'
%left '*' '/' '%'

%type <name> name result class value_name assign
%type <flag> dynamic
%type <number> number
%type <tree> help expr unary primary exprs exprs_opt dims indices launch launch_opt code_file flags more_files
%type <prefix> prefix prefixes fprefix fprefixes
%type <format> format annotation
%type <mode> mode
%type <port> port ports ports_opt
%type <scalar> scalar scalars scalars_opt
%type <scalar_type> scalar_type
%type <tree> literal default edge first fexpr fexprs fbinary funary fprimary fargs where body left_indices
%type <choices> choice choices
%type <sig> sig
%type <kernel> kernel kernel_head kernel_body formula_kernel
%type <formula> formula formulas formula_block
%type <ranges> range ranges
%type <variant> variant variant_code target_call target_args
%type <price> price prices
%type <target> target targets lhs
%type <actual> actual actuals actuals_opt
%type <hint> hint hints
%type <stmt> call stmt stmts
%type <chain> ifs
%type <block> block
%type <graph> graph
%type <promise> promise promises
%type <op> relation
%type <property> property properties
%type <device> device devices
%type <platform> platform
%type <decl> decl

%%

file: decls;

decls:
  %empty
| decls decl                            { add(r, $2); }
| decls error
;

decl:
  PARAM name '=' expr dynamic help ';'  { $$ = dfl_build_decl(r, @$, DFL_PARAM, $2);
                                          $$->value = $4.e; $$->dynamic = $5; $$->help = $6.e; }
| ARG name ':' scalar_type default help ';'
                                        { $$ = dfl_build_decl(r, @$, DFL_ARG, $2);
                                          $$->scalar = $4; $$->value = $5.e; $$->help = $6.e; }
| TYPE name '=' format ';'              { $$ = dfl_build_decl(r, @$, DFL_TYPE, $2); $$->format = $4; }
| TABLE name ':' format '=' '{' exprs '}' ';'
                                        { $$ = dfl_build_decl(r, @$, DFL_TABLE, $2);
                                          $$->format = $4; $$->value = dfl_build_exprs($7);
                                          if ($8.missing) dfl_reader_report_missing(r, @6); }
| RESOURCE name '=' expr ';'            { $$ = dfl_build_decl(r, @$, DFL_RESOURCE, $2); $$->value = $4.e; }
| IMPORT STRING ';'                     { $$ = dfl_build_decl(r, @$, DFL_IMPORT, (struct dfl_name){$2, @2}); }
| LINK STRING ';'                       { $$ = dfl_build_decl(r, @$, DFL_LINK, (struct dfl_name){$2, @2}); }
| kernel                                { $$ = dfl_build_decl(r, @$, DFL_KERNEL, $1->name); $$->kernel = $1; }
| graph                                 { $$ = $1 ? dfl_build_decl(r, @$, DFL_GRAPH, $1->name) : NULL;
                                          if ($$) $$->graph = $1; }
| platform                              { $$ = dfl_build_decl(r, @$, DFL_PLATFORM, $1->name); $$->platform = $1; }
;

dynamic: %empty { $$ = false; } | DYNAMIC { $$ = true; };

help: %empty { $$ = no_tree; } | HELP STRING { $$ = dfl_build_string(r, @2, $2); };

default:
  %empty                                { $$ = no_tree; }
| '=' literal                           { $$ = $2; }
;

literal:
  number                                { $$ = dfl_build_plain(r, dfl_build_number(r, @$, $1)); }
| '-' number                            { $$.e = dfl_build_negative(r, @$, $2); }
| STRING                                { $$ = dfl_build_string(r, @$, $1); }
;

number: INT | FLOAT;

name: value_name | LET;

value_name: NAME | ORDERED | STREAM | ONCE | SYNC | THREADS | TOLERANCE | RESTART | RESUME | ZERO_EXTENTS | USES | FLAGS | OPEN | CLOSE | COST | SPLIT
          | HALO | BORDER | DYNAMIC | HELP | WHILE;

class: NAME | BORDER | LET | HELP;

/* ---- formats and signatures ---- */

format: name dims                       { $$ = dfl_build_format(r, @$, $1, $2); };

dims: %empty { $$ = no_tree; } | '[' exprs ']' { $$ = $2; };

sig: '(' ports_opt scalars_opt ')'      { $$ = dfl_build_sig(r, @$, $2, $3); };

ports_opt: %empty { $$ = NULL; } | ports;

ports:
  port                                  { $$ = $1; DFL_ONE($1); }
| ports ',' port                        { $$ = $3; DFL_MORE($1, $3); }
| ports ',' edge                        { $$ = $1; if (!dfl_build_border_more(r, $1, $3)) YYERROR; }
;

port:
  mode name ':' format                  { $$ = dfl_build_port(r, @$, $1, $2, $4); }
| mode name ':' format SPLIT name       { $$ = dfl_build_port(r, @$, $1, $2, $4); $$->split = $6; }
| mode name ':' format SPLIT name HALO expr
                                        { $$ = dfl_build_port(r, @$, $1, $2, $4); $$->split = $6; $$->halo = $8.e; }
| port BORDER edge                      { $$ = $1; $$->loc = @$; dfl_build_border(r, $1, @2, $3); }
| port '=' first                        { $$ = $1; $$->loc = @$; dfl_build_initial(r, $1, @2, $3); }
;

first:
  number                                { $$ = dfl_build_plain(r, dfl_build_number(r, @$, $1)); }
| '-' number                            { $$.e = dfl_build_negative(r, @$, $2); }
;

edge:
  name                                  { $$ = dfl_build_ref(r, $1); }
| number                                { $$ = dfl_build_plain(r, dfl_build_number(r, @$, $1)); }
| '-' number                            { $$.e = dfl_build_negative(r, @$, $2); }
;

mode:
  IN                                    { $$ = DFL_IN; }
| OUT                                   { $$ = DFL_OUT; }
| INOUT                                 { $$ = DFL_INOUT; }
| TMP                                   { $$ = DFL_TMP; }
| ACC                                   { $$ = DFL_ACC; }
;

scalars_opt: %empty { $$ = NULL; } | ';' scalars { $$ = $2; };

scalars:
  scalar                                { $$ = $1; DFL_ONE($1); }
| scalars ',' scalar                    { $$ = $3; DFL_MORE($1, $3); }
;

scalar: name ':' scalar_type            { $$ = dfl_build_scalar(r, @$, $1, $3); };

scalar_type: name                       { $$ = dfl_build_scalar_type(r, $1); };

/* ---- kernels ---- */

kernel:
  kernel_body ';'                       { $$ = dfl_build_kernel_end($1, NULL); }
| kernel_body COST prices ';'           { $$ = dfl_build_kernel_end($1, $3); }
| formula_kernel                        { $$ = dfl_build_kernel_end($1, NULL); }
| formula_kernel ';'                    { $$ = dfl_build_kernel_end($1, NULL); }
| formula_kernel COST prices ';'        { $$ = dfl_build_kernel_end($1, $3); }
;

kernel_body:
  kernel_head
| kernel_body variant                   { $$ = $1; dfl_build_kernel_variant($1, $2); }
;

formula_kernel:
  kernel_head formula_block             { $$ = $1; $$->loc = @$; dfl_build_formulas($1, @2, $2); }
| formula_kernel variant                { $$ = $1; dfl_build_kernel_variant($1, $2); }
;

kernel_head:
  KERNEL name sig                       { $$ = dfl_build_kernel(r, @$, $2, $3); }
| kernel_head ORDERED                   { $$ = $1; dfl_build_trait(r, $1, @2, DFL_TRAIT_ORDERED, NULL); }
| kernel_head STREAM                    { $$ = $1; dfl_build_trait(r, $1, @2, DFL_TRAIT_STREAM, NULL); }
| kernel_head ONCE                      { $$ = $1; dfl_build_trait(r, $1, @2, DFL_TRAIT_ONCE, NULL); }
| kernel_head RESTART                   { $$ = $1; dfl_build_trait(r, $1, @2, DFL_TRAIT_RESTART, NULL); }
| kernel_head RESUME                    { $$ = $1; dfl_build_trait(r, $1, @2, DFL_TRAIT_RESUME, NULL); }
| kernel_head ZERO_EXTENTS              { $$ = $1; dfl_build_trait(r, $1, @2, DFL_TRAIT_ZERO_EXTENTS, NULL); }
| kernel_head SYNC                      { $$ = $1; dfl_build_trait(r, $1, @2, DFL_TRAIT_SYNC, NULL); }
| kernel_head THREADS '(' expr ')'      { $$ = $1; dfl_build_trait(r, $1, @2, DFL_TRAIT_THREADS, $4.e); }
| kernel_head TOLERANCE '(' exprs ')'   { $$ = $1; dfl_build_trait(r, $1, @2, DFL_TRAIT_TOLERANCE, dfl_build_exprs($4)); }
| kernel_head USES '(' exprs ')'        { $$ = $1; dfl_build_trait(r, $1, @2, DFL_TRAIT_USES, dfl_build_exprs($4)); }
;

variant:
  variant_code
| variant OPEN name                     { $$ = $1; dfl_build_state_function(r, $2, &$1->open, $3); }
| variant CLOSE name                    { $$ = $1; dfl_build_state_function(r, $2, &$1->close, $3); }
;

variant_code:
  class code_file more_files            { $$ = dfl_build_files(dfl_build_variant(r, @$, $1), $2, $3); }
| class code_file more_files ':' target_call
                                        { $$ = dfl_build_files($5, $2, $3); $$->loc = @$; $$->cls = $1; }
| class code_file more_files CODE       { $$ = dfl_build_files(dfl_build_variant(r, @$, $1), $2, $3);
                                          $$->code = $4.text; $$->code_loc = $4.loc; }
| class CODE                            { $$ = dfl_build_variant(r, @$, $1);
                                          $$->code = $2.text; $$->code_loc = $2.loc; }
;

more_files:
  %empty                                { $$ = no_tree; }
| more_files code_file                  { $$ = $1.e ? dfl_build_list_more($1, $2) : dfl_build_list($2); }
;

code_file: STRING flags                 { $$ = dfl_build_string(r, @1, $1); $$.e->args = $2.e; };

flags: %empty { $$ = no_tree; } | FLAGS STRING { $$ = dfl_build_string(r, @2, $2); };

target_call:
  name launch_opt target_args result    { $$ = $3; $$->has_target = true; $$->target = $1; $$->result = $4;
                                          $$->has_launch = $2.e != NULL; $$->launch = dfl_build_exprs($2);
                                          if ($2.e) $$->launch_loc = @2; }
;

launch_opt: %empty { $$ = no_tree; } | launch;

launch: LAUNCH exprs LAUNCH_END         { $$ = $2; };

target_args:
  %empty                                { $$ = dfl_build_variant(r, @$, no_name); }
| '(' ')'                               { $$ = dfl_build_variant(r, @$, no_name); $$->has_args = true; }
| '(' exprs ')'                         { $$ = dfl_build_variant(r, @$, no_name); $$->has_args = true;
                                          $$->args = dfl_build_exprs($2); }
;

result: %empty { $$ = no_name; } | ARROW name { $$ = $2; };

prices:
  price                                 { $$ = $1; DFL_ONE($1); }
| prices price                          { $$ = $2; DFL_MORE($1, $2); }
;

price:
  class number NAME                     { $$ = dfl_build_price(r, @$, $1, dfl_build_quantity(r, @2, $2, $3).e); }
| class '(' expr ')'                    { $$ = dfl_build_price(r, @$, $1, $3.e); }
;

/* ---- graphs ---- */

graph:
  GRAPH name block                      { $$ = dfl_build_graph(r, @$, $2, NULL, $3); }
| GRAPH name sig block                  { $$ = dfl_build_graph(r, @$, $2, $3, $4); }
| GRAPH error block                     { $$ = NULL; yyerrok; }
| GRAPH error ';'                       { $$ = NULL; }
;

block:
  '{' stmts '}'                         { $$ = dfl_build_block(r, @1, $2);
                                          if ($3.missing) dfl_reader_report_missing(r, @1); }
| '{' stmts error '}'                   { $$ = dfl_build_block(r, @1, $2); yyerrok; }
;

stmts:
  %empty                                { $$ = NULL; }
| stmts stmt                            { $$ = $2; if ($1) DFL_MORE($1, $2); else DFL_ONE($2); }
| stmts promise_block                   { $$ = $1; }
| stmts error ';'                       { $$ = $1; yyerrok; }
| stmts error block                     { $$ = $1; yyerrok; }
;

promise_block:
  PROMISE '{' promises '}'              { dfl_build_promises(r, $3); if ($4.missing) dfl_reader_report_missing(r, @2); }
| PROMISE '{' promises error '}'        { yyerrok; }
;

promises:
  %empty                                { $$ = NULL; }
| promises promise                      { $$ = $2; if ($1) DFL_MORE($1, $2); else DFL_ONE($2); }
| promises error ';'                    { $$ = $1; yyerrok; }
;

promise:
  expr ';'                              { $$ = dfl_build_promise_of(r, @$, $1); }
| name name relation expr ';'           { $$ = dfl_build_promise(r, @$, $1, $2, $3, $4.e); }
| name number ';'                       { $$ = dfl_build_promise(r, @$, $1, no_name, DFL_OP_NOT, dfl_build_plain(r, dfl_build_number(r, @2, $2)).e); }
| name name ';'                         { $$ = dfl_build_promise(r, @$, $1, no_name, DFL_OP_NOT, dfl_build_ref(r, $2).e); }
;

relation: LE { $$ = DFL_OP_LE; } | GE { $$ = DFL_OP_GE; } | '<' { $$ = DFL_OP_LT; } | '>' { $$ = DFL_OP_GT; } | '=' { $$ = DFL_OP_EQ; };

stmt:
  lhs '=' call hints ';'                { $$ = $3; $$->loc = @$; DFL_FIRST($$->targets, $1); DFL_FIRST($$->hints, $4); }
| call hints ';'                        { $$ = $1; $$->loc = @$; DFL_FIRST($$->hints, $2); }
| FOR name IN expr RANGE expr block     { $$ = dfl_build_stmt(r, @$, DFL_STMT_FOR); $$->var = $2;
                                          $$->from = $4.e; $$->to = $6.e; $$->body = $7; }
| FOR name IN expr RANGE expr WHILE expr block
                                        { $$ = dfl_build_stmt(r, @$, DFL_STMT_FOR); $$->var = $2;
                                          $$->from = $4.e; $$->to = $6.e; $$->cond = $8.e; $$->body = $9; }
| ifs                                   { $$ = $1.first; }
| ifs ELSE block                        { $$ = $1.first; $1.last->otherwise = $3; }
;

ifs:
  IF expr block                         { $$ = dfl_build_if(r, @$, $2.e, $3); }
| ifs ELSE IF expr block                { $$ = dfl_build_else_if(r, $1, dfl_build_if(r, @3, $4.e, $5)); }
;

lhs: target { $$ = $1; DFL_ONE($1); } | '(' targets ')' { $$ = $2; };

targets:
  target                                { $$ = $1; DFL_ONE($1); }
| targets ',' target                    { $$ = $3; DFL_MORE($1, $3); }
;

target: name indices annotation         { $$ = dfl_build_target(r, @$, $1, $2, $3); };

indices: %empty { $$ = no_tree; } | '[' exprs ']' { $$ = $2; };

annotation: %empty { $$ = NULL; } | ':' format { $$ = $2; };

call: name '(' actuals_opt ')'          { $$ = dfl_build_call(r, @$, $1, $3); };

actuals_opt: %empty { $$ = NULL; } | actuals;

actuals:
  actual                                { $$ = $1; DFL_ONE($1); }
| actuals ',' actual                    { $$ = $3; DFL_MORE($1, $3); }
;

actual:
  expr                                  { $$ = dfl_build_actual(r, no_name, $1.e); }
| name '=' expr                         { $$ = dfl_build_actual(r, $1, $3.e); }
;

hints:
  %empty                                { $$ = NULL; }
| hints hint                            { $$ = $2; if ($1) DFL_MORE($1, $2); else DFL_ONE($2); }
;

hint:
  '@' name                              { $$ = dfl_build_hint(r, @$, $2, NULL); }
| '@' name '(' expr ')'                 { $$ = dfl_build_hint(r, @$, $2, $4.e); }
;

/* ---- expressions ---- */

exprs_opt: %empty { $$ = no_tree; } | exprs;

exprs:
  expr                                  { $$ = dfl_build_list($1); }
| exprs ',' expr                        { $$ = dfl_build_list_more($1, $3); }
;

expr:
  unary
| expr OR expr                          { $$ = dfl_build_binary(r, @$, DFL_OP_OR, $1, $3); }
| expr AND expr                         { $$ = dfl_build_binary(r, @$, DFL_OP_AND, $1, $3); }
| expr EQ expr                          { $$ = dfl_build_binary(r, @$, DFL_OP_EQ, $1, $3); }
| expr NE expr                          { $$ = dfl_build_binary(r, @$, DFL_OP_NE, $1, $3); }
| expr '<' expr                         { $$ = dfl_build_binary(r, @$, DFL_OP_LT, $1, $3); }
| expr '>' expr                         { $$ = dfl_build_binary(r, @$, DFL_OP_GT, $1, $3); }
| expr LE expr                          { $$ = dfl_build_binary(r, @$, DFL_OP_LE, $1, $3); }
| expr GE expr                          { $$ = dfl_build_binary(r, @$, DFL_OP_GE, $1, $3); }
| expr '+' expr                         { $$ = dfl_build_binary(r, @$, DFL_OP_ADD, $1, $3); }
| expr '-' expr                         { $$ = dfl_build_binary(r, @$, DFL_OP_SUB, $1, $3); }
| expr '*' expr                         { $$ = dfl_build_binary(r, @$, DFL_OP_MUL, $1, $3); }
| expr '/' expr                         { $$ = dfl_build_binary(r, @$, DFL_OP_DIV, $1, $3); }
| expr '%' expr                         { $$ = dfl_build_binary(r, @$, DFL_OP_MOD, $1, $3); }
;

unary:
  primary                               { $$ = dfl_build_plain(r, $1); }
| prefixes primary                      { $$ = dfl_build_unary(r, $1, $2); }
;

prefixes:
  prefix
| prefixes prefix                       { $$ = dfl_build_prefix_more(r, $1, $2); }
;

prefix:
  '-'                                   { $$ = dfl_build_prefix(r, @$, DFL_OP_NEG); }
| '!'                                   { $$ = dfl_build_prefix(r, @$, DFL_OP_NOT); }
;

primary:
  number                                { $$ = dfl_build_number(r, @$, $1); }
| number NAME                           { $$ = dfl_build_quantity(r, @$, $1, $2); }
| STRING                                { $$ = dfl_build_string(r, @$, $1); }
| name                                  { $$ = dfl_build_ref(r, $1); }
| name '[' exprs ']'                    { $$ = dfl_build_index(r, @$, $1, $3); }
| name '(' exprs_opt ')'                { $$ = dfl_build_function(r, @$, $1, $3); }
| '(' expr ')'                          { $$ = $2; $$.e->loc = @$; }
;

/* ---- formulas ---- */

formula_block:
  '{' formulas '}'                      { $$ = $2; if ($3.missing) dfl_reader_report_missing(r, @1); }
| '{' formulas error '}'                { $$ = $2; yyerrok; }
| '{' formulas statement_word error '}' { $$ = $2; yyerrok; }
;

formulas:
  %empty                                { $$ = NULL; }
| formulas formula                      { $$ = $2; if ($1) DFL_MORE($1, $2); else DFL_ONE($2); }
| formulas error ';'                    { $$ = $1; yyerrok; }
| formulas error formula_block          { $$ = $1; yyerrok; }
| formulas statement_word error formula_block
                                        { $$ = $1; yyerrok; }
;

statement_word: FOR | IF | ELSE;         /* dfl_expect_report() says that these are no formulas */

formula:
  LET name left_indices '=' fexpr ';'   { $$ = dfl_build_let(r, @$, $2, $3, $5.e); }
| value_name left_indices assign fexpr ';'
                                        { $$ = dfl_build_formula(r, @$, $1, $2, $3, $4.e); }
;

left_indices: %empty { $$ = no_tree; } | '[' fexprs ']' { $$ = $2; };

assign:
  '='                                   { $$ = (struct dfl_name){"", @1}; }
| INCREASE                              { $$ = (struct dfl_name){"+", @1}; }
| name '='                              { $$ = $1; }
;

fexprs:
  fexpr                                 { $$ = dfl_build_list($1); }
| fexprs ',' fexpr                      { $$ = dfl_build_list_more($1, $3); }
;

fexpr:
  fbinary
| choices fbinary                       { $$ = dfl_build_choice_last(r, $1, $2); }
;

choices:
  choice
| choices choice                        { $$ = dfl_build_choice_more(r, $1, $2); }
;

choice: fbinary '?' fexpr ':'           { $$ = dfl_build_choice(r, @$, $1, $3); };

fbinary:
  funary
| fbinary OR fbinary                    { $$ = dfl_build_binary(r, @$, DFL_OP_OR, $1, $3); }
| fbinary AND fbinary                   { $$ = dfl_build_binary(r, @$, DFL_OP_AND, $1, $3); }
| fbinary '|' fbinary                   { $$ = dfl_build_binary(r, @$, DFL_OP_BITOR, $1, $3); }
| fbinary '^' fbinary                   { $$ = dfl_build_binary(r, @$, DFL_OP_BITXOR, $1, $3); }
| fbinary '&' fbinary                   { $$ = dfl_build_binary(r, @$, DFL_OP_BITAND, $1, $3); }
| fbinary EQ fbinary                    { $$ = dfl_build_binary(r, @$, DFL_OP_EQ, $1, $3); }
| fbinary NE fbinary                    { $$ = dfl_build_binary(r, @$, DFL_OP_NE, $1, $3); }
| fbinary '<' fbinary                   { $$ = dfl_build_binary(r, @$, DFL_OP_LT, $1, $3); }
| fbinary '>' fbinary                   { $$ = dfl_build_binary(r, @$, DFL_OP_GT, $1, $3); }
| fbinary LE fbinary                    { $$ = dfl_build_binary(r, @$, DFL_OP_LE, $1, $3); }
| fbinary GE fbinary                    { $$ = dfl_build_binary(r, @$, DFL_OP_GE, $1, $3); }
| fbinary SHL fbinary                   { $$ = dfl_build_binary(r, @$, DFL_OP_SHL, $1, $3); }
| fbinary SHR fbinary                   { $$ = dfl_build_binary(r, @$, DFL_OP_SHR, $1, $3); }
| fbinary '+' fbinary                   { $$ = dfl_build_binary(r, @$, DFL_OP_ADD, $1, $3); }
| fbinary '-' fbinary                   { $$ = dfl_build_binary(r, @$, DFL_OP_SUB, $1, $3); }
| fbinary '*' fbinary                   { $$ = dfl_build_binary(r, @$, DFL_OP_MUL, $1, $3); }
| fbinary '/' fbinary                   { $$ = dfl_build_binary(r, @$, DFL_OP_DIV, $1, $3); }
| fbinary '%' fbinary                   { $$ = dfl_build_binary(r, @$, DFL_OP_MOD, $1, $3); }
;

funary:
  fprimary                              { $$ = dfl_build_plain(r, $1); }
| fprefixes fprimary                    { $$ = dfl_build_unary(r, $1, $2); }
;

fprefixes:
  fprefix
| fprefixes fprefix                     { $$ = dfl_build_prefix_more(r, $1, $2); }
;

fprefix:
  prefix
| '~'                                   { $$ = dfl_build_prefix(r, @$, DFL_OP_BITNOT); }
;

fprimary:
  number                                { $$ = dfl_build_number(r, @$, $1); }
| name                                  { $$ = dfl_build_ref(r, $1); }
| name '[' fexprs ']'                   { $$ = dfl_build_index(r, @$, $1, $3); }
| name '(' fargs ')'                    { $$ = dfl_build_formula_call(r, @$, $1, $3); }
| name '(' ranges where body ')'        { $$ = dfl_build_reduce(r, @$, $1, $3, $4, $5); }
| '(' fexpr ')'                         { $$ = $2; $$.e->loc = @$; $$.e->in_parens = true; }
;

fargs: %empty { $$ = no_tree; } | fexprs;

ranges:
  range
| ranges ',' range                      { $$ = dfl_build_range_more($1, $3); }
;

range: name IN fexpr RANGE fexpr        { $$ = dfl_build_range(r, @$, $1, $3, $5); };

where: %empty { $$ = no_tree; } | IF fexpr { $$ = $2; };

body: %empty { $$ = no_tree; } | ':' fexpr { $$ = $2; };

/* ---- platforms ---- */

platform: PLATFORM name '{' devices '}' { $$ = dfl_build_platform(r, @$, $2, $4);
                                          if ($5.missing) dfl_reader_report_missing(r, @3); }
| PLATFORM name '{' devices error '}'   { $$ = dfl_build_platform(r, @$, $2, $4); yyerrok; }
;

devices:
  %empty                                { $$ = NULL; }
| devices device                        { $$ = $2; if ($1) DFL_MORE($1, $2); else DFL_ONE($2); }
| devices error ';'                     { $$ = $1; yyerrok; }
| devices error '{' properties '}'      { $$ = $1; yyerrok; }
;

device:
  class name '{' properties '}'         { $$ = dfl_build_device(r, $1, $2, $4);
                                          if ($5.missing) dfl_reader_report_missing(r, @3); }
| class name '{' properties error '}'   { $$ = dfl_build_device(r, $1, $2, $4); yyerrok; }
;

properties:
  %empty                                { $$ = NULL; }
| properties property                   { $$ = $2; if ($1) DFL_MORE($1, $2); else DFL_ONE($2); }
| properties error ';'                  { $$ = $1; yyerrok; }
;

/* Of a device, or of a node of a cluster, which has devices inside. */
property:
  name '=' exprs ';'                    { $$ = dfl_build_property(r, $1, $3); }
| device                                { $$ = dfl_build_device_inside(r, $1); }
;

%%

static void add(struct dfl_reader *r, struct dfl_decl *decl)
{
    if (!decl)
        return;
    if (r->decls)
        DFL_MORE(r->decls, decl);
    else
        DFL_ONE(decl);
    r->decls = decl;
}

static int yyreport_syntax_error(const yypcontext_t *context, struct dfl_reader *r)
{
    yysymbol_kind_t kinds[YYNTOKENS];
    const char *names[YYNTOKENS];
    int n = yypcontext_expected_tokens(context, kinds, YYNTOKENS);

    if (n < 0)
        return n;
    for (int i = 0; i < n; i++)
        names[i] = yysymbol_name(kinds[i]);
    dfl_expect_report(r, yysymbol_name(YY_ACCESSING_SYMBOL(*context->yyssp)),
                      yysymbol_name(yypcontext_token(context)), names, (size_t)n);
    return 0;
}

/* Bison calls this for whatever is no syntax error. The stack cannot reach YYMAXDEPTH (see the head), so memory ran
 * out. */
static void yyerror(const struct dfl_loc *loc, struct dfl_reader *r, const char *message)
{
    (void)loc;
    (void)message;
    r->no_memory = r->stopped = true;
}
