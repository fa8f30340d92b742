/* elab.h - elaboration: expands one root graph into a flat list of nodes. The root is main, or a graph that nothing
 * uses, which is elaborated only to find its errors. front/front.c calls the steps.
 *
 * Room:     compiler/elab/ goes from checked declarations to nodes in the builder. It knows declare/,
 *           types/ and runtime/graph/builder.h.
 * Words:    a *frame* is an instance of a graph. An *item* is one call in one frame for one iteration of its loops: a
 *           node, or the entry of a nested graph. A *stream* is one name with its indices in one frame. A *value* is
 *           one output of one node (struct dfc_output; a struct dfc_value is a scalar). Streams resolve to values: the
 *           target of a node is a value; an in port is an alias of a stream outside; the target of a nested graph is an
 *           alias of its out port. A chain of aliases is at most twice as long as graphs are nested.
 * Order:    dfc_elab_run(), dfc_resolve(), dfc_order_items(), dfc_number_items(), dfc_solve_dims(), each only if the
 *           previous one succeeded. For a graph that nothing uses, dfc_order_items() is the last step.
 * Memory:   dfc_elab_free() frees everything except what lives in the unit's arena (environments, dimensions).
 */
#ifndef DFC_ELAB_H
#define DFC_ELAB_H

#include "compiler/declare/declare.h"
#include "compiler/fusion/fusion.h"
#include "runtime/graph/builder.h"

struct dfc_frame {
    const struct dfc_callee *graph;
    uint32_t parent, item;              /* DF_NONE: the root */
    uint64_t *dims;                     /* of its variables; 0: not known, or not yet */
    bool *bounded;                      /* by variable: it differs from wave to wave; NULL: none does, or not yet known */
    struct dfc_value *scalars;          /* NULL until its entry was solved */
    bool bad;                           /* its entry had an error, so what is inside is skipped */
};

struct dfc_item {
    const struct dfl_stmt *stmt;
    const struct dfc_callee *callee;
    const struct dfc_env *env;          /* loop variables around the call, in its frame */
    uint32_t frame;
    uint32_t inner;                     /* the frame that it enters; DF_NONE: it is a node */
    uint32_t first_in;                  /* into in_streams, and into in_values once resolved: n_in of them */
    uint32_t first_out;                 /* node: into values; nested graph: into port_streams; n_out of them */
    uint32_t ordinal;
    uint32_t loop;                      /* the loop with 'while' that it is in, its number + 1; 0: in none */
};

enum { DFC_STREAM_READ = 1, DFC_STREAM_IN_PORT = 2, DFC_STREAM_OUT_PORT = 4,
       DFC_STREAM_QUIET = 8 };
enum dfc_source_kind { DFC_SOURCE_NONE, DFC_SOURCE_VALUE, DFC_SOURCE_STREAM };

struct dfc_stream {
    uint32_t frame, name;               /* name: in dfc_elab.names */
    uint32_t first_index;
    uint16_t n_indices;
    uint8_t flags, source_kind;
    uint32_t source;                    /* value or stream */
    const struct dfl_target *target;    /* where it is assigned, or NULL */
    const struct dfl_expr *reader;      /* where it is first read, or NULL */
    const struct dfc_env *reader_env;
    uint32_t loop;                      /* as of an item: where it is assigned */
};

struct dfc_loop_read {                  /* of a stream, in the body or the condition of a loop */
    uint32_t in;                        /* into in_streams; DF_NONE: in the condition */
    uint32_t now, next;                 /* the streams that are named in the first round and in the second */
    const struct dfl_expr *expr;
    const struct dfc_env *env;
};

struct dfc_loop_write {                 /* of a stream, in the body of a loop */
    uint32_t before, now, next;         /* the streams that are named in the round before the first, in the first, in the second */
    const struct dfl_target *target;
    const struct dfc_env *env;
};

struct dfc_carried {                    /* what one round leaves to the next */
    uint32_t first, made;               /* streams: the one before the loop, and the one that the first round makes */
    uint32_t inside, last;              /* streams that the source does not name: what a round reads, and the last one */
    bool is_read;                       /* `last` is */
};

