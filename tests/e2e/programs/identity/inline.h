#define OFFSET 1
