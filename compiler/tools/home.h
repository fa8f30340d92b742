/* home.h - the locations of dfc's own headers, libraries, imports and plug-ins: in folders beside the executable's, or
 * in $DFC_HOME. compiler/build/ takes headers and libraries from there, load/load_cmd.c imports, and commands that
 * draw (commands/cmd_partition.c, cluster/map_command.c) Graphviz's plug-ins; compiler/doctor/ checks that they are there.
 */
#ifndef DFC_HOME_H
#define DFC_HOME_H

/* The folder that holds df.h, and the folder that holds libdf.a. The text stays dfc's. NULL: not found (reported). */
const char *dfc_home_include(void);
const char *dfc_home_lib(void);
/* The folder that holds std/io.df, for imports. NULL: it is not there, which counts when something is not found. */
const char *dfc_home_share(void);
/* Points Graphviz at the plugins of a bundle, if this dfc is part of one. To be called before the first picture. */
void dfc_home_graphviz(void);

#endif
