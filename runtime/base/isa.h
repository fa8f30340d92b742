/* isa.h - chooses the instruction set level of code made from formulas (df_isa_level() in df.h). start/run.c and
 * measure/measure.c check the environment's choice with it. */
#ifndef DF_ISA_H
#define DF_ISA_H

struct df_error;

/* Fails with DF_E_ARGUMENT if the environment's DF_ISA_LEVEL is invalid. Otherwise df_isa_level() obeys it. */
int dfr_isa_check(struct df_error *error);

#endif
