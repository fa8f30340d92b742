/* fusion.h - fuses chains of formula kernels. A *group* of kernels becomes a single node, which computes its streams in
 * strips of rows, so that intermediate results stay in the cache.
 *
 * Room:     compiler/fusion/ stands above compiler/proof/. compiler/elab/ asks it which nodes of a graph are joined and
 *           puts one node for each group into the graph; compiler/generate/ prints the code of groups.
 * Words:    a *member* is one use of a kernel in a group. A stream *leaves* if something outside the group reads it. A
 *           stream that does not leave is a *ring*: a tmp port with a few of its rows (runtime/df_strips.h). It may be
 *           *inlined* instead: its readers compute its elements. The *wiring* says who reads whom.
 * Bits:     a group computes the same bits as its members would one by one: every intermediate value is rounded to its
 *           stream's type, even if the stream is inlined.
 * Sizes:    groups are chosen from declarations and data flow, not from sizes. A program that gets its sizes at start
 *           therefore finds the groups that were compiled, by the text of their wiring.
 * Memory:   everything lives in the unit's arena and is freed with it, except what dfu_find() says.
 * Errors:   unless stated otherwise, NULL or false means that memory ran out. Nothing is reported.
 */
#ifndef DFU_FUSION_H
#define DFU_FUSION_H

#include "compiler/proof/proof.h"
#include "runtime/df_strips.h"

#define DFU_MOST_MEMBERS 16
#define DFU_MOST_OUTSIDE 64             /* streams from outside of a node that is divided */
#define DFU_MOST_RING_BYTES (1u << 20)  /* of one group: more, and its members run one after the other */

/* ---- wiring ---- */

struct dfu_source {                     /* of an input */
    int32_t member;                     /* -1: outside the group */
    uint32_t slot;                      /* its out slot; outside: the number of the stream */
};

struct dfu_member {
    const struct dfc_callee *callee;
    const struct dfu_source *in;        /* by in slot; members have smaller numbers than this one */
    const bool *leaves;                 /* by out slot */
};

struct dfu_wiring {
    unsigned n, n_outside;              /* streams from outside are numbered in the order in which they are read first */
    struct dfu_member member[DFU_MOST_MEMBERS];
};

/* ---- groups ---- */

struct dfu_ratio {                      /* of rows: both are 1 or more, and have no common divisor */
    int64_t times, by;
};

struct dff_stage {                      /* a member that makes rows; one whose streams are all inlined is none */
    uint32_t first_formula, n_formulas;
    uint32_t member;
    const struct dff_node *rows;        /* of its streams */
    const struct dff_node *columns;     /* of its streams, if the group has tiles of two axes */
    bool leaves;                        /* one of them does: then its rows for those of a strip (df_strips.h) */
    struct dfu_ratio rate, column_rate;
};

enum dfu_in {                           /* how a group reads a stream from outside */
    DFU_IN_TILES,                       /* an element at its own indices before the rows, and as the reads of its stage say */
    DFU_IN_WHOLE,                       /* anyhow; a part of a divided node has all of it */
    DFU_IN_ROWS                         /* anyhow; a part has some rows of it */
};

struct dff_strips {                     /* how a group's kernel is computed; dff_kernel.strips */
    unsigned dim;                       /* dimension that counts rows; those before it are loops around the strips */
    unsigned n_stages, n_reads;
    const struct dff_stage *stages;     /* in order */
    const struct df_strip_read *reads;  /* between stages */
    uint32_t strip;                     /* variable: rows of a strip */
    int64_t unit;                       /* in strips of multiples of it each stage makes rows */
    const uint32_t *ring_rows;          /* by port: the variable that says how many rows a ring holds; DF_NONE: no ring */
    const uint32_t *stage_of;           /* by port: the stage that makes it; DF_NONE: it comes from outside */
    bool tiled;                         /* GPU code computes tiles, of the asked size if rows are not 0; else each ring has a plane: */
    struct dfc_tile tile;
    const uint32_t *plane_of;           /* by port: the kernel's scratch that has all its rows there; DF_NONE: it is no ring, or the group is tiled */
    unsigned axes;                      /* of a tile: 2: rows and columns, which are the dimension behind; 1: rows; 0: streams are read in ways
                                         * for which no tile is enough */
    unsigned n_column_reads;
    const struct df_strip_read *column_reads; /* the columns that stages read of each other */
    unsigned n_in_reads, n_in_column_reads;
    const struct df_strip_read *in_reads, *in_column_reads; /* what stages read of streams from outside; `made` is the stream */
    const enum dfu_in *in;              /* by stream from outside */
    unsigned n_inside;
    const struct dff_node *const *inside; /* extents of streams that do not leave, if they are no variable and no number */
};

