/* pack.h - unpacks a program's packed sources. Private to sources.c and replan.c; sources.c defines the format. */
#ifndef DFC_PACK_H
#define DFC_PACK_H

#include "compiler/front/sources.h"

struct dfc_pack_file {
    const char *path, *text;
    size_t length;
};

struct dfc_pack {                       /* its strings are borrowed from the pack's bytes */
    struct dfc_define *defines;
    const char **dirs;
    const char *own_dir;                /* "": none */
    const char **groups;                /* by their text */
    struct dfc_pack_file *files;        /* main first */
    uint32_t parts;
    struct dfc_tile gpu_tile;
    size_t n_defines, n_dirs, n_groups, n_files;
};

int dfc_pack_open(const unsigned char *bytes, size_t size, struct dfc_pack *pack, struct df_error *error);
void dfc_pack_close(struct dfc_pack *pack);

#endif
