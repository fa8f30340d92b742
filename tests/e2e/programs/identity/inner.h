#ifndef GAIN
#define GAIN 2
#endif