struct dfu_value {                      /* where a group's scalar, variable or port comes from */
    uint32_t member, number;            /* the member's scalar, variable, out slot */
};

struct dfu_group {
    const char *text;                   /* of its wiring */
    struct dfu_wiring wiring;
    struct dfc_callee *callee;          /* what the group is as a kernel; its id is the caller's to give */
    const struct dff_strips *strips;
    const struct dfu_value *scalars;    /* n_scalars of the callee */
    const struct dfu_value *variables;  /* those that members have; strips and rings have the variables behind these */
    unsigned n_variables;
    const struct dfu_value *ports;      /* by port of the callee: a member's out slot; member DF_NONE: stream `number` from
                                         * outside */
    const struct dfu_value *outs;       /* by out slot of the callee */
    unsigned n_inlined;                 /* streams that are neither ports nor rings */
};

/* ---- reads.c ---- */

/* Does the read keep its index in dimension d below the extent, by min() or clamp()? Its rows are then those of the index without that: rows behind the last one
 * stand for the last one. */
bool dfu_ends_read(const struct dff_kernel *kernel, const struct dff_node *read, unsigned d);

/* Of a port that a kernel reads: for row y it reads rows (times * y + low) / by … (times * y + high) / by, rounded down. */
struct dfu_rows {
    struct dfu_ratio rate;
    int64_t low, high;
    enum dff_border border;             /* DFF_NONE: all are inside, or those outside are not needed */
    uint64_t taps;                      /* elements that one element is made of */
    uint64_t times;                     /* how often an element of it is read, at most */
    struct dfl_loc loc;                 /* of a read whose rows cannot be told; line 0: there is none */
};
#define DFU_NO_ROWS "it does not read rows at fixed distances"
/* Why the kernel can be no member; NULL: it can. */
const char *dfu_why_no_member(const struct dfc_callee *callee);
/* Why its nodes cannot be divided, apart from how its outputs are read; NULL: they can. */
const char *dfu_why_no_part(const struct dfc_callee *callee);
/* Why the rows that it reads of an in port cannot be told, if dimension `dim` counts rows; NULL: *rows says them. */
const char *dfu_why_no_rows(const struct dfc_callee *callee, unsigned port, unsigned dim, struct dfu_rows *rows);

/* ---- rates.c ---- */

#define DFU_MOST_RATIO 64               /* rows that one member makes while another one makes a row */

struct dfu_ratio dfu_product(struct dfu_ratio a, struct dfu_ratio b);
struct dfu_ratio dfu_inverse(struct dfu_ratio a);
static inline bool dfu_is_one(struct dfu_ratio a) { return a.times == a.by; }
/* Is it the row that is made, and no other one, apart from a border? */
bool dfu_in_place(const struct dfu_rows *rows);
/* What is read by way of a stream: `first` says which rows of it, and `then` which rows each of them is made of. Borders are left alone. */
struct dfu_rows dfu_rows_through(const struct dfu_rows *first, const struct dfu_rows *then);
bool dfu_leaves(const struct dfu_member *member);
/* The rates of the members if dimension `dim` counts rows; the highest of those that leave is 1. false: there are no such rates. */
bool dfu_rates(const struct dfu_wiring *wiring, unsigned dim, struct dfu_ratio *rates);

/* ---- group.c ---- */

struct dfu_node {                       /* of the graph, after those it reads */
    const struct dfc_callee *callee;
    const uint32_t *in;                 /* values, by in slot */
    uint32_t first_out;                 /* its first value */
    int hint_class;
    uint32_t depth;
    double rate;
    uint32_t stage;                     /* as df_node.stage */
    const char *apart;                  /* why it is in no group, such as '@nofuse'; NULL: it may be in one */
    bool once, final;                   /* it fires before the first wave; after the last one */
};