struct dfc_loop {                       /* a loop with 'while' */
    const struct dfl_stmt *stmt;
    uint32_t frame, begin, end;         /* items: `begin` gives what a round reads, `end` the last tokens. Items of the body are between them */
    int64_t from, to;
    const struct dfc_env *env;          /* of the first round, with the loop's variable */
    struct dfr_array reads, writes, carried; /* struct dfc_loop_read, …_write, dfc_carried */
    uint32_t first_token, n_tokens;     /* the reads of the condition */
};

struct dfc_last {                       /* y = last(x) */
    const struct dfl_stmt *stmt;
    const struct dfc_env *env;
    uint32_t frame, stream;             /* its result, a stream that the source does not name */
};

struct dfc_output {                     /* a value */
    uint32_t item;
    uint32_t stream;                    /* the stream that its target names; DF_NONE: it is discarded */
};

struct dfc_joined {                        /* of a group of kernels: it is one node */
    const struct dfu_group *group;
    uint32_t items[DFU_MOST_MEMBERS];   /* its members */
    uint32_t *outside;                  /* values, by in slot */
    uint32_t ordinal;
};

struct dfc_elab {
    struct dfc_unit *u;
    struct dfc_index names;
    struct dfr_array frames, items, in_streams, port_streams, values, streams, indices; /* indices: int64_t */
    struct dfr_table stream_ids;
    uint32_t *in_values;                /* by first_in: a value; DF_NONE: none, it is an in port of the root */
    uint32_t *order;                    /* items, each after those it needs */
    struct dfr_array uses;              /* struct dfc_joined */
    uint32_t *stage;                    /* by item: as df_node.stage; NULL: no call says one */
    uint32_t *use;                      /* by item: the group that it is in; DF_NONE: none. NULL: there are no groups */
    uint32_t *fill_order;               /* nodes, and the first member in place of each group, each after those it reads */
    uint32_t n_fill;
    bool *varies;                       /* by item: its extents differ from wave to wave. NULL: dfc_root_check() has not said it */
    struct dfr_array loops, lasts;      /* struct dfc_loop, dfc_last */
    uint32_t loop;                      /* the loop whose body is being elaborated, its number + 1; 0: none is */
    unsigned depth;
    bool stopped;                       /* a limit was passed */
};

static inline struct dfc_frame *dfc_frames(const struct dfc_elab *e) { return e->frames.items; }
static inline struct dfc_item *dfc_items(const struct dfc_elab *e) { return e->items.items; }
static inline struct dfc_stream *dfc_streams(const struct dfc_elab *e) { return e->streams.items; }
static inline struct dfc_output *dfc_outputs(const struct dfc_elab *e) { return e->values.items; }
static inline struct dfc_loop *dfc_loops(const struct dfc_elab *e) { return e->loops.items; }
static inline uint32_t *dfc_in_streams(const struct dfc_elab *e) { return e->in_streams.items; }
static inline uint32_t *dfc_port_streams(const struct dfc_elab *e) { return e->port_streams.items; }

/* Flattens the root graph into items and streams. false: reported. */
bool dfc_elab_run(struct dfc_elab *e, struct dfc_unit *u, struct dfc_callee *root);
void dfc_elab_free(struct dfc_elab *e);

/* ---- elab_count.c ---- */

/* Are there at most DFC_MAX_NODES nodes, DFC_MAX_STREAMS assigned streams and DFC_MAX_STEPS steps in this graph? Needs no
 * memory. The tally is exact if every statement is right. false: reported. */
bool dfc_elab_count(struct dfc_unit *u, struct dfc_callee *root, struct dfc_tally *tally);

/* ---- loops.c: loops with 'while' ---- */

