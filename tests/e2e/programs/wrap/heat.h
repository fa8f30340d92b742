#define STEP 0.5f