#define DFU_UNLIKE_RATES "it reads what both are made of at unlike rates"

struct dfu_refusal {                    /* two kernels of formulas, one of which reads the other, and are not joined */
    uint32_t from, to;                  /* nodes */
    const char *why;
    struct dfl_loc loc;                 /* of the read that is why; line 0: none is */
};

struct dfu_found {
    uint32_t *group;                    /* by node: the number of its group; DF_NONE: none */
    uint32_t *next;                     /* by node: the next one of the group, in the order of nodes; DF_NONE */
    uint32_t *first;                    /* by group */
    uint32_t n_groups;
    struct dfr_array refusals;          /* struct dfu_refusal */
};

/* Finds the groups. makers: the node of each value. The caller frees *found by dfu_found_free(). */
bool dfu_find(const struct dfu_node *nodes, uint32_t n_nodes, const uint32_t *makers,
              struct dfu_found *found);
void dfu_found_free(struct dfu_found *found);

/* ---- remedies.c ---- */

/* What would help against a refusal. NULL: nothing is known. */
const char *dfu_remedy(const char *why);

/* ---- text.c ---- */

/* The wiring as text: for each member its kernel, what it reads, and which of its streams leave. */
const char *dfu_wiring_print(struct dfc_unit *u, const struct dfu_wiring *wiring);
/* false: this is no wiring of kernels of the unit. */
bool dfu_wiring_read(struct dfc_unit *u, const char *text, struct dfu_wiring *wiring);

/* ---- merge.c ---- */

/* Makes the group's kernel. NULL: no memory, or it would be too large (u->no_memory tells). */
struct dfu_group *dfu_merge(struct dfc_unit *u, const struct dfu_wiring *wiring);

/* ---- part_reads.c ---- */

/* Why a node of this wiring cannot be divided, if all that leaves has one number of rows; NULL: it can. */
const char *dfu_why_no_parts(const struct dfu_wiring *wiring);
/* The rows of each stream from outside that are read for the rows `made` of what leaves. in_rows: by member and in slot, the
 * rows of that stream. A stream with rows 0 to 0 has no dimensions, or no row of it is read. */
void dfu_part_rows(const struct dfu_wiring *wiring, const uint64_t *const *in_rows, struct df_rows made,
                   struct df_rows *need);

/* ---- tiles.c: on a GPU ---- */

#define DFU_ITEMS 256                   /* of a work-group, at most */
#define DFU_ITEMS_X 32                  /* of those of tiles with columns */
#define DFU_ITEMS_Y 8
#define DFU_MOST_LOCAL_BYTES (40u << 10) /* four work-groups of 256 items are half of what an SM of compute capability 8.0 holds */

#define DFU_MOST_STAGED 8               /* inputs that a tile copies */
#define DFU_MOST_STAGES (DFU_MOST_MEMBERS + DFU_MOST_STAGED)

struct dfu_tiles {
    unsigned rows, columns;             /* outputs of a tile: of a stage whose rate is 1 */
    unsigned n_stages, n_staged;        /* stages of the group, and behind them those that copy an input each */
    unsigned staged[DFU_MOST_STAGED];   /* by such a stage: the input */
    unsigned together[DFU_MOST_MEMBERS]; /* by stage of the group: rows that an item computes at a time */
    uint64_t y[DFU_MOST_STAGES], x[DFU_MOST_STAGES]; /* by stage: rows and columns of its streams that a tile may need, at most */
    /* By port of the callee: */
    bool is_local[DFL_MAX_PORTS];       /* its elements are in the tile's local memory */
    unsigned copied[DFL_MAX_PORTS];     /* if this input has so many elements or fewer, they are all there too; 0: they are not */
    unsigned array[DFL_MAX_PORTS];      /* the port whose array has it, where there is no longer what was there before */
    bool meets_itself;                  /* the first phase writes what the last one uses: a barrier stands between two tiles */
};

#define DFU_SPANS 4u                    /* that a stage's region is: the rows and columns that the tile needs, and those that leave */
#define DFU_MOST_REGIONS 8              /* in registers: with these, an item has half of the registers that let half of all items be resident */
/* Are the regions of the stages in local memory? */
static inline bool dfu_tiles_keep_regions(const struct dfu_tiles *t) { return t->n_stages + t->n_staged > DFU_MOST_REGIONS; }