/* Evaluates the indices, n of them. false: reported. */
bool dfc_fold_indices(struct dfc_elab *e, uint32_t frame, const struct dfc_env *env, const struct dfl_expr *list, int64_t *indices, unsigned *n);
/* Begins the loop, whose body follows, and whose first round is `round`; ends it. false: reported. */
bool dfc_loop_begin(struct dfc_elab *e, uint32_t frame, const struct dfl_stmt *stmt, const struct dfc_env *round, int64_t from, int64_t to);
bool dfc_loop_end(struct dfc_elab *e);
/* The call stands in a loop: can it? false: reported. */
bool dfc_loop_check_call(struct dfc_elab *e, const struct dfl_stmt *stmt, const struct dfc_callee *callee);
/* Notes that input `in` (of in_streams) reads the stream `now`, or that the target names it. */
bool dfc_loop_note_read(struct dfc_elab *e, uint32_t frame, uint32_t in, const struct dfl_expr *expr, const struct dfc_env *env, uint32_t now);
bool dfc_loop_note_write(struct dfc_elab *e, uint32_t frame, const struct dfl_target *target, const struct dfc_env *env, uint32_t now);
/* y = last(x): *stream is its result. */
bool dfc_last_read(struct dfc_elab *e, uint32_t frame, const struct dfl_stmt *stmt, const struct dfc_env *env, uint32_t *stream);
/* When all is elaborated: connects what rounds carry. false: reported. */
bool dfc_loops_connect(struct dfc_elab *e);
/* When values are known: does anything outside read what a round makes? */
bool dfc_loops_check_readers(struct dfc_elab *e);
void dfc_loops_free(struct dfc_elab *e);

/* ---- elab_streams.c ---- */

/* The stream of that name and indices in that frame. If there is none yet, it is made. DF_NONE: no memory, or too
 * many. */
uint32_t dfc_stream_get(struct dfc_elab *e, uint32_t frame, const char *name, const int64_t *indices,
                        unsigned n_indices);
/* The value that a stream resolves to, or DF_NONE. *last is the stream at the end of the chain of aliases. */
uint32_t dfc_stream_value(const struct dfc_elab *e, uint32_t stream, uint32_t *last);
/* Writes "A[3, 4]". */
void dfc_stream_print(const struct dfc_elab *e, uint32_t stream, char *text, size_t size);
/* Prints notes after an error about something in a frame: the values of loop variables, and the calls that lead
 * there. */
void dfc_note_context(const struct dfc_elab *e, uint32_t frame, const struct dfc_env *env);

/* ---- resolve.c, elab_order.c, fuse.c, dims.c ---- */

enum dfc_phase { DFC_EVERY_WAVE, DFC_BEFORE, DFC_AFTER }; /* in every wave, before wave 0, after the last wave */

/* When a node fires, by what it reads. phases: by value, when it can be read; those of the item's outputs are set. */
enum dfc_phase dfc_item_phase(const struct dfc_elab *e, const struct dfc_item *item, uint8_t *phases);
/* The same. false, reported: the node reads what is not there when it fires. */
bool dfc_check_phases(struct dfc_elab *e, const struct dfc_item *item, uint8_t *phases);

/* Finds the value that each input reads, and fills in_values. false: reported. */
bool dfc_resolve(struct dfc_elab *e);
/* Finds `order`. false: there is a cycle (reported). */
bool dfc_order_items(struct dfc_elab *e);
/* For a graph whose extents are not known yet: can all dimensions of this call be found when they are? An input has one alone, or an
 * annotation or an out port of the graph has it. false: reported. */
bool dfc_dims_can_be_found(const struct dfc_elab *e, const struct dfc_item *item);
/* Numbers the items that have the same name. false: no memory. */
bool dfc_number_items(struct dfc_elab *e);
/* stage_hints.c: finds the stage of each item. false: reported. */
bool dfc_mark_stages(struct dfc_elab *e);
/* Are the stages in order, and has every call one that needs it? costs: by item, does it take time? false: reported. */
bool dfc_check_stages(struct dfc_elab *e, const bool *costs);
/* Finds the groups: `uses` and what follows it. For a graph that is only checked, their kernels alone are made. false: no
 * memory. */
