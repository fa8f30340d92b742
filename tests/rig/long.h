/* long.h - how often: `many` times if there is time, as make check-long says by DF_LONG, else `few`. */
#ifndef LONG_H
#define LONG_H

#include <stdlib.h>

#define IN_LONG(many, few) (getenv("DF_LONG") ? (many) : (few))

#endif