struct dfu_axis {                       /* of a group: rows or columns, with the reads along it */
    const struct df_strip_read *reads, *in_reads; /* between stages, and of streams from outside */
    unsigned n, n_in;
    bool is_column;
};
struct dfu_axis dfu_axis_rows(const struct dff_strips *strips);
struct dfu_axis dfu_axis_columns(const struct dff_strips *strips);
struct dfu_ratio dfu_axis_rate(const struct dff_stage *stage, struct dfu_axis axis);
const struct dff_node *dfu_axis_extent(const struct dff_kernel *kernel, const struct dfu_tiles *tiles, unsigned stage, struct dfu_axis axis);
/* The r-th read of n + n_in in the axis. false: it is of an input that is not staged. */
bool dfu_axis_read(const struct dff_kernel *kernel, const struct dfu_tiles *tiles, struct dfu_axis axis, unsigned r, struct df_strip_read *read);

/* Finds the tiles of a group: the asked ones, or the smallest that the generator tries (rows 0), of which no input is staged. false: it has none, because it
 * is read in other ways, or because they do not fit into local memory. */
bool dfu_tiles_find(const struct dff_kernel *kernel, struct dfc_tile asked, struct dfu_tiles *tiles);
/* The stage that makes a port of the callee in the tile. DF_NONE: it comes from outside and is not staged. */
unsigned dfu_tiles_stage(const struct dff_kernel *kernel, const struct dfu_tiles *tiles, uint32_t port);
/* Can tiles copy what they need of the input? */
bool dfu_tiles_can_stage(const struct dff_kernel *kernel, uint32_t port);
/* Finds y and x of tiles with other rows and columns. */
void dfu_tiles_measure(const struct dff_kernel *kernel, struct dfu_tiles *tiles);
/* Elements of a port for each place of the axes: its channels. */
uint64_t dfu_tiles_channels(const struct dff_kernel *kernel, uint32_t port);
/* Elements of a port that is_local, in one tile. */
uint64_t dfu_tiles_elements(const struct dff_kernel *kernel, const struct dfu_tiles *tiles, uint32_t port);
/* Is the port, or may it be, in local memory? Then `array` says where, */
static inline bool dfu_tiles_has(const struct dfu_tiles *tiles, uint32_t port) { return tiles->is_local[port] || tiles->copied[port]; }
/* and an array has so many elements: of all ports that use it. */
uint64_t dfu_tiles_room(const struct dff_kernel *kernel, const struct dfu_tiles *tiles, uint32_t array);
/* Do all arrays fit into local memory? */
bool dfu_tiles_fit(const struct dff_kernel *kernel, const struct dfu_tiles *tiles);

/* ---- tile_size.c ---- */

/* Gives ports arrays: that of another port of the type which is no longer read, if there is one; and finds meets_itself. */
void dfu_tiles_share(const struct dff_kernel *kernel, struct dfu_tiles *tiles);
/* Chooses the rows and columns of the tile that is best, if none was asked for. work: by stage, operations for a place of the axes. *steps: what its items
 * take for an output. false: none has room. */
bool dfu_tiles_choose(const struct dff_kernel *kernel, struct dfu_tiles *tiles, const unsigned *work, double *steps);
/* Are tiles better than a launch for each stream, which stays in memory? tiles: as dfu_tiles_find() made them. */
bool dfu_tiles_pay(const struct dff_kernel *kernel, struct dfu_tiles *tiles);

/* ---- strips.c ---- */

/* Finds how many rows a strip and each ring have if the group makes these rows of what leaves, and writes them to the callee's
 * variables for these, in dims. formats: by port; a ring's is that of its whole stream. Rows beyond the last one do not count. ring_bytes: of all rings. false: they would be too large. */
bool dfu_strips_plan(const struct dfu_group *group, const struct dfc_format *formats, struct df_rows made, uint64_t *dims,
                     uint64_t *ring_bytes);
/* The rows that the plane of a ring has in a part that makes these rows, as GPU code finds them: of the dimension that counts rows of parts, the first. */
uint64_t dfu_plane_rows(const struct dfu_group *group, const struct dfc_format *formats, struct df_rows made, unsigned port);

#endif