bool dfc_fuse(struct dfc_elab *e);
/* Makes the groups that options->groups names, before there are other kernels than those declared. */
bool dfc_fuse_given(struct dfc_unit *u);
/* Of a graph whose extents are not known: do the ends of each arc agree in element, rank and the extents that are numbers? false: reported. */
bool dfc_check_formats(struct dfc_elab *e);
/* Reports that extent d of port p, an acc of the item's kernel, differs from wave to wave. */
void dfc_report_acc(const struct dfc_elab *e, const struct dfc_item *item, unsigned p, unsigned d);
/* Infers all dimensions, and passes the nodes to the builder. false: reported. */
bool dfc_solve_dims(struct dfc_elab *e);

/* What names mean in a frame, for a call inside these loops. */
static inline struct dfc_names dfc_frame_names(const struct dfc_elab *e, uint32_t frame, const struct dfc_env *env,
                                               enum dfc_use use)
{
    const struct dfc_frame *f = &dfc_frames(e)[frame];
    return (struct dfc_names){ .use = use, .callee = f->graph, .dims = f->dims, .bounded = f->bounded,
                               .scalars = f->scalars, .env = env };
}

/* ---- to_builder.c: a node, once its formats are known, goes to the builder ---- */

struct dfc_solved {
    const uint64_t *dims;               /* of the callee's variables */
    const uint64_t (*port_dims)[DF_MAX_RANK];
    const uint8_t *port_bounded;        /* by port: as in struct dfc_format; NULL: the kernel decides no extent */
};

struct dfc_rows {                       /* how a node could be divided into parts */
    const char *why;                    /* why it cannot; NULL: it can */
    uint64_t whole;                     /* rows of what it makes */
    /* Of formulas; NULL in kernels whose ports say it. */
    const struct dfu_wiring *wiring;
    const uint64_t *const *in_rows;     /* as dfu_part_rows() takes them */
    const uint32_t *outside;            /* of a group: by port, the number of the stream from outside; else NULL */
    const bool *divides;                /* by port: parts read ranges of it; else each reads it whole */
    const struct dfu_group *group;      /* of a group: with the formats of its ports, whether it could be divided or not */
    const struct dfc_format *formats;
};
struct dfc_fill {
    struct dfc_elab *e;
    uint32_t *node;                     /* by item: its number in the builder */
    uint32_t *scope;                    /* by frame: its number in the builder */
    uint32_t n_nodes;
    uint32_t *moved;                    /* by value of a member: its out slot in the group; NULL: there are no groups */
    const void **divided;               /* by value: its parts, if the builder has parts of it (divided.c); NULL: of none */
    struct dfr_array views;
    uint32_t passes;                    /* of the first @passes, and its place; 0: there was none */
    struct dfl_loc passes_loc;
    bool *costs;                        /* by item: it takes time, or may do so */
    struct dfr_array steps;             /* struct dfc_step: calls in loops with 'while' */
    uint32_t step_item;                 /* the item in a loop that is being filled in; DF_NONE: it is in none */
    uint64_t step_rows;                 /* of it, if it could be divided; else 0 */
};

struct dfc_step {                       /* a call in a loop; what it points to is in the unit's arena */
    uint32_t item, kernel;
    int hint_class;
    unsigned n_ports;
    uint64_t rows;                      /* as struct df_step_desc has them */
    bool by_rows;
    const uint64_t *dims;
    const uint64_t (*port_dims)[DF_MAX_RANK];
    const uint32_t *scalars;
    double cost_s[DF_MAX_CLASSES];
};
/* Kernels, args and params come first. Then, for the program: begin, each node in order, finish, which makes the graph.
 * false: reported. */
bool dfc_fill_kernels(struct dfc_unit *u);
/* Gives the builder what the graph promises. */
bool dfc_fill_promises(struct dfc_unit *u, const struct dfc_callee *graph);
bool dfc_fill_begin(struct dfc_fill *fill, struct dfc_elab *e);
bool dfc_fill_node(struct dfc_fill *fill, uint32_t item, const struct dfc_solved *solved, const struct dfc_rows *rows);
/* The node of a `select`, all of whose ports have this format. */
bool dfc_fill_select(struct dfc_fill *fill, uint32_t item, const struct dfc_solved *solved,
                     const struct dfc_format *format);
