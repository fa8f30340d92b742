#include <string.h>
#define STB_DXT_IMPLEMENTATION
#include "stb/stb_dxt.h"
