/* text.c - prints and parses the wiring of a group as text, such as "blur:e0:- sobel:0.0:+", for elab/fuse.c and
 * merge.c: the text identifies the group, also in the sources that a program carries. For each member: its kernel; the
 * sources of its inputs (eK: external stream K; M.S: out slot S of member M); then, for each of its streams, + if it
 * leaves the group, else -.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/fusion/fusion.h"
#include "runtime/base/text.h"

/* ---- writing ---- */

static void print_member(FILE *out, const struct dfu_member *m)
{
    fprintf(out, "%s:", m->callee->name);
    for (unsigned i = 0; i < m->callee->sig.n_in; i++) {
        fputs(i ? "," : "", out);
        if (m->in[i].member < 0)
            fprintf(out, "e%u", m->in[i].slot);
        else
            fprintf(out, "%d.%u", (int)m->in[i].member, m->in[i].slot);
    }
    fputc(':', out);
    for (unsigned i = 0; i < m->callee->sig.n_out; i++)
        fputc(m->leaves[i] ? '+' : '-', out);
}

const char *dfu_wiring_print(struct dfc_unit *u, const struct dfu_wiring *wiring)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (unsigned m = 0; out && m < wiring->n; m++) {
        fputs(m ? " " : "", out);
        print_member(out, &wiring->member[m]);
    }
    const char *kept = dfr_text_close(out, &text) ? dfc_printf(u, "%s", text) : NULL;
    free(text);
    if (!kept)
        dfc_no_memory(u);
    return kept;
}

/* ---- reading ---- */

static bool read_number(const char **at, uint32_t most, uint32_t *number)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    unsigned long n = strtoul(*at, &end, 10);
    *at = end;
    *number = (uint32_t)n;
    return n <= most;
}

static bool skip(const char **at, char c)
{
    bool there = **at == c;
    *at += there;
    return there;
}

static bool read_source(const char **at, struct dfu_wiring *w, struct dfu_source *source)
{
    uint32_t member;
    if (skip(at, 'e')) {
        *source = (struct dfu_source){ .member = -1 };
        if (!read_number(at, w->n_outside, &source->slot))
            return false;
        w->n_outside += source->slot == w->n_outside;
        return true;
    }
    if (!read_number(at, DFU_MOST_MEMBERS, &member) || member >= w->n || !skip(at, '.'))
        return false;
    source->member = (int32_t)member;
    return read_number(at, w->member[member].callee->sig.n_out - 1u, &source->slot);
}

static bool read_callee(struct dfc_unit *u, const char **at, struct dfu_member *m)
{
    const char *colon = strchr(*at, ':');
    uint32_t id;
    if (!colon)
        return false;
    const char *name = dfc_printf(u, "%.*s", (int)(colon - *at), *at);
    *at = colon + 1;
    if (!name || !dfc_index_find(&u->callees, name, &id))
        return false;
    m->callee = &dfc_callees(u)[id];
    return m->callee->kernel && !dfu_why_no_member(m->callee);
}

static bool read_member(struct dfc_unit *u, const char **at, struct dfu_wiring *w)
{
    struct dfu_member *m = &w->member[w->n];
    if (!read_callee(u, at, m))
        return false;
    const struct dfc_sig *sig = &m->callee->sig;
    struct dfu_source *in = dfc_alloc(u, (sig->n_in + 1u) * sizeof *in);
    bool *leaves = dfc_alloc(u, sig->n_out + 1u), ok = in && leaves;
    for (unsigned i = 0; ok && i < sig->n_in; i++)
        ok = (!i || skip(at, ',')) && read_source(at, w, &in[i]);
    ok = ok && skip(at, ':');
    for (unsigned i = 0; ok && i < sig->n_out; i++) {
        leaves[i] = skip(at, '+');
        ok = leaves[i] || skip(at, '-');
    }
    m->in = in;
    m->leaves = leaves;
    w->n++;
    return ok;
}

bool dfu_wiring_read(struct dfc_unit *u, const char *text, struct dfu_wiring *wiring)
{
    *wiring = (struct dfu_wiring){ 0 };
    do {
        if (wiring->n == DFU_MOST_MEMBERS || !read_member(u, &text, wiring))
            return false;
    } while (skip(&text, ' '));
    return !*text;
}