/* The node of a group. member_dims: by member, of its variables. */
bool dfc_fill_group(struct dfc_fill *fill, uint32_t use, const struct dfc_solved *solved,
                    const uint64_t *const *member_dims, const struct dfc_rows *rows);
/* fill_loop.c: keeps the call fill->step_item, of so many ports, which `desc` describes. false: no memory. */
bool dfc_step_add(struct dfc_fill *fill, const struct df_node_desc *desc, unsigned n_ports);
/* The node of a loop, all of whose steps were kept; the item ends it. formats: by value. */
bool dfc_fill_loop(struct dfc_fill *fill, uint32_t id, const struct dfc_format *formats);
/* The indices of a call in a name: values of the loop variables around it. Gives how many there are. */
unsigned dfc_loop_indices(const struct dfc_env *env, int32_t indices[DFC_MAX_LOOPS]);
/* Passes a kernel to the builder, under the next free number. */
bool dfc_fill_kernel(struct dfc_unit *u, const struct dfc_callee *callee);
bool dfc_fill_finish(struct dfc_fill *fill);
void dfc_fill_free(struct dfc_fill *fill);

/* ---- forms.c ---- */

struct dfc_form {                       /* an extent in a wave: scale * what its class has in it + offset */
    uint32_t class;                     /* 0: it is the same in all waves */
    int64_t scale, offset;
    bool number;                        /* class 0: it is `offset`; false: not known yet */
    int64_t most;                       /* the bound of what the class has; 0: not known */
};

struct dfc_forms {
    struct dfc_form (*of)[DF_MAX_RANK]; /* by value */
    uint32_t n;                         /* classes */
    const struct dfc_sig *given;        /* of a graph that is called from outside; NULL: there is none */
};

struct dfc_varying {                    /* about a node */
    bool varies;                        /* an extent of a port differs from wave to wave */
    bool unlike;                        /* inputs must agree in an extent, and it is not known that they do */
    bool may_be_empty;                  /* an extent of an output may be below 1 */
    bool dynamic;                       /* an extent follows from a dynamic param, too */
};

bool dfc_forms_make(const struct dfc_elab *e, struct dfc_forms *forms);
/* Do extents of the item, a node, differ from wave to wave? The forms of its inputs are known; those of its outputs are
 * written. */
struct dfc_varying dfc_item_varies(const struct dfc_elab *e, const struct dfc_item *item, struct dfc_forms *forms);
/* Do annotations of the item's call fit the forms of its outputs: where there is a bound, and which, as far as it is known? false: reported. */
bool dfc_form_check_annotations(const struct dfc_elab *e, const struct dfc_item *item, const struct dfc_forms *forms);
/* Of a graph that is called from outside: extent d of an out port, as its format says it. */
struct dfc_form dfc_form_said(const struct dfc_elab *e, struct dfc_forms *forms, const struct dfc_port *port, unsigned d);
/* Is what is made inside as large as was said, in every wave? true also if what was said does not follow from inputs. */
bool dfc_form_is_said(const struct dfc_forms *forms, const struct dfc_form *said, const struct dfc_form *made);
/* The variable of an in port that the form is; NULL: it is none. */
const char *dfc_form_name(const struct dfc_forms *forms, const struct dfc_form *form);

/* ---- extents.c ---- */

/* Does some kernel that has code in the program decide an extent in each wave? Then dfc_fill_extents() passes to the
 * builder, for each kernel, the extents of its ports as functions of its dimension variables. Returns a code of df.h. */
bool dfc_has_bounds(const struct dfc_unit *u);
int dfc_fill_extents(struct dfc_unit *u, const struct dfc_callee *callee, unsigned n_ports, uint32_t kernel, struct df_error *error);
/* ---- divided.c: nodes that are divided ---- */

