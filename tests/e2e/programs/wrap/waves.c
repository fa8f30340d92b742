#define WAVES_IMPLEMENTATION
#include "waves.h"
