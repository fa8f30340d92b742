/* isa.h - which instructions the code of formulas may use (df_isa_level() in df.h). */
#ifndef DF_ISA_H
#define DF_ISA_H

struct df_error;

/* DF_E_ARGUMENT: the environment's DF_ISA_LEVEL is no level. DF_OK: df_isa_level() obeys it, or it is not set. */
int dfr_isa_check(struct df_error *error);

#endif