struct dfc_parts {                      /* n ranges of rows */
    unsigned n;
    uint32_t passes;                    /* @passes; 0: not given */
    uint64_t whole;
    uint64_t *first, *rows;             /* by range; first[n] is `whole`, if they are what parts make */
};
struct dfc_divide {                     /* a node with parts */
    const struct dfc_callee *callee;
    const struct dfc_rows *rows;
    const struct dfc_parts *parts;
    const struct df_node_desc *desc;    /* of any of them */
    uint32_t *nodes;                    /* by part: its number in the builder */
};
struct dfc_part {                       /* one of them */
    struct dfc_solved solved;
    struct df_part_rows rows;
    const uint64_t *port_rows;          /* by port: the first row that it has */
};
struct dfc_hints;

/* Reports that a node which is to be divided cannot be. */
void dfc_report_undivided(struct dfc_unit *u, struct dfl_loc loc, const char *why);
/* divisible.c: of a graph whose sizes are not known, after dfc_fuse(): can the nodes that are to be divided be, whatever the sizes are?
 * dfc_root_check() has been called. false: reported. */
bool dfc_check_parts(const struct dfc_elab *e);
/* Decides how many parts the node of this description has. *parts: NULL if its kernel cannot be divided. false: reported. */
bool dfc_parts_choose(struct dfc_fill *fill, const struct dfc_rows *rows, const struct df_node_desc *desc,
                      const struct dfc_hints *hints, struct dfl_loc loc, struct dfc_parts **parts);
/* Do parts have ranges of this port's rows? Which: *first … *end - 1 for those that make from … to - 1. */
bool dfc_parts_divides(const struct dfc_rows *rows, const struct dfc_callee *callee, unsigned port);
void dfc_parts_port(const struct dfc_rows *rows, const struct dfc_callee *callee, unsigned port, uint64_t from,
                    uint64_t to, uint64_t *first, uint64_t *end);
/* Dimensions and formats of part k. false: reported. */
bool dfc_parts_solve(struct dfc_unit *u, const struct dfc_divide *divide, const struct dfc_solved *whole, unsigned k,
                     struct dfc_part *part);
/* Connects an in port of all parts with what they read of a value; dims: of the value. false: reported. */
bool dfc_parts_connect(struct dfc_fill *fill, const struct dfc_divide *divide, unsigned port, uint32_t value,
                       const uint64_t *dims);
/* Records that the parts produce the value; dims: of the value. */
bool dfc_parts_made(struct dfc_fill *fill, const struct dfc_divide *divide, unsigned port, uint32_t value,
                    const char *value_name, const uint64_t *dims);
/* Locates the value in the builder; joins it if only parts of it exist. false: reported. */
bool dfc_fill_from(struct dfc_fill *fill, uint32_t value, uint32_t *node, uint32_t *slot);

/* ---- root.c: a graph with ports as the root, called by a program that has its tokens ---- */

/* Makes a main graph around graph number `id` of the unit's callees; its declarations are added to the unit's. dims: by
 * dimension variable; NULL: the graph is not made but only checked, which needs none. NULL: no memory, or an extent
 * cannot be (reported). */
struct dfc_callee *dfc_root_make(struct dfc_unit *u, uint32_t id, const uint64_t *dims);
/* The same for a call's dims: those of the variables without a bound, in order. */
struct dfc_callee *dfc_root_sized(struct dfc_unit *u, uint32_t id, const uint64_t *given, size_t n_given);
/* The same for a text such as "edges:h=480,w=640", a graph's name and its dimension variables. NULL: reported. */
struct dfc_callee *dfc_root_named(struct dfc_unit *u, const char *text);
/* The value that the tokens of a port of the called graph are of. */
uint32_t dfc_root_value(const struct dfc_elab *e, const struct dfc_port *port);
/* Makes room for what dfc_root_make() declares, for all graphs, so that no callee moves any more. */
bool dfc_root_reserve(struct dfc_unit *u);
/* After dfc_order_items(): checks that the graph can be called, and is a function of its inputs. false: reported. */
bool dfc_root_check(struct dfc_elab *e);
/* Once all nodes are with the builder: finds the unit's `ports`, and has the builder keep their tokens as they are. formats:
 * by value. false: no memory. */
bool dfc_root_ports(struct dfc_fill *fill, const struct dfc_format *formats);

#endif
